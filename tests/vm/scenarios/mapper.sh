#!/bin/sh
# Drives below device-mapper: error regions, outages, requests that never complete, dropped writes, failing
# flushes, mappings that store less than they state.
# vm: --nvme 64M --copy dmsetup --copy fio --module dm_mod --module dm_flakey --module dm_zero --module dm_delay
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
    suite flaky 4MiB 100 1h
    gauge_later run flaky.toml "/dev/$dm" --confirm "$dm:33554432" --out a.ssdg
    until_true has_stored a.ssdg
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

# becomes_flaky READ_PERCENT FAULT: creates a mapping `flaky` that passes everything on, starts a run
# on it, and loads a table with FAULT (of dm-flakey) in its measured step.
becomes_flaky() {
    blank /dev/nvme0n1
    echo '0 65536 flakey /dev/nvme0n1 0 600 0' | dmsetup create flaky
    dm=$(node flaky)
    suite flaky 4MiB "$1" 6s
    gauge_later run flaky.toml "/dev/$dm" --confirm "$dm:33554432" --out a.ssdg
    until_true measures a.ssdg
    sleep 1
    echo "0 65536 flakey /dev/nvme0n1 0 0 600 1 $2" | dmsetup load flaky
    dmsetup suspend --nolockfs --noflush flaky
    dmsetup resume flaky
}

writes_that_are_dropped_from_some_moment_on_are_found_at_the_end() {
    becomes_flaky 0 drop_writes
    gauge_ends 1
    is 'the state of the step' "$(sql a.ssdg "SELECT state FROM step WHERE phase_kind='measure'")" finished
    finds a.ssdg lost-writes 'holds older data of this run'
    says 'do not hold the data that was written last'
    dmsetup remove flaky
}

a_flush_that_fails_ends_the_run() {
    # Reads do not fail, and the data of the fill is flushed behind them.
    becomes_flaky 100 error_writes
    gauge_ends 1
    finds a.ssdg flush-failed 'a flush failed'
    says 'cannot flush'
    dmsetup remove flaky
}

a_drive_that_keeps_its_data_is_flushed_and_read_back() {
    blank /dev/nvme0n1
    suite kept 4MiB 50 2s
    before=$(awk '{ print $16 }' /sys/block/nvme0n1/stat)
    gauge 0 run kept.toml /dev/nvme0n1 --confirm VM0 --out a.ssdg
    flushed="SELECT sum(value ->> 'counted') FROM property WHERE key='flush'"
    is 'the number of flushes by the kernel' "$(sql a.ssdg "$flushed")" \
        $(($(awk '{ print $16 }' /sys/block/nvme0n1/stat) - before))
    is 'the number of flushes' "$(sql a.ssdg "SELECT count(*) FROM property WHERE key='flush'")" 1
    # Two places may be one.
    at_least 'the number of blocks' "$(sql a.ssdg "SELECT sum(value ->> 'read') FROM property WHERE key='read_back'")" 48
    is 'the number of lost writes' "$(sql a.ssdg "SELECT count(*) FROM finding WHERE kind='lost-writes'")" 0
}

# stores MAPPING: proves the capacity of a mapping that stores less than it states; prints how much at most.
stores() {
    dm=$(node "$1")
    gauge 4 prove "/dev/$dm" --confirm "$dm:67108864" --out "$1.ssdg" --json
    sed -n 's/.*"most_bytes": *\([0-9]*\).*/\1/p' out
    dmsetup remove "$1"
}

a_mapping_that_stores_less_than_it_states_is_found() {
    blank /dev/nvme0n1
    # Its second half is the first one.
    printf '0 65536 linear /dev/nvme0n1 0\n65536 65536 linear /dev/nvme0n1 0\n' | dmsetup create wrap
    is 'the bytes that it stores' "$(stores wrap)" 33554432
    blank /dev/nvme0n1
    # Its last quarter drops writes and returns zeros.
    printf '0 98304 linear /dev/nvme0n1 0\n98304 32768 zero\n' | dmsetup create tail
    at_most=$(stores tail)
    at_least 'the bytes that it stores' "$at_most" 49828331
    at_least 'the end of its stored bytes' 50834964 "$at_most"
}

# slow NAME: creates a mapping that delays writes and discards by 2 ms and flushes by 100 ms, and prints its node. 5 %
# of a flush are more than a tick of the timer of dm-delay.
slow() {
    blank /dev/nvme0n1
    echo '0 65536 delay /dev/nvme0n1 0 0 /dev/nvme0n1 0 2 /dev/nvme0n1 0 100' | dmsetup create "$1"
    node "$1"
}

# one_load STREAM: runs STREAM at queue depth 1 on the first 16 MiB of the mapping for 6 s, into a.ssdg. Its system
# calls wait, as those of the engine psync of fio.
one_load() {
    cat >one.toml <<END
[suite]
id = "one"
revision = 1
title = "A scenario"
prepare = [{ fill = "sequential", span = "16MiB", block_size = "128KiB" }]
[[test]]
id = "load"
revision = 1
title = "Load"
engine = "synchronous"
stream = { span = "16MiB", $1 }
until = { time = "6s" }
score = { mean_of = "iops" }
END
    gauge 0 run one.toml "/dev/$dm" --confirm "$dm:33554432" --out a.ssdg
}

# of_load DIRECTION VALUE: prints VALUE over the seconds of the load.
of_load() {
    sql a.ssdg "SELECT CAST($2 AS INTEGER) FROM interval JOIN step ON step_id = step.id
        WHERE phase_kind='measure' AND direction='$1'"
}

# close_to SUBJECT ACTUAL EXPECTED: both differ by at most 5 % or one tick of the timer of dm-delay, 4 ms, to which it
# rounds its delays; both are printed.
close_to() {
    echo "$1: $2 us by ssdgauge, $3 us" >&2
    most=$(($3 / 20))
    [ "$most" -ge 4000 ] || most=4000
    difference=$(($2 - $3))
    at_least "the largest difference from $3" "$most" "${difference#-}"
}

a_flush_takes_as_long_as_fio_measures() {
    dm=$(slow flushed)
    one_load 'access = "random", block_size = "4KiB", read_percent = 0, flush_every = 1'
    fio --name=commits --filename="/dev/$dm" --rw=randwrite --bs=4k --size=16M --ioengine=psync \
        --direct=1 --fdatasync=1 --time_based --runtime=6 --output-format=json --output=fio.json >out 2>talk ||
        fail "fio: $(tail -n 4 talk)"
    by_fio=$(awk '/"sync" :/ { sync = 1 } sync && /"50.000000" :/ { gsub(",", ""); print int($3 / 1000); exit }' fio.json)
    gauge 0 report a.ssdg --json
    ours=$(sed -n 's/.*"flush_lat_p50_us": *\([0-9]*\).*/\1/p' out)
    at_least 'the number of flushes' "$(of_load flush 'sum(ios)')" 30
    at_least 'its median, with a delay of 100 ms' "$ours" 100000
    close_to 'a flush, median, also by fio --fdatasync=1' "$ours" "$by_fio"
    dmsetup remove flushed
}

# discards DEVICE: prints its completed discards, their sectors, and the milliseconds that they took.
discards() {
    awk '{ print $12, $14, $15 }' "/sys/block/$1/stat"
}

a_trim_takes_as_long_as_the_device_counts() {
    dm=$(slow trimmed)
    before=$(discards "$dm")
    one_load 'operation = "trim", access = "sequential", block_size = "1MiB"'
    set -- $before $(discards "$dm")
    requests=$(of_load trim 'sum(ios)')
    at_least 'the number of trims' "$requests" 30
    is 'the number of discards' $(($4 - $1)) "$requests"
    is 'the number of their sectors' $(($5 - $2)) $((requests * 2048))
    close_to 'a trim, mean, also by the counters of the device' "$(of_load trim 'sum(lat_sum_ns) / sum(ios) / 1000')" \
        $((($6 - $3) * 1000 / requests))
    dmsetup remove trimmed
}

scenarios an_error_region_fails_with_its_place \
    a_mapping_that_stores_less_than_it_states_is_found \
    an_outage_of_two_seconds_ends_the_step_with_its_moment \
    a_signal_is_honoured_while_the_drive_hangs \
    a_drive_that_never_answers_is_given_up_after_thirty_seconds \
    writes_that_are_dropped_from_some_moment_on_are_found_at_the_end a_flush_that_fails_ends_the_run \
    a_drive_that_keeps_its_data_is_flushed_and_read_back a_flush_takes_as_long_as_fio_measures \
    a_trim_takes_as_long_as_the_device_counts
