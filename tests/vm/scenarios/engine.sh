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

a_queue_that_does_not_poll_is_left_alone() {
    is 'its io_poll attribute' "$(cat /sys/block/nullb0/queue/io_poll)" 0
    before=$(cat /sys/block/nullb0/stat)
    gauge 3 bench /dev/nullb0 --size 16MiB --confirm nullb0:1073741824 --polled --no-fill
    says 'does not support polling'
    says 'nvme.poll_queues'
    is 'the number of writes sent to it' "$(awk '{ print $5 }' /sys/block/nullb0/stat)" "$(echo $before | awk '{ print $5 }')"
}

scenarios a_queue_that_polls_is_asked_for_its_completions a_queue_that_does_not_poll_is_left_alone
