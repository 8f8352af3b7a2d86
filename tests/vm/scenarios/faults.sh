#!/bin/sh
# Failing drives: media errors, removal, hangs, out of memory, clock jumps.
# vm: --nvme 64M --nvme 64M --nvme 64M --bad-nvme 64M,6144 --append nvme_core.io_timeout=3
# vm: --module 'null_blk nr_devices=0' --pack sd_mod --pack scsi_debug
. /usr/bin/expect.sh

# A fault is reported in at most ten lines. What a busy host adds is not counted: warnings, notes, pauses of the
# program, and the line about readers of the run file, of which a scenario that waits for a stored second is one.
few_words() {
    lines=$(grep -v -e '^warning[^:]*: ' -e '^note[^:]*: ' -e '^  ' -e '^invalid[^:]*: the program was stopped' \
        -e '^another process reads the run file' talk)
    at_least "ten, against the number of message lines ($lines)" 10 "$(echo "$lines" | wc -l)"
}

# fails_at FILE KIND OFFSET WORDS: a read error must give a finding with its offset, a broken step and
# a resumable run.
fails_at() {
    gauge_file=$1 kind=$2 offset=$3 words=$4
    finds "$gauge_file" "$kind" "a read at byte $offset"
    finds "$gauge_file" "$kind" "$words"
    says 'finished steps are safe'
    at_least 'the number of errors' "$(sql "$gauge_file" 'SELECT sum(errors) FROM interval')" 1
    is 'the state of the step' \
        "$(sql "$gauge_file" "SELECT state FROM step WHERE phase_kind='measure'")" broken
    few_words
}

a_bad_place_of_an_nvme_drive_is_a_media_error() {
    suite bad 4MiB 100 2s
    gauge 1 run bad.toml /dev/nvme3n1 --confirm BAD3 --out a.ssdg
    fails_at a.ssdg media-error 3145728 'No data available'
}

a_bad_place_of_a_scsi_drive_is_a_media_error() {
    modprobe scsi_mod
    modprobe sd_mod
    modprobe scsi_debug opts=2 dev_size_mb=64 delay=0
    until_true test -b /dev/sda
    suite bad 4MiB 100 2s
    serial=$(ssdgauge run bad.toml /dev/sda --out b.ssdg 2>&1 | sed -n 's/.*--confirm //p')
    gauge 1 run bad.toml /dev/sda --confirm "$serial" --out a.ssdg
    # scsi_debug fails reads of the sectors 4660 to 4669: the requests at byte 2383872 and at 2387968,
    # whichever comes first.
    fails_at a.ssdg media-error 238____ 'No data available'
    rmmod scsi_debug
}

a_bad_place_without_a_reason_is_a_fault() {
    null=/sys/kernel/config/nullb/nullb1
    mkdir $null
    echo 64 >$null/size
    echo 1 >$null/memory_backed
    echo +6144-6151 >$null/badblocks
    echo 1 >$null/power
    # Writes fail there too, so the fill ends at this offset.
    suite bad 4MiB 100 2s
    gauge 1 run bad.toml /dev/nullb1 --confirm nullb1:67108864 --out a.ssdg
    finds a.ssdg faults 'a write at byte 3145728'
    finds a.ssdg faults 'Input/output error'
    # An offset that fails only after the fill fails the reads.
    echo -6144-6151 >$null/badblocks
    blank /dev/nullb1
    suite later 4MiB 100 5s
    gauge_later run later.toml /dev/nullb1 --confirm nullb1:67108864 --out b.ssdg
    until_true measures b.ssdg
    echo +6144-6151 >$null/badblocks
    gauge_ends 1
    fails_at b.ssdg faults 3145728 'Input/output error'
    echo 0 >$null/power
    rmdir $null
}

a_null_device_that_is_switched_off_is_gone() {
    null=/sys/kernel/config/nullb/nullb2
    mkdir $null
    echo 64 >$null/size
    echo 1 >$null/memory_backed
    echo 1 >$null/power
    suite off 4MiB 100 1h
    gauge_later run off.toml /dev/nullb2 --confirm nullb2:67108864 --out a.ssdg
    until_true has_stored a.ssdg
    echo 0 >$null/power
    gauge_ends 1
    finds a.ssdg drive-gone
    rmdir $null
}

# pulled READ_PERCENT NAME SERIAL DEVICE: removes a drive under load, and checks the messages.
pulled() {
    # The step lasts until the drive is pulled. Its first stored second shows that its requests run: before
    # it, a step waits for readers of the run file.
    suite pulled 16MiB "$1" 1h
    gauge_later run pulled.toml "/dev/$2" --confirm "$3" --out a.ssdg
    until_true has_stored a.ssdg
    vm-monitor device_del "$4" >/dev/null
    gauge_ends 1
    says 'is gone'
    finds a.ssdg drive-gone
    few_words
    # Requests in flight fail once, and nothing is submitted after that.
    errors=$(sql a.ssdg 'SELECT sum(errors) FROM interval')
    at_least 'the number of errors' "$errors" 1
    at_least "a queue depth of 4, and $errors errors" 8 "$errors"
    gauge 3 resume a.ssdg
    says 'nothing was written'
}

a_drive_that_is_pulled_while_it_is_read_is_gone() {
    pulled 100 nvme1n1 VM1 nvme1
}

a_drive_that_hangs_and_comes_back_is_told_by_its_latency() {
    suite hang 4MiB 100 15s
    gauge_later run hang.toml /dev/nvme0n1 --confirm VM0 --out a.ssdg
    until_true measures a.ssdg
    sleep 2
    # With a cleared command register the controller does not respond until the kernel resets it.
    printf '\0\0' | dd of="$(readlink -f /sys/class/nvme/nvme0/device)/config" bs=2 seek=2 conv=notrunc 2>/dev/null
    gauge_ends 0
    finds a.ssdg stalled 'a read took'
    longest=$(sql a.ssdg 'SELECT max(lat_max_ns) / 1000000 FROM interval')
    at_least 'the longest latency in ms' "$longest" 2000
    # The seconds without completions are zeros in the timeline.
    silent=$(sql a.ssdg "SELECT count(*) FROM interval JOIN step ON step_id = step.id
        WHERE phase_kind='measure' AND ios = 0")
    at_least 'the number of seconds without completions' "$silent" 1
}

is_resumed() {
    [ -n "$(sqlite3 "$1" "SELECT 1 FROM finding WHERE kind='resumed'" 2>/dev/null)" ]
}

a_run_without_memory_is_killed_and_goes_on_later() {
    group=/sys/fs/cgroup/small
    mount -t cgroup2 none /sys/fs/cgroup
    echo +memory >/sys/fs/cgroup/cgroup.subtree_control
    mkdir $group
    suite poor 4MiB 100 20s
    line='ssdgauge run poor.toml /dev/nvme0n1 --confirm VM0 --erase VM0 --out a.ssdg'
    sh -c "echo \$\$ >$group/cgroup.procs; exec $line" >out 2>talk &
    gauge_pid=$!
    until_true measures a.ssdg
    echo 4M >$group/memory.max
    gauge_ends 137
    at_least 'the number of OOM kills' \
        "$(sed -n 's/^oom_kill //p' $group/memory.events)" 1
    # The finished step is in the run file, and no process writes any more.
    is 'the state of the fill' "$(sql a.ssdg "SELECT state FROM step WHERE label LIKE 'fill%'")" finished
    before=$(sectors nvme0n1)
    until_true rmdir $group
    is 'the number of sectors written' "$(sectors nvme0n1)" "$before"
    umount /sys/fs/cgroup
    gauge_later resume a.ssdg --confirm VM0 --erase VM0
    # The state of the step that was killed remains 'running'.
    until_true is_resumed a.ssdg
    kill -INT $gauge_pid
    gauge_ends 75
    finds a.ssdg resumed
}

a_jump_of_the_time_of_day_moves_no_duration() {
    suite clock 4MiB 100 6s
    gauge_later run clock.toml /dev/nvme0n1 --confirm VM0 --erase VM0 --out a.ssdg
    until_true measures a.ssdg
    sleep 1
    date -s '2030-01-02 03:04:05' >/dev/null
    sleep 1
    date -s '2020-01-02 03:04:05' >/dev/null
    gauge_ends 0
    finds a.ssdg clock-jumped
    took="SELECT CAST(round(elapsed_ns / 1e9) AS INTEGER) FROM step WHERE phase_kind='measure'"
    is 'the seconds that the step took' "$(sql a.ssdg "$took")" 6
    blamed="SELECT count(*) FROM finding WHERE kind IN ('hung', 'stalled')"
    is 'the number of findings about the drive' "$(sql a.ssdg "$blamed")" 0
}

a_drive_that_is_pulled_while_it_is_written_is_gone() {
    pulled 0 nvme2n1 VM2 nvme2
}

scenarios a_bad_place_of_an_nvme_drive_is_a_media_error \
    a_bad_place_of_a_scsi_drive_is_a_media_error a_bad_place_without_a_reason_is_a_fault \
    a_null_device_that_is_switched_off_is_gone a_drive_that_is_pulled_while_it_is_read_is_gone \
    a_run_without_memory_is_killed_and_goes_on_later a_jump_of_the_time_of_day_moves_no_duration \
    a_drive_that_hangs_and_comes_back_is_told_by_its_latency \
    a_drive_that_is_pulled_while_it_is_written_is_gone
