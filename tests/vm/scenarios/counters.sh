#!/bin/sh
# NVMe drives behind TCP on the port $NVME_PORT outside, whose counters the test sets: media writes.
# vm: --module virtio_net --module nvme_tcp --module crc32c_generic
# vm: --qemu "-netdev user,id=net -device virtio-net-pci,netdev=net" --append "target.port=$NVME_PORT"
. /usr/bin/expect.sh

# connected NAME: connects the drive NAME, and prints its kernel name.
connected() {
    port=$(sed -n 's/.*target.port=\([0-9]*\).*/\1/p' /proc/cmdline)
    printf 'transport=tcp,traddr=10.0.2.2,trsvcid=%s,nqn=nqn.2026-01.test:%s,nr_io_queues=1' \
        "$port" "$1" >/dev/nvme-fabrics || fail "$1 was not connected"
    serial=$(echo "$1" | tr a-z A-Z)
    until_true drive_of "$serial" >/dev/null
    drive_of "$serial"
}

# drive_of SERIAL: prints the kernel name of the namespace of this drive.
drive_of() {
    for folder in $(ls -d /sys/block/nvme*n1 2>/dev/null); do
        [ "$(tr -d ' ' <"$folder/device/serial" 2>/dev/null)" != "$1" ] || { basename "$folder" && return 0; }
    done
    return 1
}

# writes DRIVE SERIAL: a run that fills the drive and writes 60 MB at random.
writes() {
    cat >writes.toml <<END
[suite]
id = "writes"
revision = 1
title = "Writes"
prepare = [{ fill = "sequential", span = "16MiB", block_size = "64KiB" }]
[[test]]
id = "write"
revision = 1
title = "Write"
stream = { access = "random", block_size = "64KiB", read_percent = 0, queue_depth = 4, span = "16MiB" }
until = { bytes = "60MB" }
score = { mean_of = "iops" }
END
    gauge 0 run writes.toml "/dev/$1" --confirm "$2" --out run.ssdg --endurance-share 100
}

the_write_amplification_is_that_of_the_counters_of_the_drive() {
    drive=$(connected honest)
    gauge 0 drives "/dev/$drive" --json
    grep -q '"media_written_bytes": 3000' out || fail "the description: $(grep -n media out)"
    writes "$drive" HONEST
    # The host counter of the drive is rounded up to 512,000 bytes.
    is 'media ÷ hosts within 2 % of 3' "$(sql run.ssdg "SELECT abs(sum(value * (quantity = 'step_media_bytes'))
        / sum(value * (quantity = 'step_host_bytes')) - 3) < 0.06 FROM reading JOIN step ON step.id = step_id
        WHERE phase_kind='measure'")" 1
    is 'the findings of the counters' \
        "$(sql run.ssdg "SELECT count(*) FROM finding WHERE kind='counter-drift'")" 0
    gauge 0 report run.ssdg --json
    grep -q '"source": "OCP extended SMART log C0h"' out || fail "the source: $(grep -n source out)"
    grep -q '"kind": "of-counters"' out || fail "no interval of the counters"
}

a_counter_that_disagrees_with_the_run_is_a_finding() {
    drive=$(connected doubles)
    writes "$drive" DOUBLES
    finds run.ssdg counter-drift 'this program sent 60.0 MB'
}

ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
scenarios the_write_amplification_is_that_of_the_counters_of_the_drive a_counter_that_disagrees_with_the_run_is_a_finding
