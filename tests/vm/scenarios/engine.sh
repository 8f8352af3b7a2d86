#!/bin/sh
# Polled completions: the engine on a drive with a poll queue, and on one without. NVMe pass-through: on a
# namespace, beside another one with metadata, and on what is none.
# vm: --nvme 64M,serial=POLLED --nvme 64M,serial=PASSED --append nvme.poll_queues=1
# vm: --module 'null_blk nr_devices=1 gb=1 queue_mode=2 poll_queues=0'
# vm: --qemu '-blockdev driver=null-co,node-name=plain,size=67108864,read-zeroes=on'
# vm: --qemu '-blockdev driver=null-co,node-name=protected,size=67108864,read-zeroes=on'
# vm: --qemu '-device pcie-root-port,id=twoport,chassis=60,slot=60 -device nvme,id=two,bus=twoport,serial=TWO'
# vm: --qemu '-device nvme-ns,drive=plain,bus=two,nsid=1 -device nvme-ns,drive=protected,bus=two,nsid=2,ms=8'
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

# Writes a suite of five loads, loads.toml: both directions, flushes behind writes, due times, trims, and long requests,
# which the kernel splits and which are too long for a command. Fills use interrupts and the block device.
loads() {
    cat >loads.toml <<'END'
[suite]
id = "loads"
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
stream = { access = "random", block_size = "4KiB", read_percent = 0, queue_depth = 2, span = "16MiB", sync = true, flush_every = 4 }
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
id = "trims"
revision = 1
title = "Trims"
stream = { access = "random", block_size = "64KiB", operation = "trim", queue_depth = 2, offset = "32MiB", span = "16MiB" }
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
}

# polled_run OPTION...: runs loads on the first drive.
polled_run() {
    loads
    gauge 0 run loads.toml /dev/nvme0n1 --confirm POLLED --out "$@"
}

# steps FILE WORDS: prints the number of its finished measured steps whose setup is like WORDS.
steps() {
    sql "$1" "SELECT count(*) FROM step WHERE phase_kind='measure' AND state='finished' AND report ->> 'setup' LIKE '$2'"
}

a_measured_run_is_polled_and_says_so() {
    before=$(interrupts)
    polled_run a.ssdg --polled --test mixed --test due
    after=$(interrupts)
    is 'the polled steps' "$(steps a.ssdg 'polled,%polled as requested')" 2
    requests=$(sql a.ssdg "SELECT sum(ios) FROM interval JOIN step ON step_id = step.id WHERE phase_kind='measure'")
    # As above; the fill has 16 requests.
    at_least 'requests without an interrupt' "$requests" $(((after - before - 300) * 4))
    gauge 0 report a.ssdg --json
    grep -q '"polled": *true' out || fail 'the JSON does not say that completions were polled'
    grep -q 'polled (IOPOLL)' a.html || fail 'the page does not say that completions were polled'
    polled_run b.ssdg --test mixed
    gauge 2 compare a.ssdg b.ssdg
    says 'completions of one run were polled'
}

# Linux 6.1 tries a polled request that it has to split again without end.
what_cannot_be_polled_uses_interrupts_and_says_so() {
    polled_run a.ssdg --polled --test commits --test long
    is 'the polled steps' "$(steps a.ssdg 'polled,%polled as requested')" 1
    is 'the steps with interrupts' "$(steps a.ssdg 'plain flags,%')" 1
    finds a.ssdg not-polled 'splits requests of 1 MiB'
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

# requests FILE TEST WORDS: prints the number of its requests in a test whose direction is like WORDS.
requests() {
    sql "$1" "SELECT coalesce(sum(ios), 0) FROM interval JOIN step ON step_id = step.id
        WHERE test_id = '$2' AND phase_kind = 'measure' AND direction LIKE '$3'"
}

commands_and_the_block_device_read_what_the_other_wrote() {
    loads
    before=$(sectors nvme1n1)
    # --verify reads every block at the end through the block device; measured reads check what the fill wrote.
    gauge_later run loads.toml /dev/nvme1n1 --confirm PASSED --out a.ssdg --pass-through --verify
    until_true measures a.ssdg
    # It keeps the device open, and its pages in memory.
    exec 7</dev/nvme1n1
    dd if=/dev/nvme1n1 of=/dev/null bs=64k count=8 2>/dev/null
    gauge_ends 0
    dd if=/dev/nvme1n1 bs=64k count=8 2>/dev/null >cached
    dd if=/dev/nvme1n1 bs=64k count=8 iflag=direct 2>/dev/null >direct
    exec 7<&-
    cmp cached direct || fail 'the page cache has contents from before the commands'
    is 'the steps that were passed through' "$(steps a.ssdg 'NVMe pass-through,%passed through as requested')" 4
    is 'the steps on the block device' "$(steps a.ssdg 'plain flags,%')" 1
    finds a.ssdg not-passed-through 'requests of 1 MiB'
    at_least 'the number of long requests' "$(requests a.ssdg long %)" 10
    is 'the number of errors' "$(sql a.ssdg 'SELECT sum(errors) FROM interval')" 0
    for test in 'mixed read' 'mixed write' 'commits flush' 'due read' 'trims trim'; do
        at_least "the number of requests of $test" "$(requests a.ssdg ${test% *} ${test#* })" 10
    done
    is 'the wrong findings' "$(sql a.ssdg "SELECT count(*) FROM finding WHERE kind IN ('wrong-data', 'other-traffic',
        'page-cache', 'media-error', 'faults')")" 0
    # The kernel does not count commands: the block device counts the fill, the long requests and the label.
    counted=$(sql a.ssdg "SELECT sum(bytes) / 512 FROM interval JOIN step ON step_id = step.id
        WHERE direction = 'write' AND (test_id = 'long' OR phase_kind != 'measure')")
    at_least 'the sectors of the block device, and 2,000 more' $((counted + 2000)) $(($(sectors nvme1n1) - before))
    is 'the node' "$(sql a.ssdg "SELECT json_extract(details, '\$.details.command_node') FROM drive")" ng1n1
    # Linux 6.1 demands it for each command.
    at_least 'the runs with CAP_SYS_ADMIN' \
        "$(sql a.ssdg "SELECT count(*) FROM environment WHERE value LIKE '%with CAP_SYS_ADMIN only%'")" 1
    gauge 0 report a.ssdg --json
    grep -q '"pass_through": *true' out || fail 'the JSON does not say that requests were passed through'
    grep -q 'io_uring pass-through' a.html || fail 'the page does not say that requests were passed through'
}

a_run_that_was_killed_between_its_commands_continues_with_commands_alone() {
    loads
    tests='--test mixed --test commits --test long'
    gauge_later run loads.toml /dev/nvme1n1 --confirm PASSED --erase PASSED --out k.ssdg --pass-through --verify $tests
    until_true measures k.ssdg commits
    kill -9 $gauge_pid
    gauge_ends 137
    before=$(sectors nvme1n1)
    gauge 3 run loads.toml /dev/nvme1n1 --confirm PASSED --out k.ssdg --or-resume --verify $tests
    says 'were passed through as NVMe commands'
    says 'continue it with --pass-through'
    is 'the number of sectors written' "$(sectors nvme1n1)" "$before"
    gauge 0 resume k.ssdg --confirm PASSED
    finds k.ssdg resumed
    is 'the steps that were passed through' "$(steps k.ssdg 'NVMe pass-through,%passed through as requested')" 2
    is 'the steps on the block device' "$(steps k.ssdg 'plain flags,%')" 1
    is 'the states of the steps of the commits' \
        "$(sql k.ssdg "SELECT group_concat(state) FROM step WHERE test_id = 'commits' AND phase_kind = 'measure'")" \
        running,finished
    is 'the number of errors' "$(sql k.ssdg 'SELECT sum(errors) FROM interval')" 0
    is 'the wrong findings' "$(sql k.ssdg "SELECT count(*) FROM finding WHERE kind IN ('wrong-data', 'other-traffic',
        'lost-writes', 'faults')")" 0
}

# not_passed CODE TARGET SERIAL WORDS DRIVE: pass-through to TARGET is refused, and nothing is written to DRIVE.
not_passed() {
    before=$(sectors "$5")
    gauge "$1" run loads.toml "/dev/$2" --confirm "$3" --erase "$3" --pass-through --test mixed \
        --out refused.ssdg
    says "$4"
    says 'nothing was written'
    is 'the number of sectors written' "$(sectors "$5")" "$before"
    [ ! -e refused.ssdg ] || fail 'a run file was created'
}

pass_through_is_refused_without_a_byte_where_it_would_not_reach_this_drive_alone() {
    loads
    before_other=$(sectors nvme0n1)
    not_passed 3 nullb0 nullb0:1073741824 'not an NVMe namespace' nullb0
    not_passed 3 nvme2n2 TWO:2 'metadata or end-to-end protection' nvme2n2
    # The name of the node leads to the other drive.
    mv /dev/ng1n1 /dev/kept
    mknod /dev/ng1n1 c $(tr : ' ' <"/sys/class/nvme-generic/ng0n1/dev")
    not_passed 3 nvme1n1 PASSED "is the device .*, not .*, as sysfs states" nvme1n1
    rm /dev/ng1n1
    not_passed 3 nvme1n1 PASSED 'ng1n1 cannot be opened' nvme1n1
    mv /dev/kept /dev/ng1n1
    mkswap /dev/nvme1n1 >/dev/null
    swapon /dev/nvme1n1
    not_passed 3 nvme1n1 PASSED 'is used as swap' nvme1n1
    swapoff /dev/nvme1n1
    # Without the mark of the swap, the drive is empty but for test data.
    dd if=/dev/zero of=/dev/nvme1n1 bs=1M count=1 conv=fsync 2>/dev/null
    is 'the sectors written to the other drive' "$(sectors nvme0n1)" "$before_other"
}

a_drive_that_is_pulled_from_under_its_commands_is_gone() {
    suite pulled 16MiB 50 30s
    gauge_later run pulled.toml /dev/nvme1n1 --confirm PASSED --erase PASSED --pass-through --out a.ssdg
    until_true measures a.ssdg
    sleep 1
    vm-monitor device_del nvme1 >/dev/null
    gauge_ends 1
    says 'is gone'
    finds a.ssdg drive-gone
    errors=$(sql a.ssdg 'SELECT sum(errors) FROM interval')
    at_least 'the number of errors' "$errors" 1
    at_least "a queue depth of 4, and $errors errors" 8 "$errors"
    gauge 3 resume a.ssdg
    says 'nothing was written'
}

scenarios a_queue_that_polls_is_asked_for_its_completions a_measured_run_is_polled_and_says_so \
    what_cannot_be_polled_uses_interrupts_and_says_so \
    a_polled_run_is_refused_without_a_byte_where_nothing_polls a_queue_that_does_not_poll_is_left_alone \
    commands_and_the_block_device_read_what_the_other_wrote \
    a_run_that_was_killed_between_its_commands_continues_with_commands_alone \
    pass_through_is_refused_without_a_byte_where_it_would_not_reach_this_drive_alone \
    a_drive_that_is_pulled_from_under_its_commands_is_gone
