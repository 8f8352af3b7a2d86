#!/bin/sh
# Real NVMe drives, whole: a quick look, a suite, resume, blocks of 4 KiB, a partition.
# vm: --nvme 64M --nvme 64M,logical_block_size=4096,physical_block_size=4096
. /usr/bin/expect.sh

a_quick_look_at_a_real_nvme_drive() {
    before=$(sectors nvme0n1)
    gauge 3 quick /dev/nvme0n1 --out a.ssdg
    says 'nothing was written'
    is 'the number of sectors written' "$(sectors nvme0n1)" "$before"
    gauge 0 quick /dev/nvme0n1 --confirm VM0 --size 16MiB --shorten 50 --out a.ssdg
    is 'the model' "$(sql a.ssdg 'SELECT model FROM drive')" 'QEMU NVMe Ctrl'
    is 'the number of steps' "$(sql a.ssdg "SELECT count(*) FROM step WHERE state='finished'")" 14
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

scenarios a_quick_look_at_a_real_nvme_drive a_run_that_was_killed_is_resumed_on_the_same_drive_only \
    a_drive_with_blocks_of_4_kib_takes_no_smaller_requests a_partition_is_no_target
