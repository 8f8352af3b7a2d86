#!/bin/sh
# Whole NVMe drives: quick, a suite, resume, blocks of 4 KiB, a partition, a serial with escape
# sequences and markup.
# vm: --nvme 64M --nvme 64M,logical_block_size=4096,physical_block_size=4096
# vm: --virtio 64M --copy mkfs.ext4:/usr/sbin/mkfs.ext4
# vm: --nvme $'64M,serial=A\e[31m"><q7>$x=1'
. /usr/bin/expect.sh

a_quick_look_at_a_real_nvme_drive() {
    before=$(sectors nvme0n1)
    gauge 3 quick /dev/nvme0n1 --out a.ssdg
    says 'nothing was written'
    is 'the number of sectors written' "$(sectors nvme0n1)" "$before"
    gauge 0 quick /dev/nvme0n1 --confirm VM0 --size 16MiB --shorten 50 --out a.ssdg
    is 'the model' "$(sql a.ssdg 'SELECT model FROM drive')" 'QEMU NVMe Ctrl'
    is 'the number of steps' "$(sql a.ssdg "SELECT count(*) FROM step WHERE state='finished'")" 15
    is 'the number of errors' "$(sql a.ssdg 'SELECT sum(errors) FROM interval')" 0
    at_least 'the number of sectors written' "$(($(sectors nvme0n1) - before))" 32768
    [ -s a.html ] || fail 'there is no page'
}

a_run_that_was_killed_is_resumed_on_the_same_drive_only() {
    suite mine 16MiB 70 2s 'sweep = { queue_depth = [1, 2, 4] }'
    gauge_later run mine.toml /dev/nvme0n1 --confirm VM0 --out a.ssdg
    until_true runs_step a.ssdg QD2
    kill -9 $gauge_pid
    gauge_ends 137
    gauge 3 resume a.ssdg
    says 'nothing was written'
    gauge 0 resume a.ssdg --confirm VM0
    finds a.ssdg resumed
    finished="SELECT count(*) FROM step WHERE phase_kind='measure' AND state='finished'"
    is 'the number of measured steps' "$(sql a.ssdg "$finished")" 3
    is 'the number of fills' "$(sql a.ssdg "SELECT count(*) FROM step WHERE label LIKE 'fill%'")" 1
}

# is_not_resumed WORDS: resume refuses with WORDS, and no byte of the virtio drive changes.
is_not_resumed() {
    sync
    before=$(sectors vda)
    cat /dev/vda >kept
    gauge 3 resume a.ssdg --confirm vda:67108864
    says "$1"
    says 'nothing was written'
    is 'the number of sectors written' "$(sectors vda)" "$before"
    cmp /dev/vda kept || fail 'bytes changed on the drive'
    rm kept
}

a_drive_without_a_serial_is_resumed_with_its_own_test_data_only() {
    [ -z "$(cat /sys/block/vda/serial)" ] || fail "it has a serial"
    suite mine 16MiB 70 2s 'sweep = { queue_depth = [1, 2, 4] }'
    gauge_later run mine.toml /dev/vda --confirm vda:67108864 --out a.ssdg
    until_true runs_step a.ssdg QD2
    kill -9 $gauge_pid
    gauge_ends 137
    cat /dev/vda >mine
    # A file system that was made after the interruption.
    until_true mkfs.ext4 -q -F /dev/vda
    is_not_resumed 'ext4 file system'
    dd if=mine of=/dev/vda bs=1M conv=fsync 2>/dev/null
    # Another drive of equal size instead: empty, and with a copy of the data of the run.
    vm-monitor device_del virtio0 >/dev/null
    until_true test ! -e /sys/block/vda
    vm-monitor device_add virtio-blk-pci,id=other,bus=vport0,drive=vspare0 >>talk
    until_true test -b /dev/vda
    is_not_resumed 'may not be the drive of this run'
    dd if=mine of=/dev/vda bs=1M conv=fsync 2>/dev/null
    is_not_resumed 'may not be the drive of this run'
    gauge 0 resume a.ssdg --confirm vda:67108864 --erase vda:67108864
    finds a.ssdg resumed
}

a_drive_with_blocks_of_4_kib_takes_no_smaller_requests() {
    gauge 0 quick /dev/nvme1n1 --confirm VM1 --size 16MiB --shorten 100 --out a.ssdg
    is 'the logical block' "$(sql a.ssdg 'SELECT logical_block_bytes FROM drive')" 4096
    suite small 16MiB 100 1s
    sed -i 's/block_size = "4KiB"/block_size = "512B"/' small.toml
    before=$(sectors nvme1n1)
    gauge 3 run small.toml /dev/nvme1n1 --confirm VM1 --out b.ssdg
    says 'nothing was written'
    is 'the number of sectors written' "$(sectors nvme1n1)" "$before"
}

a_partition_is_no_target() {
    printf 'o\nn\np\n1\n2048\n\nw\n' | fdisk /dev/nvme0n1 >/dev/null 2>&1
    until_true test -b /dev/nvme0n1p1
    before=$(sectors nvme0n1)
    gauge 3 quick /dev/nvme0n1p1 --out a.ssdg
    says 'nothing was written'
    is 'the number of sectors written' "$(sectors nvme0n1)" "$before"
    dd if=/dev/zero of=/dev/nvme0n1 bs=512 count=1 2>/dev/null
    blockdev --rereadpt /dev/nvme0n1
}

a_hostile_serial_reaches_neither_terminal_nor_page() {
    serial=$(sed 's/ *$//' /sys/class/nvme/nvme2/serial)
    [ "${#serial}" -gt 10 ] || fail "the serial is '$serial'"
    gauge 3 quick /dev/nvme2n1 --out a.ssdg
    gauge_talk=$(cat talk)
    # The confirmation is printable.
    words=$(sed -n 's/.*--confirm //p' talk)
    gauge 0 quick /dev/nvme2n1 --confirm "$words" --size 16MiB --shorten 100 --out a.ssdg
    ssdgauge drives >listed 2>&1 || true
    ssdgauge drives /dev/nvme2n1 >card 2>&1 || true
    ssdgauge report a.ssdg --csv >csv --markdown 2>/dev/null || true
    escape=$(printf '\033')
    for place in talk out listed card csv a.html; do
        ! grep -q "$escape" $place || fail "$place contains an escape sequence of the serial"
    done
    case $gauge_talk in *"$escape"*) fail 'the refusal contains an escape sequence of the serial' ;; esac
    ! grep -q '<q7>' a.html || fail 'the page contains markup of the serial'
}

scenarios a_quick_look_at_a_real_nvme_drive a_run_that_was_killed_is_resumed_on_the_same_drive_only \
    a_drive_without_a_serial_is_resumed_with_its_own_test_data_only \
    a_drive_with_blocks_of_4_kib_takes_no_smaller_requests a_partition_is_no_target \
    a_hostile_serial_reaches_neither_terminal_nor_page
