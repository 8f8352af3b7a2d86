#!/bin/sh
# Instruments: real drivers of sensor chips on an emulated bus, the sensor of an NVMe drive, and their
# readings in the efficiency of a drive.
# vm: --nvme 64M,serial=WARM --copy nvme
# vm: --module 'i2c-stub chip_addr=0x6f,0x48' --module i2c-dev --module ltc4151 --module lm75
. /usr/bin/expect.sh

# chips: finds the emulated bus, and binds the real drivers to the chips on it: an LTC4151 at 12 V and
# 0.4 A (with 1 milliohm), an LM75 at 25 degrees.
chips() {
    for adapter in /sys/bus/i2c/devices/i2c-*; do
        ! grep -q stub "$adapter/name" || bus=${adapter##*-}
    done
    [ -n "${bus:-}" ] || fail 'there is no emulated bus'
    # Input voltage in steps of 25 mV, twelve bits, most significant bit first.
    i2cset -f -y "$bus" 0x6f 2 0x1e b
    i2cset -f -y "$bus" 0x6f 3 0x00 b
    current 0x40
    i2cset -f -y "$bus" 0x48 0 0x0019 w
    for chip in ltc4151:6f lm75:48; do
        place=/sys/bus/i2c/devices/$bus-00${chip#*:}
        [ -e "$place" ] || echo "${chip%:*} 0x${chip#*:}" >"/sys/bus/i2c/devices/i2c-$bus/new_device"
        until_true test -e "$place/hwmon"
    done
}

# current LOW: sets the low byte of the current: 0.32 A plus steps of 20 mA from bit 4 on.
current() {
    i2cset -f -y "$bus" 0x6f 0 0x01 b
    i2cset -f -y "$bus" 0x6f 1 "$1" b
}

# changing: varies the current between 0.34 and 0.40 A until it is killed.
changing() {
    while :; do
        for low in 0x10 0x20 0x30 0x40; do
            current $low
            sleep 0.2
        done
    done
}

# json FILE PATH: prints the value at this path.
json() {
    sqlite3 :memory: "SELECT json_extract(CAST(readfile('$1') AS TEXT), '$2')" || fail "no $2 in $1"
}

# measured NAME TIME: writes a suite with a fill, reads for this time, and their efficiency.
measured() {
    suite "$1" 16MiB 100 "$2"
    sed -i 's/mean_of = "iops"/mean_of = "efficiency_mb_s_w"/' "$1.toml"
    echo 'figures = ["ranking"]' >>"$1.toml"
}

real_sensor_chips_are_listed_and_read() {
    chips
    gauge 0 meters
    for line in 'ltc4151 *in1 .* 12.0 V' "ltc4151 *curr1 .* 0.400 A *--power='hwmon:hwmon[0-9]*/in1\*curr1'" \
        'lm75 *temp1 .* 25.0 °C' \
        'nvme *temp1 *Composite .* 49.9 °C'; do
        grep -q "$line" out || fail "no line '$line': $(cat out)"
    done
    gauge 0 meters 'hwmon:ltc4151/in1*curr1' --for 2s --json
    tail -n 1 out >last
    is 'the power' "$(sqlite3 :memory: "SELECT round(json_extract(CAST(readfile('last') AS TEXT), '$.power_w'), 6)")" 4.8
    gauge 3 meters hwmon:ltc4151/power1 --for 1s
    says 'ltc4151 has no power1'
}

temperature_and_power_of_every_second_reach_the_efficiency() {
    chips
    changing &
    changes=$!
    trap 'kill $changes 2>/dev/null' EXIT
    measured efficiency 5s
    # On a busy host the machine stands still for a moment, which makes a result invalid: not the question here.
    for attempt in 1 2 3 4 5; do
        rm -f a.ssdg a.html
        gauge 0 run efficiency.toml /dev/nvme0n1 --confirm WARM --erase WARM --out a.ssdg \
            --power 'name=riser@hwmon:ltc4151/in1*curr1' \
            --power "name=plug,scope=host-ac@command:sh -c 'while :; do echo 81; echo 79; sleep 0.2; done'"
        [ "$(sql a.ssdg "SELECT count(*) FROM finding WHERE severity='invalid'")" != 0 ] || break
        echo "attempt $attempt: $(sql a.ssdg "SELECT kind FROM finding WHERE severity='invalid'")"
    done
    in_step="FROM reading JOIN step ON step_id = step.id WHERE phase_kind='measure'"
    for quantity in temperature_c power_w host_ac_power_w; do
        seconds=$(sql a.ssdg "SELECT count(DISTINCT at_ns / 1000000000) $in_step AND quantity='$quantity'")
        at_least "the seconds with $quantity" "$seconds" 4
    done
    rate="SELECT json_extract(details, '\$.details.temperature_every_s') FROM drive"
    is 'the rate of the temperature' "$(sql a.ssdg "$rate")" 1
    is 'the temperature' "$(sql a.ssdg "SELECT max(value) $in_step AND quantity='temperature_c'")" 49.85
    gauge 0 report a.ssdg --json
    cp out r.json
    test='$.runs[0].tests[0]'
    metric() {
        json r.json "$test.points[0].metrics.$1"
    }
    power=$(metric power_w)
    # The mean of the varying current lies between its minimum and maximum.
    is "the power $power" "$(awk "BEGIN { print ($power > 4.08 && $power < 4.8) }")" 1
    expected=$(awk "BEGIN { printf \"%.3f\", $(metric throughput_mb_s) / $power }")
    headline=$(json r.json "$test.headline.value")
    is 'the efficiency' "$(awk "BEGIN { printf \"%.3f\", $headline }")" "$expected"
    is 'the energy' "$(awk "BEGIN { e = $(metric energy_j) / ($power * 5); print (e > 0.9 && e < 1.1) }")" 1
    gauge 0 report a.ssdg -o a.html
    for words in '>Efficiency<' 'power over time' \
        'temperature over time' 'instrument: riser'; do
        grep -q "$words" a.html || fail "the page does not contain '$words'"
    done
}

a_chip_that_is_unplugged_in_mid_test_costs_a_finding() {
    chips
    measured unplugged 6s
    gauge_later run unplugged.toml /dev/nvme0n1 --confirm WARM --out a.ssdg \
        --power 'name=riser@hwmon:ltc4151/in1*curr1'
    until_true measures a.ssdg
    sleep 2
    echo 0x6f >"/sys/bus/i2c/devices/i2c-$bus/delete_device"
    gauge_ends 0
    finds a.ssdg meter 'riser is gone'
    gauge 3 meters 'hwmon:ltc4151/in1*curr1'
    says 'no chip is called ltc4151'
}

a_chip_that_never_moves_is_doubted() {
    chips
    current 0x40
    measured stuck 23s
    gauge 0 run stuck.toml /dev/nvme0n1 --confirm WARM --out a.ssdg \
        --power 'name=riser@hwmon:ltc4151/in1*curr1'
    finds a.ssdg meter 'riser read exactly 4.8'
}

a_drive_that_grows_too_hot_in_a_step_is_told() {
    suite hot 16MiB 100 8s
    gauge_later run hot.toml /dev/nvme0n1 --confirm WARM --health-every 1 --out a.ssdg
    until_true measures a.ssdg
    sleep 2
    # The drive is at 49.85 degrees (323 K), and warns above 310 K.
    nvme set-feature /dev/nvme0 -f 4 -v 310 >/dev/null || fail 'the threshold was not set'
    gauge_ends 0
    finds a.ssdg health-warning 'a critical warning of the drive appeared in this step'
    finds a.ssdg throttled 'nvme alarm was on in'
    gauge 0 drives /dev/nvme0n1
    grep -q 'WARNING: the drive reports a critical warning' out || fail "no warning in the drive description: $(head -n 5 out)"
    gauge 0 report a.ssdg -o a.html
    grep -q 'a critical warning of the drive appeared' a.html || fail 'the page has no warning'
    nvme set-feature /dev/nvme0 -f 4 -v 343 >/dev/null
}

scenarios real_sensor_chips_are_listed_and_read \
    temperature_and_power_of_every_second_reach_the_efficiency \
    a_chip_that_is_unplugged_in_mid_test_costs_a_finding a_chip_that_never_moves_is_doubted \
    a_drive_that_grows_too_hot_in_a_step_is_told
