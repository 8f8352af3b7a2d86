//! Errors of suite files: line, error and remedy.

use ssdgauge_lab::{Suite, SuiteError};

const HEAD: &str = "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\n";

fn suite(test: &str) -> Result<Suite, SuiteError> {
    let text = format!("{HEAD}[[test]]\nid = \"t\"\nrevision = 1\ntitle = \"T\"\n{test}");
    Suite::parse("own.toml", &text)
}

const STREAM: &str = "stream = { access = \"random\", block_size = \"4KiB\", read_percent = 70 }\n";
const END: &str = "until = { time = \"5s\" }\nscore = { best_of = \"iops\" }\n";

/// Expects an error in line `line` with `words` in its text or its hint.
fn check(test: &str, line: usize, words: &[&str]) {
    let error = suite(test).map(|_| ()).expect_err(test);
    let text = format!("{error} {}", error.hint);
    assert_eq!(error.line_and_column().map(|(line, _)| line), Some(line), "{text}");
    for word in words {
        assert!(text.contains(word), "'{word}' is not in: {text}");
    }
}

#[test]
fn a_correct_test_is_accepted() {
    suite(&format!("{STREAM}{END}")).unwrap();
}

#[test]
fn an_error_has_the_line_and_a_remedy() {
    let stream = |keys: &str| format!("stream = {{ access = \"random\", {keys} }}\n{END}");
    let with = |line: &str| format!("{STREAM}{line}\n{END}");
    let ended =
        |until: &str| format!("{STREAM}until = {until}\nscore = {{ best_of = \"iops\" }}\n");
    let scored = |score: &str| format!("{STREAM}until = {{ time = \"5s\" }}\nscore = {score}\n");
    check(&stream("block_size = \"4KiB\""), 9, &["no read_percent", "sweep over it"]);
    check(&stream("block_size = \"4KiBB\", read_percent = 1"), 9, &["KiBB", "MiB"]);
    check(&stream("block_size = \"1GiB\", read_percent = 1"), 9, &["out of range", "64MiB"]);
    check(&stream("block_size = \"4KiB\", read_percent = 101"), 9, &["101", "0 and 100"]);
    check(&stream("block_size = \"4KiB\", read_percent = 1, span = \"0%\""), 9, &["1% and 100%"]);
    check(&stream("blok_size = \"4KiB\""), 9, &["blok_size", "docs/reference/suites.md"]);
    let step = |keys: &str, until: &str| {
        format!("stream = {{ {keys} }}\nuntil = {{ {until} }}\nscore = {{ best_of = \"iops\" }}\n")
    };
    let trim = "operation = \"trim\", access = \"random\", block_size = \"4KiB\"";
    let flush = "operation = \"flush\"";
    suite(&step(trim, "bytes = \"1GB\"")).unwrap();
    suite(&step(flush, "time = \"5s\"")).unwrap();
    check(&step("block_size = \"4k\"", "time = \"5s\""), 9, &["no access", "sequential"]);
    let both = |keys: &str, more: &str| step(&format!("{keys}, {more}"), "time = \"5s\"");
    check(&both(trim, "read_percent = 0"), 9, &["no read_percent", "moves no data"]);
    check(&both(flush, "span = \"1GB\""), 9, &["no span", "remove `span`"]);
    check(&both(flush, "sync = true"), 9, &["flushes has no sync"]);
    check(&step(flush, "bytes = \"1GB\""), 10, &["ends by time", "move no bytes"]);
    check(&both("operation = \"erase\"", "access = \"random\""), 9, &["erase", "trim"]);
    let access = |access: &str| {
        both(&format!("access = {access}, block_size = \"4KiB\""), "read_percent = 0")
    };
    suite(&access("{ zipf = 1.2 }")).unwrap();
    suite(&access("{ zones = [[0.7, 0.1], [0.3, 0.9]] }")).unwrap();
    check(&access("{ zipf = 0 }"), 9, &["of 0 is not between", "zipf = 0.8"]);
    check(&access("{ zipf = 5.5 }"), 9, &["5.5 is not between 0.01 and 5"]);
    check(&access("{ zones = [[0.7, 0.1], [0.2, 0.9]] }"), 9, &["accesses add up to 0.9"]);
    check(&access("{ zones = [[0.7, 0.5], [0.3, 0.6]] }"), 9, &["space add up to 1.1"]);
    check(&access("{ zones = [[1.0, 0.0], [0.0, 1.0]] }"), 9, &["not above 0"]);
    check(&access("{ zones = [] }"), 9, &["there are 0 zones"]);
    check(&access("{ pareto = 0.8 }"), 9, &["zones = [["]);
    let partly = |order: &str, percent: u8| access(&format!("{order}, random_percent = {percent}"));
    suite(&partly("{ zipf = 1.2 }", 1)).unwrap();
    check(&partly("\"random\"", 0), 9, &["share of a stream with random", "1 to 100"]);
    check(&partly("\"sequential\"", 50), 9, &["share of a stream with random"]);
    check(&partly("\"random\"", 101), 9, &["101 is not a percentage"]);
    check(&both(flush, "random_percent = 50"), 9, &["no random_percent"]);
    let cpus = |cpus: &str| access(&format!("\"random\", cpus = {cpus}"));
    suite(&cpus("\"0-3,8\"")).unwrap();
    check(&cpus("\"3-0\""), 9, &["'3-0' is not a list of processors", "0-3,8"]);
    let gap = |keys: &str| {
        both(&format!("access = \"sequential\", block_size = \"4KiB\", {keys}"), "read_percent = 0")
    };
    suite(&gap("stride = \"64KiB\", think_time = \"1ms\", pulse = { on = \"1s\", off = \"20s\" }"))
        .unwrap();
    check(&gap("stride = \"2KiB\""), 9, &["not a distance", "start of the next"]);
    check(
        &both("access = \"random\", block_size = \"4KiB\", stride = \"64KiB\"", "read_percent = 0"),
        9,
        &["sequential requests of one size"],
    );
    check(&gap("think_time = \"1ms\", per_second = 10.0"), 9, &["closed loop", "remove it"]);
    check(&gap("think_time = \"21s\""), 9, &["21 s is out of range", "20s"]);
    check(&gap("pulse = { on = \"1s\", off = \"0s\" }"), 9, &["off for 0", "pulse = {"]);
    check(&gap("pulse = { on = \"1s\" }"), 9, &["off"]);
    check(&gap("pulse = \"2s\""), 9, &["expected a table"]);
    check(&both(flush, "offset = \"1GB\""), 9, &["no offset", "remove `offset`"]);
    let sizes = |sizes: &str| {
        both(&format!("access = \"random\", block_size = {sizes}"), "read_percent = 0")
    };
    suite(&sizes("{ \"4KiB\" = 60, \"16KiB\" = 30, \"128KiB\" = 10 }")).unwrap();
    check(&sizes("{ \"4KiB\" = 60, \"16KiB\" = 30 }"), 9, &["add up to 90", "up to 100"]);
    check(&sizes("{ \"4KiB\" = 50, \"4k\" = 50 }"), 9, &["listed twice"]);
    check(&sizes("{ \"8KiB\" = 50, \"12KiB\" = 50 }"), 9, &["not a multiple of the smallest"]);
    check(&sizes("{ \"4KiB\" = 101 }"), 9, &["101 is not a percentage"]);
    check(&sizes("{ \"4KiB\" = 0.5, \"8KiB\" = 0.5 }"), 9, &["0.5"]);
    check(&sizes("{ \"4 KB/s\" = 100 }"), 9, &["KB/s"]);
    check(&sizes("{}"), 9, &["no block size", "128KiB"]);
    check(&sizes("4096"), 9, &["\"4KiB\" = 90"]);
    let hot =
        "access = { zipf = 0.8 }, block_size = { \"4KiB\" = 50, \"12KiB\" = 25, \"16KiB\" = 25 }";
    check(&both(hot, "read_percent = 0"), 9, &["size of a hot block", "divisors of the largest"]);
    let flushed = "access = \"random\", block_size = \"4KiB\", flush_every = 4";
    suite(&both(flushed, "read_percent = 50")).unwrap();
    check(&both(flushed, "read_percent = 100"), 9, &["only reads"]);
    check(&both(flushed, "read_percent = 0, per_second = 5"), 9, &["closed loop", "remove"]);
    check(&both(trim, "flush_every = 1"), 9, &["trims has no flush_every"]);
    check(&both(flushed, "read_percent = 0, fua = 1"), 9, &["boolean"]);
    let rate = |keys: &str| stream(&format!("block_size = \"4k\", read_percent = 1, {keys}"));
    check(&rate("arrival = \"poisson\""), 9, &["needs a rate", "per_second"]);
    check(&rate("per_second = 0.5"), 9, &["0.5 requests", "10000000"]);
    check(&rate("per_second = 5, queue_depth = 4"), 9, &["no queue_depth"]);
    check(&rate("per_second = 5, arrival = \"burst\""), 9, &["burst", "poisson"]);
    let idle =
        |keys: &str| format!("{keys}score = {{ metric = \"power_w\", mean_of_last = \"5s\" }}\n");
    check(&idle("idle = \"0s\"\n"), 9, &["idle time of 0"]);
    check(&idle("idle = \"9s\"\nrest = { time = \"5s\" }\n"), 6, &["idle drive has no load"]);
    check(&idle("idle = \"9s\"\nsweep = { power = [\"PS32\"] }\n"), 10, &["PS32", "PS31"]);
    check(&idle("idle = \"9s\"\nrestart = \"step\"\n"), 6, &["idle times", "once, in order"]);
    check(&with("prepare = [{ power = \"low\", rest = \"5s\" }]"), 10, &["exactly one action"]);
    let cache = "prepare = [{ purge = true }, { write_cache = \"off\" }]";
    suite(&with(cache)).unwrap();
    check(&with("prepare = [{ write_cache = \"maybe\" }]"), 10, &["maybe", "`on` or `off`"]);
    check(&with("prepare = [{ write_cache = \"on\", purge = true }]"), 10, &["exactly one action"]);
    check(&with("prepare = [{ write_cache = \"on\", power = \"low\" }]"), 10, &["exactly one"]);
    check(&with(&format!("{cache}\nrestart = \"step\"")), 6, &["restarted as a whole", "restart"]);
    let rounds = |keys: &str| format!("{STREAM}rounds = {{ {keys} }}\n{END}");
    check(
        &rounds("at_most = 25, tracking = \"x\", metric = \"iops\""),
        10,
        &["label 'x'", "70 % read"],
    );
    check(
        &rounds("at_most = 25, tracking = \"70 % read\", metric = \"iops\""),
        10,
        &["without a pause", "restart"],
    );
    let search = "search = { probe = \"90s\", slice = \"1h\", above = [[\"1ms\", 5.0]] }";
    check(&with(search), 10, &["one state for all loads", "add `prepare`"]);
    let search = format!("{search}\nprepare = [{{ purge = true }}]");
    check(&with(&search), 10, &["ascending loads", "a rate"]);
    let loads = "sweep = { load = { from = 0, to = 3 } }";
    check(&with(loads), 10, &["out of range", "from 1 to 4096"]);
    check(&with("return_to_first = true\nsweep = { full_percent = [0, 50] }"), 10, &["same state"]);
    let steady = "until = { time = \"5s\", steady = { metric = \"iops\", round = \"1s\", least_passes = -1.0 } }";
    check(
        &format!("{STREAM}{steady}\nscore = {{ best_of = \"iops\" }}\n"),
        10,
        &["amount of data"],
    );
    check(&with("deviates = { rest = \"longer\" }"), 10, &["no such key"]);
    check(&scored("{ highest_borne = true }"), 11, &["needs a search"]);
    check(END, 6, &["no load", "`steps`"]);
    check(&with("sweep = { queue_depth = [] }"), 10, &["queue_depth is empty"]);
    check(
        &with("sweep = { queue_depth = [1], total_queue_depth = [1] }"),
        10,
        &["already determines", "one of them"],
    );
    check(&with("engine = \"synchronous\"\nsweep = { queue_depth = [2] }"), 10, &["threads"]);
    check(&with("prepare = [{ purge = true, trim = true }]"), 10, &["exactly one action"]);
    check(&with("prepare = [{ purge = true, span = \"5GB\" }]"), 10, &["exactly one action"]);
    check(
        &with(
            "prepare = [{ precondition = { access = \"random\", block_size = \"4k\", read_percent = 0 } }]",
        ),
        10,
        &["needs a limit", "passes"],
    );
    check(&with("chosen = [\"engine\"]"), 10, &["no such key"]);
    check(&with("repeat = 0"), 10, &["between 1 and 4096"]);
    check(&ended("{ }"), 10, &["limit above zero"]);
    check(&ended("{ steady = { metric = \"iops\", round = \"60s\" } }"), 10, &["never end"]);
    check(
        &ended("{ time = \"1h\", steady = { metric = \"iops\", round = \"1500ms\" } }"),
        10,
        &["whole seconds"],
    );
    check(
        &ended("{ time = \"1h\", steady = { metric = \"lat_p99_us\", round = \"60s\" } }"),
        10,
        &["lat_p99_us", "lat_mean_us"],
    );
    check(&scored("{ mean_of = \"speed\" }"), 11, &["'speed' is not a metric", "throughput_mb_s"]);
    check(&scored("{ mean_of = \"iops\", at = [1] }"), 11, &["position 1", "are: 70"]);
    check(&scored("{ mean_of = \"iops\", at = [] }"), 11, &["no position"]);
    check(&scored("{ mean_of = \"iops\", best_of = \"iops\" }"), 11, &["exactly one rule"]);
    check(&scored("{ knee_of = \"iops\" }"), 11, &["several queue depths"]);
    check(&scored("{ metric = \"lat_p99_us\", mean_of_last = \"4s\" }"), 11, &["cannot be summed"]);
    check(&scored("{ metric = \"iops\", mean_of_last = \"4x\" }"), 11, &["400s", "16GB"]);
}

#[test]
fn a_span_that_requests_do_not_fill_is_refused_with_the_next_shorter_one() {
    let stream = |keys: &str| format!("stream = {{ read_percent = 0, {keys} }}\n{END}");
    let random = |size: &str, span: &str| {
        stream(&format!("access = \"random\", block_size = {size}, span = \"{span}\""))
    };
    for (size, span) in [("\"128KiB\"", "64GB"), ("\"19MiB\"", "100GB"), ("\"4KiB\"", "4KiB")] {
        suite(&random(size, span)).unwrap();
    }
    check(&random("\"1MiB\"", "100KiB"), 9, &["1MiB do not fit", "span = \"1MiB\""]);
    check(&random("\"64KiB\"", "100KiB"), 9, &["the last 36KiB", "span = \"64KiB\""]);
    let several = "{ \"4KiB\" = 50, \"48KiB\" = 50 }";
    check(&random(several, "100KiB"), 9, &["48KiB leave out the last 4KiB", "span = \"96KiB\""]);
    let gaps =
        "access = \"sequential\", block_size = \"4KiB\", stride = \"64KiB\", span = \"100KiB\"";
    suite(&stream(gaps)).unwrap();
    let trims =
        "operation = \"trim\", access = \"random\", block_size = \"1MiB\", span = \"1.5MiB\"";
    check(&format!("stream = {{ {trims} }}\n{END}"), 9, &["the last 512KiB"]);
    let swept = "stream = { access = \"random\", read_percent = 0, span = \"1MiB\" }\n\
                 sweep = { block_size = [\"512KiB\", \"768KiB\"] }\n";
    check(&format!("{swept}{END}"), 10, &["768KiB leave out the last 256KiB"]);
}

#[test]
fn a_sweep_names_each_value_once_and_the_threads_that_cannot_share_a_depth() {
    let sweep = |keys: &str, values: &str| {
        format!(
            "stream = {{ access = \"random\", block_size = \"4KiB\", read_percent = 0{keys} }}\n\
             sweep = {{ {values} }}\n{END}"
        )
    };
    suite(&sweep(", threads = 4", "total_queue_depth = [1, 2, 4, 8]")).unwrap();
    check(&sweep("", "queue_depth = [1, 4, 1]"), 10, &["queue_depth has a value twice", "repeat"]);
    let depths = "total_queue_depth = [1, 2, 4, 6, 8, 5]";
    check(&sweep(", threads = 4", depths), 10, &["6 requests cannot be divided among 4 threads"]);
}

#[test]
fn the_time_of_a_step_that_ends_by_time_is_not_a_score() {
    let scored = |until: &str| {
        format!("{STREAM}until = {{ {until} }}\nscore = {{ mean_of = \"time_s\" }}\n")
    };
    suite(&scored("bytes = \"1GB\", time = \"1h\"")).unwrap();
    suite(&scored("passes = 1")).unwrap();
    check(&scored("time = \"5s\""), 11, &["ends by time", "time_s is its limit", "passes = 1"]);
}

#[test]
fn a_range_that_ends_beyond_every_target_is_refused_in_its_file() {
    let stream = |keys: &str| {
        format!(
            "stream = {{ access = \"random\", block_size = \"4KiB\", read_percent = 0, {keys} }}\n{END}"
        )
    };
    suite(&stream("offset = \"60%\", span = \"40%\"")).unwrap();
    suite(&stream("offset = \"60%\"")).unwrap();
    check(
        &stream("offset = \"60%\", span = \"50%\""),
        9,
        &["ends at 110 %", "span = \"40%\"", "no span"],
    );
}

#[test]
fn steps_and_streams_cannot_be_mixed_with_other_forms() {
    let listed = "steps = [{ label = \"a\", stream = { access = \"random\", block_size = \"4k\", \
                  read_percent = 0 }, until = { time = \"5s\" } }]\n";
    suite(&format!("{listed}score = {{ best_of = \"iops\" }}\n")).unwrap();
    check(&format!("{listed}{END}"), 9, &["their own keys"]);
    let streams = |names: [&str; 2]| {
        let stream = |name: &str| {
            format!("{{ {name} access = \"random\", block_size = \"4k\", read_percent = 0 }}")
        };
        format!("streams = [{}, {}]\n{END}", stream(names[0]), stream(names[1]))
    };
    suite(&streams(["name = \"a\",", "name = \"b\","])).unwrap();
    check(&streams(["name = \"a\",", ""]), 9, &["distinct names"]);
    check(&streams(["name = \"a\",", "name = \"a\","]), 9, &["distinct names"]);
    let swept =
        format!("{}sweep = {{ queue_depth = [1] }}\n", streams(["name = \"a\",", "name = \"b\","]));
    check(&swept, 12, &["one of several streams", "stream = \"a\"", "a, b"]);
    let both = streams(["name = \"a\",", "name = \"b\","]);
    let with = |sweep: &str| format!("{both}sweep = {{ {sweep} }}\n");
    suite(&with("stream = \"b\", queue_depth = [1]")).unwrap();
    check(&with("stream = \"c\", queue_depth = [1]"), 12, &["the name 'c'", "a, b"]);
    check(&with("stream = \"b\", power = [\"PS0\"]"), 12, &["no key of a stream"]);
    check(&with("stream = 5, queue_depth = [1]"), 12, &["string"]);
    let single = format!("{STREAM}sweep = {{ stream = \"main\", queue_depth = [1] }}\n{END}");
    check(&single, 10, &["where there are several", "remove `stream`"]);
}

#[test]
fn a_listed_step_is_a_load_with_a_limit_or_a_trim() {
    const LOAD: &str = "stream = { access = \"random\", block_size = \"4k\", read_percent = 0 }";
    const UNTIL: &str = "until = { time = \"5s\" }";
    let steps = |keys: &str, score: &str| {
        format!("steps = [{{ label = \"a\", {keys} }}]\nscore = {score}\n")
    };
    let time = "{ metric = \"time_s\", at = 1 }";
    suite(&steps("trim = \"64MB\"", time)).unwrap();
    suite(&steps("trim = \"64MB\"", "{ best_of = \"trim_gb_s\" }")).unwrap();
    check(&steps("trim = \"0%\"", time), 9, &["1% and 100%"]);
    check(&steps(&format!("trim = \"5MB\", {LOAD}"), time), 9, &["neither a stream nor a limit"]);
    check(&steps(&format!("trim = \"5MB\", {UNTIL}"), time), 9, &["neither a stream nor a limit"]);
    check(&steps(LOAD, time), 9, &["no limit", "add `until`"]);
    check(&steps(UNTIL, time), 9, &["no load", "named `streams`"]);
    let trims = steps("trim = \"5MB\"", "{ best_of = \"iops\" }");
    check(&trims, 10, &["'a' has no iops", "trim_gb_s"]);
    let load = steps(&format!("{LOAD}, {UNTIL}"), "{ best_of = \"trim_gb_s\" }");
    check(&load, 10, &["'a' has no trim_gb_s"]);
    let resumed = format!("{}restart = \"step\"\n", steps("trim = \"5MB\"", time));
    check(&resumed, 6, &["measures a trim", "remove restart"]);
    let alone =
        steps("streams = [{ name = \"a\", access = \"random\" }], until = { time = \"5s\" }", time);
    check(&alone, 9, &["one stream in `streams`"]);
}

/// Every key with a value out of its range: the error has the line, the value or the permitted
/// values, and a remedy.
#[test]
fn a_wrong_value_of_any_key_gives_its_line_and_the_permitted_values() {
    let of_test = [
        ("title = 5", "string"),
        ("source = 5", "string"),
        ("engine = \"libaio\"", "io_uring"),
        ("idle = \"5\"", "unit"),
        ("streams = 5", "sequence"),
        ("steps = 5", "sequence"),
        ("repeat = \"often\"", "a whole number"),
        ("also = [{ best_of = \"speed\" }]", "throughput_mb_s"),
        ("figures = [\"pie\"]", "ranking"),
        ("chosen = 5", "sequence"),
        ("deviates = 5", "map"),
        ("settle = \"5\"", "unit"),
        ("return_to_first = \"yes\"", "boolean"),
        ("restart = \"never\"", "step"),
        ("sweep = { load = [\"x\"] }", "a range such as"),
        ("sweep = { full_percent = [101] }", "0 and 100"),
        ("sweep = { power = [\"on\"] }", "active"),
        ("sweep = { idle = [\"5\"] }", "unit"),
        ("sweep = { span = [\"0%\"] }", "1% and 100%"),
        ("sweep = { block_size = [4096] }", "4KiB"),
        ("sweep = { threads = [0] }", "1 and 4096"),
        ("sweep = { queue_depth = [5000] }", "1 and 4096"),
        ("sweep = { total_queue_depth = [\"x\"] }", "a whole number"),
        ("sweep = { per_second = [0.0] }", "10000000"),
        ("sweep = { read_percent = [-1] }", "0 and 100"),
        ("search = { probe = \"90\", slice = \"1h\", above = [[\"1ms\", 5.0]] }", "unit"),
        ("search = { probe = \"90s\", slice = \"soon\", above = [[\"1ms\", 5.0]] }", "soon"),
        ("search = { probe = \"90s\", slice = \"1h\", above = [[\"1ms\", \"few\"]] }", "a number"),
        ("rounds = { at_most = 0, tracking = \"x\", metric = \"iops\" }", "1 and 4096"),
        ("rounds = { at_most = 25, tracking = 5, metric = \"iops\" }", "string"),
        ("rounds = { at_most = 25, tracking = \"x\", metric = \"speed\" }", "throughput_mb_s"),
        ("rest = { time = \"5\" }", "unit"),
        ("rest = { duty_cycle = 1.5, at_most = \"5s\" }", "0 and 1"),
        ("rest = { duty_cycle = 0.5 }", "at_most"),
        ("prepare = [{ purge = \"yes\" }]", "boolean"),
        ("prepare = [{ trim = true, span = \"101%\" }]", "1% and 100%"),
        ("prepare = [{ fill = \"backwards\" }]", "sequential"),
        ("prepare = [{ fill = \"random\", block_size = \"1GiB\" }]", "64MiB"),
        ("prepare = [{ rest = \"5\" }]", "unit"),
        ("prepare = [{ power = \"PS99\" }]", "PS31"),
    ];
    for (line, word) in of_test {
        // A key of the base appears twice, which is an error in the same line.
        let text = format!("{STREAM}{line}\n{END}");
        let twice = line.starts_with("title");
        check(&text, 10, &[if twice { "duplicate" } else { word }]);
    }
    for (keys, word) in [
        ("access = \"zigzag\"", "sequential"),
        ("name = \"Main\"", "a-z"),
        ("block_size = 4096", "4KiB"),
        ("read_percent = \"all\"", "a whole number"),
        ("queue_depth = 0", "1 and 4096"),
        ("threads = -1", "1 and 4096"),
        ("span = \"5 apples\"", "apples"),
        ("data = \"lorem\"", "incompressible"),
        ("per_second = \"fast\"", "a number"),
        ("arrival = \"burst\"", "poisson"),
        ("sync = 1", "boolean"),
    ] {
        let key = keys.split(' ').next().unwrap();
        let base = ["access = \"random\"", "block_size = \"4KiB\"", "read_percent = 70"];
        let others = base.into_iter().filter(|other| !other.starts_with(key));
        let all: Vec<&str> = others.chain([keys]).collect();
        check(&format!("stream = {{ {} }}\n{END}", all.join(", ")), 9, &[word]);
    }
    for (until, word) in [
        ("{ time = \"5\" }", "unit"),
        ("{ time = 5 }", "unit"),
        ("{ bytes = \"5 apples\" }", "apples"),
        ("{ passes = 0 }", "1 and 4096"),
        ("{ time = \"0s\" }", "limit above zero"),
        ("{ time = \"5s\", steady = { metric = \"iops\", round = \"x\" } }", "x"),
    ] {
        let text = format!("{STREAM}until = {until}\nscore = {{ best_of = \"iops\" }}\n");
        check(&text, 10, &[word]);
    }
}

#[test]
fn the_score_of_a_stream_names_one_of_several_and_a_flush_at_the_end_follows_writes() {
    let two = "streams = [\n    { name = \"a\", access = \"random\", block_size = \"4KiB\", read_percent = 100 },\n    \
               { name = \"b\", access = \"random\", block_size = \"4KiB\", read_percent = 0, flush_at_end = true },\n]\n\
               sweep = { stream = \"b\", queue_depth = [1, 4] }\nuntil = { time = \"5s\" }\n";
    let scored = |score: &str| format!("{two}score = {score}\n");
    suite(&scored("{ metric = \"lat_p99_us\", at = 4, stream = \"a\" }")).unwrap();
    let wrong = |score: &str, words: &[&str]| check(&scored(score), 15, words);
    wrong(
        "{ metric = \"iops\", at = 4, stream = \"c\" }",
        &["no stream has the name 'c'", "are: a, b"],
    );
    wrong("{ metric = \"iops\", at = 2, stream = \"a\" }", &["no point has the position 2"]);
    wrong("{ metric = \"power_w\", at = 4, stream = \"a\" }", &["power_w is not known"]);
    wrong("{ metric = \"worst_second_iops\", at = 4, stream = \"a\" }", &["single streams"]);
    wrong("{ mean_of = \"iops\", stream = \"a\" }", &["one rule", "stream = \"NAME\""]);
    for pause in
        ["think_time = \"1ms\"", "pulse = { on = \"1s\", off = \"1s\" }", "per_second = 9.0"]
    {
        let stream = STREAM.replace(" }", &format!(", {pause} }}"));
        let text = |score: &str| format!("{stream}until = {{ time = \"5s\" }}\n{score}\n");
        suite(&text("score = { mean_of = \"iops\" }")).unwrap();
        check(&text("score = { mean_of = \"longest_stall_s\" }"), 11, &["sends nothing at times"]);
        check(
            &text("score = { metric = \"worst_second_iops\", at = 70, direction = \"read\" }"),
            11,
            &["sends nothing at times", "time_over_10ms_percent"],
        );
    }
    let alone = "score = { metric = \"iops\", at = 70, stream = \"main\" }\n";
    let alone =
        format!("{STREAM}sweep = {{ read_percent = [70] }}\nuntil = {{ time = \"5s\" }}\n{alone}");
    check(&alone, 12, &["one stream", "remove `stream`"]);
    for key in ["flush_at_end = true", "flush_every = 1", "fua = true", "sync = true"] {
        let reads = STREAM.replace("read_percent = 70", &format!("read_percent = 100, {key}"));
        check(&format!("{reads}{END}"), 9, &["only reads", "remove it"]);
        // Of a sweep over the share of reads only some steps have no writes.
        let swept = STREAM.replace("read_percent = 70", key);
        suite(&format!("{swept}sweep = {{ read_percent = [0, 100] }}\n{END}")).unwrap();
    }
}
