#!/bin/sh
# A virtual drive that `ssdgauge serve` offers to the machine, at the socket $SERVED_SOCKET outside.
# vm: --module virtio_blk --module crc32c_generic --module ext4
# vm: --copy mkfs.ext4:/usr/sbin/mkfs.ext4 --copy e2fsck:/usr/sbin/e2fsck
# vm: --qemu "-drive if=none,id=served,file=nbd:unix:$SERVED_SOCKET,format=raw,discard=unmap,cache=none -device virtio-blk-pci,drive=served"
. /usr/bin/expect.sh

# succeeds COMMAND...: the command must succeed.
succeeds() {
    "$@" >out 2>talk || fail "$*: exit $?: $(tail -n 4 talk)"
}

# contents: prints the checksums of all files of the mounted file system.
contents() {
    (cd mounted && find . -type f -exec md5sum {} + | sort)
}

an_ext4_survives_files_trims_and_a_check() {
    succeeds mkfs.ext4 -q -F /dev/vda
    mkdir mounted
    succeeds mount -t ext4 -o discard /dev/vda mounted
    for number in 1 2 3 4 5 6 7 8; do
        mkdir -p "mounted/folder$((number % 3))"
        dd if=/dev/urandom of="mounted/folder$((number % 3))/file$number" bs=64k count=32 conv=fsync 2>talk ||
            fail "a file was not written: $(tail -n 1 talk)"
    done
    # Half of the files are trimmed, and others take their place.
    rm mounted/folder1/file1 mounted/folder1/file4 mounted/folder2/file2 mounted/folder2/file8
    dd if=/dev/urandom of=mounted/late bs=1M count=12 conv=fsync 2>talk || fail "$(tail -n 1 talk)"
    contents >before
    succeeds umount mounted
    # Nothing of it is left in the page cache.
    echo 3 >/proc/sys/vm/drop_caches
    succeeds e2fsck -f -n /dev/vda
    succeeds mount -t ext4 -o ro /dev/vda mounted
    contents >after
    succeeds umount mounted
    is 'number of files' "$(wc -l <after)" 5
    is contents "$(cat after)" "$(cat before)"
}

scenarios an_ext4_survives_files_trims_and_a_check
