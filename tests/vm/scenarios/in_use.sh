#!/bin/sh
# Uses of a drive that a host may not be able to set up: partitions, device-mapper, volumes, arrays, a
# second path. Each is refused with exit code 3, and no sector is written.
# vm: --nvme 32M --nvme 32M --copy dmsetup --module dm_mod --module crc32c_generic --module ext4
# vm: --module loop --pack dm_flakey --module md_mod --module raid1 --pack sd_mod --pack scsi_debug
# vm: --pack nvmet
. /usr/bin/expect.sh

# refuses TARGET DRIVE WORDS: TARGET is refused with WORDS although --confirm and --erase are given,
# and no byte of DRIVE changes.
refuses() {
    sync
    before=$(sectors "$2")
    cat "/dev/$2" >kept
    name=${1#/dev/}
    words=$(cat "/sys/block/$name/device/serial" 2>/dev/null || cat "/sys/block/$name/device/wwid" 2>/dev/null) ||
        words=$name:$(($(cat "/sys/class/block/$name/size") * 512))
    # NVMe pads serials with blanks.
    words=$(echo "$words" | sed 's/ *$//')
    gauge 3 quick "$1" --confirm "$words" --erase "$words" --out a.ssdg
    says 'nothing was written'
    says "$3"
    is 'the number of sectors written' "$(sectors "$2")" "$before"
    cmp "/dev/$2" kept || fail 'bytes changed on the drive'
    rm kept
    [ ! -e a.ssdg ] || fail 'a run file was created'
}

# Creates two partitions on the first drive.
partitioned() {
    blank /dev/nvme0n1
    printf 'o\nn\np\n1\n2048\n+12M\nn\np\n2\n\n\nw\n' | fdisk /dev/nvme0n1 >/dev/null 2>&1
    until_true test -b /dev/nvme0n1p2
}

a_drive_whose_partition_is_mounted() {
    partitioned
    mke2fs /dev/nvme0n1p2 >/dev/null 2>&1
    mkdir mounted
    mount -t ext4 /dev/nvme0n1p2 mounted
    refuses /dev/nvme0n1 nvme0n1 'nvme0n1p2 is mounted at'
    umount mounted
}

a_drive_whose_partition_is_swap() {
    partitioned
    mkswap /dev/nvme0n1p1 >/dev/null
    swapon /dev/nvme0n1p1
    refuses /dev/nvme0n1 nvme0n1 'nvme0n1p1 is used as swap'
    swapoff /dev/nvme0n1p1
}

a_drive_whose_partition_is_mapped_and_mounted() {
    partitioned
    echo '0 20480 linear /dev/nvme0n1p1 0' | dmsetup create upper
    dm=$(dmsetup info -c --noheadings -o blkdevname upper)
    mke2fs "/dev/$dm" >/dev/null 2>&1
    mkdir mounted
    mount -t ext4 "/dev/$dm" mounted
    refuses /dev/nvme0n1 nvme0n1 "$dm is mounted at"
    refuses "/dev/$dm" nvme0n1 "$dm is mounted at"
    umount mounted
    dmsetup remove upper
}

a_drive_with_a_loop_device_over_its_partition() {
    partitioned
    losetup /dev/loop5 /dev/nvme0n1p1
    refuses /dev/nvme0n1 nvme0n1 'loop5 is a loop device on it'
    losetup -d /dev/loop5
}

a_partition_that_a_program_has_open() {
    partitioned
    sleep 60 7<>/dev/nvme0n1p1 &
    refuses /dev/nvme0n1 nvme0n1 'is open in sleep (process'
    kill $!
}

a_partition_by_itself() {
    partitioned
    refuses /dev/nvme0n1p1 nvme0n1 'is a partition of /dev/nvme0n1'
}

# mapped UUID WORDS: the drive below a mapping with this UUID is refused with WORDS.
mapped() {
    blank /dev/nvme0n1
    echo '0 40960 linear /dev/nvme0n1 0' | dmsetup create mine -u "$1"
    refuses /dev/nvme0n1 nvme0n1 "$2"
    dmsetup remove mine
}
a_drive_below_device_mapper() { mapped plain 'device-mapper mine'; }
a_drive_of_a_volume_group() { mapped LVM-abcdef 'LVM volume mine'; }
a_drive_below_an_encrypted_volume() { mapped CRYPT-LUKS2-abcdef-mine 'encrypted volume mine'; }
a_path_of_a_multipath_device() { mapped mpath-3600 'multipath device mine'; }

a_mapping_beside_one_that_is_mounted() {
    blank /dev/nvme0n1
    for name in lower twin; do echo '0 40960 linear /dev/nvme0n1 0' | dmsetup create $name; done
    lower=$(dmsetup info -c --noheadings -o blkdevname lower)
    twin=$(dmsetup info -c --noheadings -o blkdevname twin)
    mke2fs "/dev/$lower" >/dev/null 2>&1
    mkdir mounted
    mount -t ext4 "/dev/$lower" mounted
    refuses "/dev/$twin" nvme0n1 "$lower is mounted at"
    umount mounted
    refuses "/dev/$twin" nvme0n1 "held by $lower (device-mapper lower)"
    dmsetup remove lower
    # Without the second mapping it is refused for its contents only.
    gauge 3 quick "/dev/$twin" --confirm "$twin:20971520" --out a.ssdg
    says 'ext4 file system'
    dmsetup remove twin
}

a_mapping_over_a_partition_of_a_drive_in_use() {
    partitioned
    echo '0 20480 linear /dev/nvme0n1p1 0' | dmsetup create upper
    dm=$(dmsetup info -c --noheadings -o blkdevname upper)
    mke2fs /dev/nvme0n1p2 >/dev/null 2>&1
    mkdir mounted
    mount -t ext4 /dev/nvme0n1p2 mounted
    refuses "/dev/$dm" nvme0n1 'nvme0n1p2 is mounted at'
    umount mounted
    dmsetup remove upper
}

a_drive_below_two_mappings() {
    blank /dev/nvme0n1
    echo '0 40960 linear /dev/nvme0n1 0' | dmsetup create lower
    lower=$(dmsetup info -c --noheadings -o blkdevname lower)
    echo "0 40960 linear /dev/$lower 0" | dmsetup create upper
    upper=$(dmsetup info -c --noheadings -o blkdevname upper)
    mke2fs "/dev/$upper" >/dev/null 2>&1
    mkdir mounted
    mount -t ext4 "/dev/$upper" mounted
    refuses /dev/nvme0n1 nvme0n1 "$upper is mounted at"
    umount mounted
    refuses "/dev/$lower" nvme0n1 "$upper (device-mapper upper)"
    dmsetup remove upper
    dmsetup remove lower
}

a_member_of_an_array() {
    blank /dev/nvme0n1
    blank /dev/nvme1n1
    echo md_test >/sys/module/md_mod/parameters/new_array
    md=/sys/block/md_test/md
    echo raid1 >$md/level
    echo none >$md/metadata_version
    echo 2 >$md/raid_disks
    for drive in nvme0n1 nvme1n1; do
        cat "/sys/block/$drive/dev" >$md/new_dev
        echo 30000 >"$md/dev-$drive/size"
    done
    echo 0 >$md/dev-nvme0n1/slot
    echo 1 >$md/dev-nvme1n1/slot
    echo readonly >$md/array_state
    refuses /dev/nvme0n1 nvme0n1 'array, raid1'
    echo clear >$md/array_state
}

a_second_path_to_the_same_drive() {
    modprobe scsi_mod
    modprobe sd_mod
    modprobe scsi_debug num_tgts=1 add_host=2 vpd_use_hostno=0 dev_size_mb=16 delay=0
    until_true test -b /dev/sdb
    refuses /dev/sda sda 'second path'
    rmmod scsi_debug
}

a_drive_that_the_nvme_target_exports() {
    blank /dev/nvme1n1
    modprobe nvmet
    export=/sys/kernel/config/nvmet/subsystems/test/namespaces/1
    mkdir -p $export
    printf /dev/nvme1n1 >$export/device_path
    echo 1 >$export/enable
    refuses /dev/nvme1n1 nvme1n1 'is exported by the NVMe target (subsystems/test/namespaces/1)'
    umount /sys/kernel/config
    refuses /dev/nvme1n1 nvme1n1 'exports of the NVMe target (configfs cannot be read)'
    mount -t configfs configfs /sys/kernel/config
    echo 0 >$export/enable
    rmdir $export /sys/kernel/config/nvmet/subsystems/test
}

a_drive_that_holds_a_partition_table() {
    partitioned
    before=$(sectors nvme0n1)
    gauge 3 quick /dev/nvme0n1 --confirm VM0 --out a.ssdg
    says 'partition table (MBR) at byte 510'
    says 'add --erase VM0'
    is 'the number of sectors written' "$(sectors nvme0n1)" "$before"
    gauge 0 quick /dev/nvme0n1 --confirm VM0 --erase VM0 --size 8MiB --shorten 20 --health-every 1 \
        --out a.ssdg
    # After privileges are dropped, the privileged helper reads SMART.
    for quantity in smart_temperature_c host_written_bytes; do
        at_least "the readings of $quantity" \
            "$(sql a.ssdg "SELECT count(*) FROM reading WHERE quantity='$quantity'")" 2
    done
    rights=$(sql a.ssdg "SELECT value FROM environment WHERE key='rights'")
    is 'the privileges of the run' "${rights%% (*}" 'privileged helper process for requests to the drive'
    case $rights in *'user 0 without capabilities'*) ;; *) fail "privileges: $rights" ;; esac
}

a_drive_that_warns_of_itself() {
    blank /dev/nvme1n1
    vm-monitor 'qom-set /machine/peripheral/nvme1 smart_critical_warning 8' >/dev/null
    refuses /dev/nvme1n1 nvme1n1 'it reports a critical warning: the media is read-only'
    vm-monitor 'qom-set /machine/peripheral/nvme1 smart_critical_warning 0' >/dev/null
}

a_drive_that_keeps_nothing() {
    blank /dev/nvme0n1
    modprobe dm_flakey
    echo '0 40960 flakey /dev/nvme0n1 0 0 600 1 drop_writes' | dmsetup create lies
    dm=$(dmsetup info -c --noheadings -o blkdevname lies)
    gauge 1 quick "/dev/$dm" --confirm "$dm:20971520" --size 8MiB --shorten 100 --out a.ssdg
    finds a.ssdg not-kept 'not read back as it was written'
    dmsetup remove lies
}

the_list_of_drives_tells_them_all() {
    partitioned
    mke2fs /dev/nvme0n1p2 >/dev/null 2>&1
    mkdir mounted
    mount -t ext4 /dev/nvme0n1p2 mounted
    blank /dev/nvme1n1
    export COLUMNS=80
    gauge 0 drives
    unset COLUMNS
    grep -q 'nvme0n1p2 is mounted at' out || fail "no reason: $(cat out)"
    grep -q '^nvme1n1 .* yes' out || fail "not testable: $(cat out)"
    [ "$(wc -L <out)" -le 80 ] || fail 'a line is longer than 80 columns'
    umount mounted
}

scenarios a_drive_whose_partition_is_mounted a_drive_whose_partition_is_swap \
    a_drive_whose_partition_is_mapped_and_mounted a_drive_with_a_loop_device_over_its_partition \
    a_partition_that_a_program_has_open a_partition_by_itself a_drive_below_device_mapper \
    a_drive_of_a_volume_group a_drive_below_an_encrypted_volume a_path_of_a_multipath_device \
    a_mapping_beside_one_that_is_mounted a_mapping_over_a_partition_of_a_drive_in_use \
    a_drive_below_two_mappings a_member_of_an_array a_second_path_to_the_same_drive a_drive_that_the_nvme_target_exports \
    a_drive_that_warns_of_itself a_drive_that_holds_a_partition_table a_drive_that_keeps_nothing \
    the_list_of_drives_tells_them_all
