# Words for scenarios: what a scenario does and what must come of it.
#
# A scenario is a function; `scenarios` runs each in a folder of its own and prints a line,
# "ok NAME" or "FAILED NAME: why". A theme is a file of scenarios that share one machine; its first
# lines say which ("# vm: OPTIONS"). A new scenario is a function and its name in the last line.

# What the command line names: only these scenarios shall run.
only=$*

# Ends the scenario.
fail() {
    echo "$*" >why
    [ -z "${gauge_pid:-}" ] || kill -9 "$gauge_pid" 2>/dev/null
    exit 1
}

# gauge CODE ARGUMENT...: calls the program, which must end with CODE. Its words are kept in `talk`,
# what it prints in `out`.
gauge() {
    expected=$1
    shift
    code=0
    ssdgauge "$@" >out 2>talk || code=$?
    [ "$code" = "$expected" ] || fail "ssdgauge $*: exit $code, not $expected: $(tail -n 4 talk)"
}

# gauge_later ARGUMENT...: begins the program and goes on; `gauge_ends CODE` waits for its end.
gauge_later() {
    ssdgauge "$@" >out 2>talk &
    gauge_pid=$!
}
gauge_ends() {
    code=0
    wait "$gauge_pid" || code=$?
    [ "$code" = "$1" ] || fail "exit $code, not $1: $(tail -n 4 talk)"
}

# says WORDS: the program must have said so.
says() {
    grep -q -e "$1" talk || fail "it does not say '$1': $(tail -n 4 talk)"
}

# sql FILE QUERY: prints the answer of a run file.
sql() {
    sqlite3 "$1" "$2" || fail "no answer: $2"
}

# is WHAT IS EXPECTED: both must be equal.
is() {
    [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"
}

# at_least WHAT IS LEAST: whole numbers.
at_least() {
    [ "$2" -ge "$3" ] || fail "$1 is $2, less than $3"
}

# finds FILE KIND [WORDS]: the run must have such a finding.
finds() {
    found=$(sql "$1" "SELECT count(*) FROM finding WHERE kind='$2' AND text LIKE '%${3:-}%'")
    at_least "the number of findings '$2' with '${3:-}' ($(sql "$1" 'SELECT kind, text FROM finding'))" \
        "$found" 1
}

# until_true COMMAND...: waits for it, 20 s at most.
until_true() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || fail "in vain: $*; it said: $(tail -n 4 talk)"
        sleep 0.1
    done
}

# runs_step FILE LABEL: whether a step of that label runs now.
runs_step() {
    [ -s "$1" ] && [ -n "$(sqlite3 "$1" "SELECT 1 FROM step WHERE label='$2' AND state='running'" 2>/dev/null)" ]
}

# measures FILE: whether a measuring step runs now.
measures() {
    running="SELECT 1 FROM step WHERE phase_kind='measure' AND state='running'"
    [ -s "$1" ] && [ -n "$(sqlite3 "$1" "$running" 2>/dev/null)" ]
}

# sectors DRIVE: prints the 512-byte sectors that were written to it.
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

# scenarios NAME...: runs them all, or those that $only names; the status tells whether all went
# well.
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
