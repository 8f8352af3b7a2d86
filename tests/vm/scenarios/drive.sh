#!/bin/sh
# Drive commands: the drive description compared with nvme-cli, purge, trim, health, removal.
# vm: --nvme 64M,serial=FORMAT --nvme 3G,serial=GONE --nvme 256M,serial=LEFT --copy nvme
# vm: --module ahci --module sd_mod --module 'scsi_debug lbpu=0 dev_size_mb=32' --module loop
# vm: --module dm-mod --module dm-unstripe --copy dmsetup
# vm: --qemu "$(truncate -s 64M "$work/sata" "$work/one" "$work/two" "$work/three")-device ich9-ahci,id=ahci -drive if=none,id=sata,file=$work/sata,format=raw,discard=unmap -device ide-hd,bus=ahci.0,drive=sata,serial=SATA1 -drive if=none,id=one,file=$work/one,format=raw,discard=unmap -drive if=none,id=two,file=$work/two,format=raw,discard=unmap -device nvme,id=twins,serial=TWINS -device nvme-ns,drive=one,bus=twins,nsid=1 -device nvme-ns,drive=two,bus=twins,nsid=2 -device nvme-subsys,id=paths -device pcie-root-port,id=way1,chassis=91,slot=91 -device pcie-root-port,id=way2,chassis=92,slot=92 -device nvme,id=left,bus=way1,subsys=paths,serial=PATHS -device nvme,id=right,bus=way2,subsys=paths,serial=PATHS -drive if=none,id=three,file=$work/three,format=raw,discard=unmap -device nvme-ns,drive=three,bus=left,nsid=1"
. /usr/bin/expect.sh

# card DRIVE: saves its drive description as JSON in `out`, one value per line.
card() {
    gauge 0 drives "$1" --json
}

# fact KEY: prints a value of the description in `out`, without quotes.
fact() {
    sed -n "s/^ *\"$1\": \(.*[^,[{]\),\{0,1\}$/\1/p" out | head -n 1 | tr -d '"'
}

# told FILE KEY: prints a value of nvme-cli's JSON, without quotes.
told() {
    sed -n "s/^ *\"$2\" *: *\(.*[^,]\),\{0,1\}$/\1/p" "$1" | head -n 1 | tr -d '"' | sed 's/ *$//'
}

# named SERIAL: prints the kernel name of the first namespace of this drive, because the kernel probes
# drives in any order.
named() {
    for folder in /sys/class/nvme/nvme*; do
        [ "$(tr -d ' ' <"$folder/serial")" != "$1" ] || basename "$folder"/nvme*n1
    done
}

# confirmation NAME: prints the confirmation of this drive.
confirmation() {
    ssdgauge drives --json >list
    sed -n "/\"confirm\"/h; /\"path\": \"\/dev\/$1\"/{x;p;}" list | sed 's/.*: "\(.*\)".*/\1/'
}

# sum EXPRESSION: prints the value of an arithmetic expression with fractions.
sum() {
    awk "BEGIN { print $1 }"
}

the_card_says_what_nvme_cli_says() {
    drive=$(named FORMAT)
    card "/dev/$drive"
    nvme id-ctrl "/dev/$drive" -o json >ctrl
    nvme id-ns "/dev/$drive" -o json >ns
    nvme smart-log "/dev/$drive" -o json >smart
    is 'the model' "$(fact model)" "$(told ctrl mn)"
    is 'the serial' "$(fact serial)" "$(told ctrl sn)"
    is 'the firmware' "$(fact firmware)" "$(told ctrl fr)"
    version=$(told ctrl ver)
    is 'the version' "$(fact nvme_version)" "$((version >> 16)).$((version >> 8 & 255)).$((version & 255))"
    is 'the manufacturer' "$(fact ieee_oui)" "$(printf %06x "$(told ctrl ieee)")"
    is 'the vendor' "$(fact vendor_id)" "$(printf %04x:%04x "$(told ctrl vid)" "$(told ctrl ssvid)")"
    is 'the controller' "$(fact controller_id)" "$(told ctrl cntlid)"
    is 'the firmware slots' "$(fact firmware_slots)" $(($(told ctrl frmw) >> 1 & 7))
    is 'the subsystem' "$(fact subsystem_name)" "$(told ctrl subnqn)"
    is 'the size of the error log' "$(fact error_log_room)" $(($(told ctrl elpe) + 1))
    is 'the maximum number of namespaces' "$(fact most_namespaces)" "$(told ctrl nn)"
    is 'the maximum data transfer size' "$(fact most_transfer_bytes)" $((4096 << $(told ctrl mdts)))
    is 'the warning temperature' "$(fact warning_c)" "$(sum "$(told ctrl wctemp) - 273.15")"
    is 'the critical temperature' "$(fact critical_c)" "$(sum "$(told ctrl cctemp) - 273.15")"
    is 'the maximum power' "$(fact most_w)" "$(awk "BEGIN { printf \"%.1f\", $(told ctrl max_power) / 100 }")"
    is 'the entry latency' "$(fact entry_us)" "$(told ctrl entry_lat)"
    is 'the exit latency' "$(fact exit_us)" "$(told ctrl exit_lat)"
    is 'the formats' "$(grep -c '"metadata_bytes"' out)" $(($(told ns nlbaf) + 1))
    is 'the cryptographic format' "$(fact format_cryptographic)" "$([ $(($(told ctrl fna) & 4)) = 4 ] && echo true || echo false)"
    is 'the write cache' "$(fact volatile_write_cache)" "$([ $(($(told ctrl vwc) & 1)) = 1 ] && echo true || echo false)"
    is 'the sanitize' "$(fact sanitize) $(told ctrl sanicap)" 'none 0'
    is 'the capacity' "$(fact capacity_bytes)" $(($(told ns nsze) * 512))
    is 'the bytes in use' "$(fact used_bytes)" $(($(told ns nuse) * 512))
    is 'the read value of trimmed blocks' "$(fact trimmed_reads_as) $(told ns dlfeat)" 'zeros 1'
    is 'the temperature' "$(fact temperature_c)" "$(sum "$(told smart temperature) - 273.15")"
    is 'the spare' "$(fact spare_percent)" "$(told smart avail_spare)"
    is 'the wear' "$(fact used_percent)" "$(told smart percent_used)"
    for pair in media_errors:media_errors power_on_hours:power_on_hours power_cycles:power_cycles \
        unsafe_shutdowns:unsafe_shutdowns error_log_entries:num_err_log_entries \
        write_commands:host_write_commands busy_minutes:controller_busy_time \
        warning_minutes:warning_temp_time critical_minutes:critical_comp_time \
        light_throttles:thm_temp1_trans_count heavy_throttle_s:thm_temp2_total_time; do
        is "${pair%:*}" "$(fact "${pair%:*}")" "$(told smart "${pair#*:}")"
    done
    is 'the hwmon sensor' "$(fact sensor_1_c)" 49.85
    is 'the link' "$(fact pcie_speed_gt_s) $(fact pcie_lanes)" \
        "$(fact pcie_most_speed_gt_s) $(fact pcie_most_lanes)"
    is 'the hardware queues' "$(fact hardware_queues)" "$(ls "/sys/block/$drive/mq" | wc -l)"
    is 'an unsupported feature' "$(fact opal)" null
    gauge 0 drives "$drive"
    grep -q 'not available: the drive has no security commands' out || fail 'an unavailable value has no reason'
}

# The kernel hides the two paths below one multipath head, which has no link, queue or sensor.
a_drive_with_two_paths_is_shown_through_its_controllers() {
    head=
    for folder in /sys/class/nvme-subsystem/*; do
        [ "$(tr -d ' ' <"$folder/serial")" != PATHS ] || head=$(basename "$folder"/nvme*n1)
    done
    [ -b "/dev/$head" ] || fail "there is no multipath head: $(ls /dev/nvme*)"
    card "/dev/$head"
    is 'the serial' "$(fact serial)" PATHS
    is 'the number of paths' "$(fact paths)" 2
    grep -q '"controller": "nvme[0-9]*"' out || fail 'no controller'
    is 'the link' "$(fact pcie_speed_gt_s) $(fact pcie_lanes)" '2.5 1.0'
    is 'the hwmon sensor' "$(fact sensor_1_c)" 49.85
    is 'the scheduler' "$(fact scheduler)" none
    at_least 'the queue size' "$(fact requests)" 1
}

# purges NAME [MORE]: writes a suite with fill, trim, purge, the entries MORE, and a short load.
purges() {
    cat >"$1.toml" <<END
[suite]
id = "$1"
revision = 1
title = "A scenario"
[[test]]
id = "load"
revision = 1
title = "Load"
prepare = [
    { fill = "sequential", span = "4MiB" }, { trim = true, span = "8MiB" }, { purge = true },
    ${2:-}
]
stream = { access = "random", block_size = "4KiB", read_percent = 70, queue_depth = 4, span = "4MiB" }
until = { time = "2s" }
score = { mean_of = "iops" }
END
}

# way FILE PHASE: prints the method of this phase.
way() {
    sql "$1" "SELECT json_extract(report, '\$.method') FROM step WHERE phase_kind='$2' LIMIT 1"
}

a_drive_is_trimmed_formatted_and_filled_end_to_end() {
    drive=$(named FORMAT)
    quarter='{ fill = "random", span = "25%", block_size = "64KiB" }'
    purges erase "$quarter, $quarter, { rest = \"1s\" },"
    gauge 0 run erase.toml "/dev/$drive" --confirm FORMAT --health-every 1 --out a.ssdg
    is 'the purge method' "$(way a.ssdg purge)" 'NVMe format, user data erase'
    is 'the trim method' "$(way a.ssdg trim)" 'discard, verified by reading back'
    fills="SELECT count(*) FROM step WHERE phase_kind='fill' AND state='finished'"
    is 'the number of fills' "$(sql a.ssdg "$fills")" 3
    finds a.ssdg purge-started 'user data erase was sent to'
    lied="SELECT count(*) FROM finding WHERE kind IN ('purge-not-possible', 'trim-ineffective')"
    is 'the number of ineffective purges and trims' "$(sql a.ssdg "$lied")" 0
    nvme id-ns "/dev/$drive" -o json >ns
    is 'the format of blocks' "$(told ns flbas)" 0
    written="SELECT max(value) - min(value) FROM reading WHERE quantity='host_written_bytes'"
    # 4 MiB and twice a quarter of 64 MiB, in units of 512,000 bytes.
    at_least 'the bytes written by the counter of the drive' "$(sql a.ssdg "SELECT cast(($written) AS INTEGER)")" 36000000
    within="SELECT count(*) FROM reading JOIN step ON step_id = step.id WHERE quantity='smart_temperature_c'
        AND phase_kind='measure'"
    at_least 'the readings within the load' "$(sql a.ssdg "$within")" 2
    is 'the rate of readings' "$(sql a.ssdg "SELECT json_extract(details, '\$.details.health_every_s') FROM drive")" 1
    gauge 0 report a.ssdg -o a.html
}

a_purge_goes_the_way_that_is_asked_for_or_not_at_all() {
    drive=$(named FORMAT)
    purges erase
    gauge 0 run erase.toml "/dev/$drive" --confirm FORMAT --purge discard --out b.ssdg
    is 'the purge method' "$(way b.ssdg purge)" 'discard of the whole drive, verified by reading back'
    for method in sanitize-block secure-erase; do
        gauge 3 run erase.toml "/dev/$drive" --confirm FORMAT --purge $method --out $method.ssdg
        says "cannot be purged by $method"
    done
    gauge 0 run erase.toml "/dev/$drive" --confirm FORMAT --size 48MiB --out d.ssdg
    finds d.ssdg left-unused '33.3 % of spare area'
}

a_neighbour_on_the_same_controller_is_never_formatted() {
    drive=$(named TWINS)
    neighbour=/dev/${drive%1}2
    dd if=/dev/urandom of="$neighbour" bs=1M count=64 2>/dev/null
    sync
    before=$(md5sum <"$neighbour")
    purges erase
    words=$(confirmation "$drive")
    gauge 0 run erase.toml "/dev/$drive" --confirm "$words" --out a.ssdg
    is 'the purge method' "$(way a.ssdg purge)" 'discard of the whole drive, verified by reading back'
    finds a.ssdg lesser-purge '2 namespaces in use'
    gauge 3 run erase.toml "/dev/$drive" --confirm "$words" --purge format --out b.ssdg
    says '2 namespaces in use'
    echo 3 >/proc/sys/vm/drop_caches
    is 'the neighbour' "$(md5sum <"$neighbour")" "$before"
}

a_drive_that_calls_itself_read_only_is_refused() {
    drive=$(named FORMAT)
    vm-monitor qom-set /machine/peripheral/nvme0 smart_critical_warning 8 >/dev/null
    card "/dev/$drive"
    is 'the warning' "$(fact critical_warning)" 'the media is read-only'
    purges erase
    before=$(sectors "$drive")
    gauge 3 run erase.toml "/dev/$drive" --confirm FORMAT --out a.ssdg
    says 'nothing was written'
    is 'the number of sectors written' "$(sectors "$drive")" "$before"
    vm-monitor qom-set /machine/peripheral/nvme0 smart_critical_warning 0 >/dev/null
}

# announced FILE: succeeds once a purge has started.
announced() {
    [ -s "$1" ] && [ -n "$(sqlite3 "$1" "SELECT 1 FROM finding WHERE kind='purge-started'" 2>/dev/null)" ]
}

# fills FILE: succeeds while a fill is running.
fills() {
    [ -s "$1" ] && [ -n "$(sqlite3 "$1" "SELECT 1 FROM step WHERE phase_kind='fill' AND state='running'" 2>/dev/null)" ]
}

# has_written DRIVE SECTORS: succeeds once more sectors are written than these.
has_written() {
    [ "$(sectors "$1")" -gt "$2" ]
}

# helper: prints the process id of the privileged helper of the program in the background.
helper() {
    for process in $(cat "/proc/$gauge_pid/task/$gauge_pid/children"); do
        ! grep -q privileged-helper "/proc/$process/cmdline" || echo "$process"
    done
}

# in_command PROCESS: succeeds while it waits in the kernel, as within a command.
in_command() {
    grep -q ') D ' "/proc/$1/stat"
}

# is_free DRIVE: succeeds where another program can claim the drive, such as a mapper.
is_free() {
    dmsetup create probe --table "0 8 linear /dev/$1 0" 2>why && dmsetup remove probe
}

# Each of both formats takes 43 s, as below: the signals come within the first seconds.
a_drive_that_is_formatted_stays_claimed_after_its_run_has_ended() {
    purges erase
    sed -i 's/{ fill = "sequential", span = "4MiB" }, { trim = true, span = "8MiB" }, //' erase.toml
    drive=$(named GONE)
    export DM_DISABLE_UDEV=1
    is_free "$drive" || fail "the drive is in use: $(cat why)"
    vm-monitor block_set_io_throttle disk1 0 0 50000000 0 0 0 >/dev/null
    for signal in KILL TERM; do
        gauge_later run erase.toml "/dev/$drive" --confirm GONE --out $signal.ssdg
        until_true announced $signal.ssdg
        helper=$(helper)
        until_true in_command "$helper"
        kill -$signal $gauge_pid
        gauge_ends "$([ $signal = KILL ] && echo 137 || echo 75)"
        in_command "$helper" || fail "$signal: the format has ended already"
        ! is_free "$drive" || fail "$signal: another program could claim the drive while it is formatted"
        until_true test ! -e "/proc/$helper"
        is_free "$drive" || fail "$signal: the drive stays claimed: $(cat why)"
    done
    says 'holds the claim of the drive until'
    vm-monitor block_set_io_throttle disk1 0 0 0 0 0 0 >/dev/null
}

# The emulated drive erases 2 GiB at a time. Its throttle delays the second part by 43 s of the host, beside
# which the machine may be slow.
a_drive_that_leaves_while_it_is_formatted_is_gone() {
    purges erase
    sed -i 's/{ fill = "sequential", span = "4MiB" }, { trim = true, span = "8MiB" }, //' erase.toml
    vm-monitor block_set_io_throttle disk1 0 0 50000000 0 0 0 >/dev/null
    gauge_later run erase.toml "/dev/$(named GONE)" --confirm GONE --out a.ssdg
    until_true announced a.ssdg
    vm-monitor device_del nvme1 >/dev/null
    gauge_ends 1
    says 'is gone'
    finds a.ssdg drive-gone
    is 'the state of the last step' "$(sql a.ssdg 'SELECT state FROM step ORDER BY id DESC LIMIT 1')" broken
    at_least 'three, against the number of messages about failed requests' 3 "$(grep -c failed talk)"
    at_least 'three, against the number of messages about the drive' 3 "$(grep -c 'is gone' talk)"
    gauge 3 resume a.ssdg
    says 'nothing was written'
}

a_drive_that_leaves_while_it_is_filled_is_gone() {
    purges full
    sed -i 's/^prepare = \[$/prepare = [ { fill = "sequential", span = "100%" },/' full.toml
    vm-monitor block_set_io_throttle disk2 0 0 1000000 0 0 0 >/dev/null
    drive=$(named LEFT)
    before=$(sectors "$drive")
    gauge_later run full.toml "/dev/$drive" --confirm LEFT --out a.ssdg
    until_true fills a.ssdg
    # A step that has begun may still wait for readers of the run file.
    until_true has_written "$drive" "$before"
    vm-monitor device_del nvme2 >/dev/null
    gauge_ends 1
    says 'is gone'
    finds a.ssdg drive-gone
    is 'the state of the fill' "$(sql a.ssdg "SELECT state FROM step WHERE phase_kind='fill'")" broken
    at_least 'three, against the number of messages about failed requests' 3 "$(grep -c failed talk)"
    at_least 'three, against the number of messages about the drive' 3 "$(grep -c 'is gone' talk)"
}

a_sata_drive_has_a_card_and_is_purged() {
    card /dev/sda
    is 'the serial' "$(fact serial)" SATA1
    is 'the confirmation' "$(confirmation sda)" SATA1
    is 'the model' "$(fact model)" 'QEMU HARDDISK'
    is 'the transport' "$(fact transport)" sata
    is 'the trim' "$(fact trim)" true
    is 'the power log' "$(grep -c measured_power out)" 0
    is 'an attribute' "$(grep -c 'power-on hours' out)" 1
    # QEMU's drive answers SMART RETURN STATUS with 4Fh C2h.
    is 'the overall health' "$(fact overall_health)" passed
    is 'the health' "$(ssdgauge doctor /dev/sda 2>talk | grep -c 'no warning of the drive')" 1
    purges erase
    gauge 0 run erase.toml /dev/sda --confirm "$(confirmation sda)" --out a.ssdg
    is 'the purge method' "$(way a.ssdg purge)" 'discard of the whole drive, verified by reading back'
    gauge 3 run erase.toml /dev/sda --confirm "$(confirmation sda)" --purge secure-erase --out b.ssdg
    says 'the drive has no ATA security'
}

# saving POLICY: succeeds while the link of the SATA drive has this power management policy.
saving() {
    [ "$(cat "$policy")" = "$1" ]
}

the_power_saving_of_a_link_is_put_back_even_after_a_kill() {
    host=$(readlink -f /sys/block/sda/device | sed 's,.*/\(host[0-9]*\)/.*,\1,')
    policy=/sys/class/scsi_host/$host/link_power_management_policy
    echo medium_power >"$policy"
    cat >save.toml <<END
[suite]
id = "save"
revision = 1
title = "A scenario"
[[test]]
id = "idle"
revision = 1
title = "Idle"
prepare = [{ power = "active" }]
idle = "2s"
score = { metric = "power_w", mean_of_last = "1s" }
END
    gauge 0 run save.toml /dev/sda --confirm SATA1 --out a.ssdg \
        --power "name=shunt@command:sh -c 'while :; do echo 4; echo 5; sleep 0.2; done'"
    is 'the policy after a run' "$(cat "$policy")" medium_power
    is 'the policy during a run' "$(sql a.ssdg "SELECT json_extract(report, '\$.method') FROM step WHERE report LIKE '%SATA%' LIMIT 1")" \
        'SATA link max_performance'
    # The setting lasts until the kill, however slow the host is.
    sed 's/idle = "2s"/idle = "1h"/' save.toml >long.toml
    gauge_later run long.toml /dev/sda --confirm SATA1 --out b.ssdg \
        --power "name=shunt@command:sh -c 'while :; do echo 4; echo 5; sleep 0.2; done'"
    until_true saving max_performance
    kill -9 $gauge_pid
    gauge_ends 137
    until_true saving medium_power
    # A setting that fails is a finding: this drive has one power state, and no power saving.
    sed -i 's/"active"/"PS1"/' save.toml
    gauge 0 run save.toml "/dev/$(named FORMAT)" --confirm FORMAT --out c.ssdg \
        --power "name=shunt@command:sh -c 'while :; do echo 4; echo 5; sleep 0.2; done'"
    finds c.ssdg power-state 'power state 1 could not be set'
}

# caching DRIVE NUMBER: succeeds while the drive reports its write cache as on (1) or off (0): NVMe by
# nvme-cli, SATA by Identify Device.
caching() {
    case $1 in
        nvme*) nvme get-feature "/dev/$1" -f 6 | grep -q "value:[0x]*$2\$" ;;
        *) card "/dev/$1" && [ "$(fact write_cache_on)" = "$([ "$2" = 1 ] && echo true || echo false)" ] ;;
    esac
}

the_write_cache_is_put_back_even_after_a_kill() {
    for drive in "$(named FORMAT)" sda; do
        caching "$drive" 1 || fail "$drive: the cache is not on"
        purges cache
        sed -i 's/^prepare = \[$/prepare = [ { write_cache = "off" },/' cache.toml
        words=$(confirmation "$drive")
        gauge 0 run cache.toml "/dev/$drive" --confirm "$words" --out "$drive.ssdg"
        is "$drive: the write cache during a run" "$(way "$drive.ssdg" cache)" 'write cache off'
        caching "$drive" 1 || fail "$drive: the cache is not on after a run"
        # The setting lasts until the kill, however slow the host is.
        sed 's/^until = .*/until = { time = "1h" }/' cache.toml >long.toml
        gauge_later run long.toml "/dev/$drive" --confirm "$words" --out "$drive-killed.ssdg"
        until_true caching "$drive" 0
        kill -9 $gauge_pid
        gauge_ends 137
        blank "/dev/$drive"
        until_true caching "$drive" 1
    done
}

# without_trim FILE DEVICE WORDS: trims it, which must fail with a finding that contains WORDS.
without_trim() {
    gauge 0 run erase.toml "/dev/$2" --confirm "$(confirmation "$2")" --out "$1"
    finds "$1" trim-ineffective "$3"
    finds "$1" purge-not-possible "$3"
    is 'the purge method' "$(way "$1" purge)" none
}

a_layer_that_passes_no_trims_on_is_named() {
    export DM_DISABLE_UDEV=1
    purges erase
    without_trim drive.ssdg sdb 'sdb does not support discards'
    # The switch of a loop device stays: that of a SCSI drive is reset where the kernel revalidates the
    # drive, which it does at some time behind each command that the drive rejects.
    truncate -s 64M /dev/shm/disk
    loop=$(losetup -f) && losetup "$loop" /dev/shm/disk
    device=$(basename "$loop")
    echo 0 >"/sys/block/$device/queue/discard_max_bytes"
    without_trim switch.ssdg "$device" "switched off in queue/discard_max_bytes of $device"
    losetup -d "$loop" && rm /dev/shm/disk
    # This mapper does not pass discards on.
    dmsetup create deaf --table '0 65536 unstriped 1 128 0 /dev/sda 0'
    without_trim mapper.ssdg "dm-$(dmsetup info -c --noheadings -o minor deaf)" 'the mapping dm-'
    dmsetup remove deaf
    # ramfs cannot punch holes into a file.
    mkdir ram && mount -t ramfs ramfs ram
    truncate -s 64M ram/disk
    loop=$(losetup -f) && losetup "$loop" ram/disk
    without_trim file.ssdg "$(basename "$loop")" 'does not support hole punching'
    losetup -d "$loop" && umount ram
}

scenarios the_card_says_what_nvme_cli_says a_drive_with_two_paths_is_shown_through_its_controllers \
    a_drive_is_trimmed_formatted_and_filled_end_to_end \
    a_purge_goes_the_way_that_is_asked_for_or_not_at_all \
    a_neighbour_on_the_same_controller_is_never_formatted \
    a_drive_that_calls_itself_read_only_is_refused \
    a_drive_that_is_formatted_stays_claimed_after_its_run_has_ended \
    a_drive_that_leaves_while_it_is_formatted_is_gone a_drive_that_leaves_while_it_is_filled_is_gone \
    a_sata_drive_has_a_card_and_is_purged \
    the_power_saving_of_a_link_is_put_back_even_after_a_kill \
    the_write_cache_is_put_back_even_after_a_kill a_layer_that_passes_no_trims_on_is_named
