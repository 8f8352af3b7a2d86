//! What packages contain besides the program: completions and manual pages.

use crate::support::{Bench, text};
use std::io::Write;
use std::process::{Command, Stdio};

/// Returns the commands that the help of the program lists.
fn listed(bench: &Bench) -> Vec<String> {
    let help = bench.print(&["--help"]);
    let commands = help.split("Usage:").nth(1).unwrap().split("Options:").next().unwrap();
    let names = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn completions_offer_every_listed_command_and_no_hidden_one() {
    let bench = Bench::new();
    let commands = listed(&bench);
    assert!(commands.len() > 10, "{commands:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = bench.print(&["completions", shell]);
        for command in commands.iter().filter(|command| *command != "help") {
            assert!(script.contains(command.as_str()), "{shell}: {command}");
        }
        assert!(!script.contains("privileged-helper"), "{shell}");
    }
    // A program that completes by the script is the shell itself.
    let script = bench.print(&["completions", "bash"]);
    let asked = "COMP_WORDS=(ssdgauge re) COMP_CWORD=1; _ssdgauge ssdgauge re ssdgauge; \
        echo \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash")
        .arg("-s")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    bash.stdin.take().unwrap().write_all(format!("{script}\n{asked}\n").as_bytes()).unwrap();
    let answer = text(&bash.wait_with_output().unwrap().stdout);
    assert_eq!(answer.trim(), "resume report");
}

#[test]
fn each_listed_command_has_a_manual_page_with_its_options() {
    let bench = Bench::new();
    let program = bench.print(&["manual"]);
    for command in listed(&bench).iter().filter(|command| *command != "help") {
        assert!(program.contains(&format!("ssdgauge\\-{command}(1)")), "{command}");
        let page = bench.print(&["manual", command]);
        assert!(page.contains(&format!(".TH ssdgauge-{command} 1 ")), "{page}");
        assert!(page.contains(&format!("\\fBssdgauge {command}\\fR")), "{page}");
    }
    let run = bench.print(&["manual", "run"]);
    assert!(run.contains("\\fB\\-\\-confirm\\fR \\fI<SERIAL>\\fR"), "{run}");
    let wrong = bench.call(&["manual", "rnu"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("did you mean 'run'?"), "{}", text(&wrong.stderr));
}
