#!/bin/sh
# Polled completions: the engine on a drive with a poll queue, and on one without.
# vm: --nvme 64M,serial=POLLED --append nvme.poll_queues=1 --module 'null_blk nr_devices=1 gb=1 queue_mode=2 poll_queues=0'
. /usr/bin/expect.sh

# measured KEY: prints a value of the JSON of `ssdgauge bench` in `out`.
measured() {
    sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"]*\).*/\1/p" out
}

# interrupts: prints the interrupts of the queues of the drive since boot, without the admin queue.
interrupts() {
    awk '/nvme0q[1-9]/ { for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) n += $i } END { print n }' /proc/interrupts
}

a_queue_that_polls_is_asked_for_its_completions() {
    drive=nvme0n1
    is 'its io_poll attribute' "$(cat /sys/block/$drive/queue/io_poll)" 1
    for depth in 1 8; do
        # On a busy host the emulated drive completes few requests in a second.
        for seconds in 1 8 64; do
            before=$(interrupts)
            gauge 0 bench /dev/$drive --size 16MiB --confirm POLLED --polled --runs 1 --seconds $seconds --json \
                --no-fill --read-percent 50 --queue-depth $depth
            after=$(interrupts)
            [ "$(measured ios)" -lt 2000 ] || break
        done
        says_setup=$(measured setup)
        case $says_setup in polled*) ;; *) fail "its setup is '$says_setup'" ;; esac
        is 'the number of errors' "$(measured errors)" 0
        at_least 'the number of requests' "$(measured ios)" 2000
        # Without polling there would be one interrupt per request. The guard sends less than 300
        # requests that use interrupts.
        at_least 'requests without an interrupt' "$(measured ios)" $(((after - before - 300) * 4))
    done
}

# measured_run OPTION...: runs four loads on the drive into a.ssdg: both directions, flushes, due times, long requests.
measured_run() {
    cat >polled.toml <<'END'
[suite]
id = "polled"
revision = 1
title = "A scenario"
prepare = [{ fill = "sequential", span = "16MiB", block_size = "1MiB" }]
[[test]]
id = "mixed"
revision = 1
title = "Mixed"
stream = { access = "random", block_size = "4KiB", read_percent = 50, queue_depth = 4, span = "16MiB" }
until = { time = "1s" }
score = { mean_of = "iops" }
[[test]]
id = "commits"
revision = 1
title = "Commits"
stream = { access = "random", block_size = "4KiB", read_percent = 0, queue_depth = 1, span = "16MiB", sync = true, flush_every = 4 }
until = { time = "1s" }
score = { mean_of = "iops" }
[[test]]
id = "due"
revision = 1
title = "Due times"
stream = { access = "random", block_size = "4KiB", read_percent = 100, per_second = 20.0, span = "16MiB" }
until = { time = "1s" }
score = { mean_of = "iops" }
[[test]]
id = "long"
revision = 1
title = "Long requests"
stream = { access = "sequential", block_size = "1MiB", read_percent = 50, queue_depth = 2, span = "16MiB" }
until = { time = "1s" }
score = { mean_of = "iops" }
END
    gauge 0 run polled.toml /dev/nvme0n1 --confirm POLLED --out "$@"
}

# steps FILE WORDS: prints the number of its finished measured steps whose setup is like WORDS.
steps() {
    sql "$1" "SELECT count(*) FROM step WHERE phase_kind='measure' AND state='finished' AND report ->> 'setup' LIKE '$2'"
}

a_measured_run_is_polled_and_says_so() {
    before=$(interrupts)
    measured_run a.ssdg --polled --test mixed --test due
    after=$(interrupts)
    is 'the polled steps' "$(steps a.ssdg 'polled,%polled as requested')" 2
    requests=$(sql a.ssdg "SELECT sum(ios) FROM interval JOIN step ON step_id = step.id WHERE phase_kind='measure'")
    # As above; the fill has 16 requests.
    at_least 'requests without an interrupt' "$requests" $(((after - before - 300) * 4))
    gauge 0 report a.ssdg --json
    grep -q '"polled": *true' out || fail 'the JSON does not say that completions were polled'
    grep -q 'polled (IOPOLL)' a.html || fail 'the page does not say that completions were polled'
    measured_run b.ssdg --test mixed
    gauge 2 compare a.ssdg b.ssdg
    says 'completions of one run were polled'
}

# Linux 6.1 tries a polled request that it has to split again without end.
what_cannot_be_polled_uses_interrupts_and_says_so() {
    measured_run a.ssdg --polled --test commits --test long
    is 'the polled steps' "$(steps a.ssdg 'polled,%polled as requested')" 1
    is 'the steps with interrupts' "$(steps a.ssdg 'plain flags,%')" 1
    finds a.ssdg not-polled 'splits requests of 1MiB'
    at_least 'the number of flushes' "$(sql a.ssdg "SELECT sum(ios) FROM interval WHERE direction = 'flush'")" 10
    at_least 'the number of long requests' \
        "$(sql a.ssdg "SELECT sum(ios) FROM interval JOIN step ON step_id = step.id WHERE test_id = 'long'")" 10
}

a_polled_run_is_refused_without_a_byte_where_nothing_polls() {
    cat >read.toml <<'END'
[suite]
id = "read"
revision = 1
title = "A scenario"
[[test]]
id = "read"
revision = 1
title = "Reads"
stream = { access = "random", block_size = "4KiB", read_percent = 100, span = "16MiB" }
until = { time = "1s" }
score = { mean_of = "iops" }
END
    before=$(sectors nullb0)
    gauge 3 run read.toml /dev/nullb0 --confirm nullb0:1073741824 --polled
    says 'the queue of /dev/nullb0 does not support polling'
    says 'nvme.poll_queues=1'
    gauge 3 plan read.toml /dev/nullb0 --polled
    is 'the number of sectors written' "$(sectors nullb0)" "$before"
    sed -i 's/^title = "Reads"/&\nengine = "synchronous"/' read.toml
    before=$(sectors nvme0n1)
    gauge 2 run read.toml /dev/nvme0n1 --confirm POLLED --polled
    says 'uses the synchronous engine'
    is 'the number of sectors written' "$(sectors nvme0n1)" "$before"
}

a_queue_that_does_not_poll_is_left_alone() {
    is 'its io_poll attribute' "$(cat /sys/block/nullb0/queue/io_poll)" 0
    before=$(cat /sys/block/nullb0/stat)
    gauge 3 bench /dev/nullb0 --size 16MiB --confirm nullb0:1073741824 --polled
    says 'does not support polling'
    says 'nvme.poll_queues'
    is 'the number of writes sent to it' "$(awk '{ print $5 }' /sys/block/nullb0/stat)" "$(echo $before | awk '{ print $5 }')"
}

scenarios a_queue_that_polls_is_asked_for_its_completions a_measured_run_is_polled_and_says_so \
    what_cannot_be_polled_uses_interrupts_and_says_so \
    a_polled_run_is_refused_without_a_byte_where_nothing_polls a_queue_that_does_not_poll_is_left_alone
