# Functions for scenarios: actions and expectations.
#
# A scenario is a function; `scenarios` runs each in a folder of its own and prints a line,
# "ok NAME" or "FAILED NAME: reason". A theme is a file of scenarios that share one machine; its first
# lines list the options of the machine ("# vm: OPTIONS"). A new scenario is a function and its name in the last line.

# Names of scenarios on the command line: only these run.
only=$*

# fail REASON...: ends the scenario as failed.
fail() {
    echo "$*" >why
    [ -z "${gauge_pid:-}" ] || kill -9 "$gauge_pid" 2>/dev/null
    exit 1
}

# gauge CODE ARGUMENT...: runs the program, which must end with CODE. Its stderr is saved in `talk`, its
# stdout in `out`.
gauge() {
    expected=$1
    shift
    code=0
    ssdgauge "$@" >out 2>talk || code=$?
    [ "$code" = "$expected" ] || fail "ssdgauge $*: exit $code, not $expected: $(tail -n 4 talk)"
}

# gauge_later ARGUMENT...: starts the program in the background; `gauge_ends CODE` waits for its end.
gauge_later() {
    ssdgauge "$@" >out 2>talk &
    gauge_pid=$!
}
gauge_ends() {
    code=0
    wait "$gauge_pid" || code=$?
    [ "$code" = "$1" ] || fail "exit $code, not $1: $(tail -n 4 talk)"
}

# says PATTERN: stderr of the program must match it.
says() {
    grep -q -e "$1" talk || fail "no message matches '$1': $(tail -n 4 talk)"
}

# sql FILE QUERY: prints the result of a query on a run file.
sql() {
    sqlite3 "$1" "$2" || fail "the query failed: $2"
}

# is SUBJECT ACTUAL EXPECTED: both values must be equal.
is() {
    [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}

# at_least SUBJECT ACTUAL MINIMUM: whole numbers.
at_least() {
    [ "$2" -ge "$3" ] || fail "$1 is $2, less than $3"
}

# finds FILE KIND [WORDS]: the run must have a finding of this kind that contains WORDS.
finds() {
    found=$(sql "$1" "SELECT count(*) FROM finding WHERE kind='$2' AND text LIKE '%${3:-}%'")
    at_least "the number of findings '$2' with '${3:-}' ($(sql "$1" 'SELECT kind, text FROM finding'))" \
        "$found" 1
}

# until_true COMMAND...: repeats the command until it succeeds, for five minutes at most: an emulated
# machine beside other programs is slow.
until_true() {
    last=$(($(cut -d. -f1 /proc/uptime) + 300))
    until "$@"; do
        [ "$(cut -d. -f1 /proc/uptime)" -lt $last ] ||
            fail "not true within five minutes: $*; last messages: $(tail -n 4 talk)"
        sleep 0.1
    done
}

# runs_step FILE LABEL: succeeds while a step with this label is running.
runs_step() {
    [ -s "$1" ] && [ -n "$(sqlite3 "$1" "SELECT 1 FROM step WHERE label='$2' AND state='running'" 2>/dev/null)" ]
}

# measures FILE [TEST]: succeeds while a measuring step is running, of this test if one is named.
measures() {
    running="SELECT 1 FROM step WHERE phase_kind='measure' AND state='running' AND test_id LIKE '${2:-%}'"
    [ -s "$1" ] && [ -n "$(sqlite3 "$1" "$running" 2>/dev/null)" ]
}

# has_stored FILE: succeeds once a measuring step that runs has stored a second.
has_stored() {
    second="SELECT 1 FROM interval JOIN step ON step.id = step_id WHERE phase_kind='measure' AND state='running' LIMIT 1"
    [ -s "$1" ] && [ -n "$(sqlite3 "$1" "$second" 2>/dev/null)" ]
}

# blank DEVICE: overwrites it with zeros, to remove data of earlier scenarios.
blank() {
    dd if=/dev/zero of="$1" bs=1M conv=fsync 2>/dev/null
}

# sectors DRIVE: prints the number of 512-byte sectors written to it.
sectors() {
    awk '{ print $7 }' "/sys/block/$1/stat"
}

# suite NAME SPAN READ_PERCENT TIME [MORE]: writes a suite of one test, a fill and one step.
suite() {
    cat >"$1.toml" <<END
[suite]
id = "$1"
revision = 1
title = "A scenario"
prepare = [{ fill = "sequential", span = "$2", block_size = "128KiB" }]
[[test]]
id = "load"
revision = 1
title = "Load"
stream = { access = "random", block_size = "4KiB", read_percent = $3, queue_depth = 4, span = "$2" }
until = { time = "$4" }
score = { mean_of = "iops" }
${5:-}
END
}

# scenarios NAME...: runs them all, or only those in $only. Status 0 if all passed.
scenarios() {
    status=0
    [ -z "$only" ] || eval "set -- $only"
    for scenario; do
        mkdir -p "/tmp/$scenario"
        began=$(cut -d. -f1 /proc/uptime)
        if (cd "/tmp/$scenario" && "$scenario"); then
            echo "ok $scenario ($(($(cut -d. -f1 /proc/uptime) - began)) s)"
        else
            echo "FAILED $scenario: $(cat "/tmp/$scenario/why" 2>/dev/null)"
            status=1
        fi
        rm -rf "/tmp/$scenario"
    done
    return $status
}
