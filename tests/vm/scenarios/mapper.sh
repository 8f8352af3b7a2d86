#!/bin/sh
# Drives below device-mapper: error regions, outages, requests that never complete.
# vm: --nvme 64M --copy dmsetup --module dm_mod --module dm_flakey
. /usr/bin/expect.sh

# node MAPPING: prints its kernel name.
node() {
    dmsetup info -c --noheadings -o blkdevname "$1"
}

an_error_region_fails_with_its_place() {
    printf '0 6144 linear /dev/nvme0n1 0\n6144 8 error\n6152 59384 linear /dev/nvme0n1 6152\n' |
        dmsetup create region
    dm=$(node region)
    suite region 4MiB 0 1s
    before=$(sectors nvme0n1)
    # The drive itself is in use by the mapping, and is refused.
    gauge 3 run region.toml /dev/nvme0n1 --confirm VM0 --out b.ssdg
    says "$dm"
    is 'the number of sectors written' "$(sectors nvme0n1)" "$before"
    # The fill ends there, and the step is broken.
    gauge 1 run region.toml "/dev/$dm" --confirm "$dm:33554432" --out a.ssdg
    finds a.ssdg faults 'a write at byte 3145728'
    is 'the number of measured steps' "$(sql a.ssdg "SELECT count(*) FROM step WHERE phase_kind='measure'")" 0
    dmsetup remove region
}

an_outage_of_two_seconds_ends_the_step_with_its_moment() {
    blank /dev/nvme0n1
    echo '0 65536 flakey /dev/nvme0n1 0 600 0' | dmsetup create flaky
    dm=$(node flaky)
    suite flaky 4MiB 100 20s
    gauge_later run flaky.toml "/dev/$dm" --confirm "$dm:33554432" --out a.ssdg
    until_true measures a.ssdg
    sleep 2
    echo '0 65536 flakey /dev/nvme0n1 0 0 600' | dmsetup load flaky
    dmsetup suspend --nolockfs --noflush flaky
    dmsetup resume flaky
    gauge_ends 1
    finds a.ssdg faults 'Input/output error'
    at_least 'the number of seconds with completions' \
        "$(sql a.ssdg "SELECT count(*) FROM interval WHERE ios > 0 AND direction = 'read'")" 1
    dmsetup remove flaky
}

# suspended NAME: creates a mapping, starts a run on it, and suspends it under load.
suspended() {
    blank /dev/nvme0n1
    echo '0 65536 linear /dev/nvme0n1 0' | dmsetup create "$1"
    dm=$(node "$1")
    suite "$1" 4MiB 100 60s
    gauge_later run "$1.toml" "/dev/$dm" --confirm "$dm:33554432" --out a.ssdg
    until_true measures a.ssdg
    sleep 2
    dmsetup suspend --nolockfs --noflush "$1"
}

a_signal_is_honoured_while_the_drive_hangs() {
    suspended asked
    sleep 1
    began=$(cut -d. -f1 /proc/uptime)
    kill -TERM $gauge_pid
    gauge_ends 75
    at_least 'six, against the seconds until the end' 6 \
        $(($(cut -d. -f1 /proc/uptime) - began))
    finds a.ssdg hung 'did not finish its last requests'
    is 'the number of running steps' "$(sql a.ssdg "SELECT count(*) FROM step WHERE state='running'")" 0
    dmsetup resume asked
    gauge_later resume a.ssdg --confirm "$dm:33554432"
    until_true measures a.ssdg
    sleep 1
    kill -INT $gauge_pid
    gauge_ends 75
    finds a.ssdg resumed
    until_true dmsetup remove asked 2>/dev/null
}

a_drive_that_never_answers_is_given_up_after_thirty_seconds() {
    suspended mute
    began=$(cut -d. -f1 /proc/uptime)
    gauge_ends 1
    took=$(($(cut -d. -f1 /proc/uptime) - began))
    at_least 'the seconds until the run ended' "$took" 28
    at_least 'thirty-six, against the seconds until the run ended' 36 "$took"
    says 'has not answered for'
    finds a.ssdg hung 'was given up'
    silent=$(sql a.ssdg "SELECT count(*) FROM interval JOIN step ON step_id = step.id
        WHERE phase_kind='measure' AND ios = 0")
    at_least 'the number of seconds without completions' "$silent" 25
    dmsetup resume mute
    until_true dmsetup remove mute 2>/dev/null
}

scenarios an_error_region_fails_with_its_place \
    an_outage_of_two_seconds_ends_the_step_with_its_moment \
    a_signal_is_honoured_while_the_drive_hangs \
    a_drive_that_never_answers_is_given_up_after_thirty_seconds
