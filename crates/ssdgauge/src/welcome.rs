//! The screen of `ssdgauge` without arguments: what to type first.

/// Returns the screen: what the program is, and the first commands.
pub(crate) fn screen() -> String {
    let quick = ssdgauge_lab::listed().into_iter().find(|suite| suite.id == "quick");
    let written = quick.and_then(|suite| suite.cost).map(|(_, written)| written.about());
    let written = written.unwrap_or_else(|| "a scratch file".to_owned());
    let quick = format!("quick test: 5 min, writes {written}, erases nothing");
    let commands = [
        ("quick", quick.as_str()),
        ("demo", "see a review of six virtual drives: about 30 s"),
        ("drives", "which drives are here, and which may be tested"),
        ("suites", "the test suites and what each one measures"),
        ("plan SUITE TARGET", "what a run would write and erase; runs nothing"),
        ("list", "your runs by number; `open N` shows a page"),
    ];
    let mut text =
        "ssdgauge: measures SSDs every second, and states how far to trust the result\n\n"
            .to_owned();
    for (command, what) in commands {
        let command = format!("ssdgauge {command}");
        text.push_str(&format!("  {command:<28}{what}\n"));
    }
    text.push_str("\nAll commands: ssdgauge --help");
    text
}
