//! `--verify`: everything that a run wrote is read and compared, also what an earlier process of the run
//! has written.

use crate::support::{
    Bench, Loop, measures, open_to_change, query, signal, text, unfolded, wait_for,
};
use std::os::unix::fs::FileExt;
use std::process::{Output, Stdio};

const SIZE: u64 = 64 << 20;

/// A fill of the whole drive and a second of writes; with `more`, then three seconds of reads and writes
/// next to each other in the lower half.
fn suite(more: bool) -> String {
    let test = |id: &str, rest: &str| {
        format!("[[test]]\nid = \"{id}\"\nrevision = 1\ntitle = \"{id}\"\n{rest}\n")
    };
    let stream = |percent: u32, time: &str| {
        format!(
            "stream = {{ access = \"random\", block_size = \"4KiB\", read_percent = {percent}, \
             queue_depth = 4, span = \"32MiB\" }}\nuntil = {{ time = \"{time}\" }}\n\
             score = {{ mean_of = \"iops\" }}"
        )
    };
    let fill = "prepare = [{ fill = \"sequential\" }]\n";
    let first = test("a", &format!("{fill}{}", stream(0, "1s")));
    let second = if more { test("b", &stream(50, "3s")) } else { String::new() };
    format!("[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n{first}{second}")
}

/// A drive under test, and the run file `a.ssdg` of a run on it.
struct Setup {
    bench: Bench,
    drive: Loop,
    serial: String,
}

impl Setup {
    fn new(more: bool) -> Option<Setup> {
        let bench = Bench::new();
        let drive = Loop::attach(bench.folder.path(), SIZE)?;
        std::fs::write(bench.path("mine.toml"), suite(more)).unwrap();
        let serial = format!("{}:{SIZE}", drive.name());
        Some(Setup { bench, drive, serial })
    }

    fn consent(&self) -> [&str; 4] {
        ["--confirm", &self.serial, "--confined", &self.serial]
    }

    fn run_line(&self) -> Vec<&str> {
        let run = ["run", "mine.toml", &self.drive.path, "--verify", "--out", "a.ssdg"];
        [&run[..], &self.consent()].concat()
    }

    fn resume(&self) -> Output {
        self.bench.call(&[&["resume", "a.ssdg"], &self.consent()[..]].concat())
    }

    fn query(&self, sql: &str) -> i64 {
        query(&self.bench.path("a.ssdg"), sql)
    }

    /// Flips a bit of byte `at` of the drive, without a request to it.
    fn flip(&self, at: u64) {
        let mut options = std::fs::OpenOptions::new();
        let image = options.read(true).write(true).open(self.bench.path("image")).unwrap();
        let mut byte = [0];
        image.read_exact_at(&mut byte, at).unwrap();
        image.write_all_at(&[byte[0] ^ 4], at).unwrap();
        image.sync_all().unwrap();
        // An open image is a use of the drive.
        drop(image);
        let flush = ["--flushbufs", &self.drive.path];
        std::process::Command::new("blockdev").args(flush).status().unwrap();
    }

    /// Checks that `output` is that of a run which has found block `block` wrong, from byte `at` on.
    fn check_found(&self, output: &Output, block: u64, at: u64) {
        let messages = unfolded(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{messages}");
        let found = format!(
            "blocks that were verified do not hold what was written: the one at byte {block} holds other \
             data from its byte {at} on (1 bytes of this sector differ)"
        );
        assert!(messages.contains(&found) && messages.contains(" 1 of 1638"), "{messages}");
        let finding =
            "SELECT count(*) FROM finding WHERE kind='verify-failed' AND severity='invalid'";
        assert_eq!(self.query(finding), 1);
    }
}

#[test]
fn a_verified_run_states_its_bytes_and_a_flip_before_the_verification_fails_it() {
    let Some(setup) = Setup::new(false) else { return };
    setup.bench.print(&setup.run_line());
    let report = setup.bench.print(&["report", "a.ssdg", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let verified = &report["runs"][0]["durability"]["verified"];
    assert_eq!((&verified["bytes"], &verified["wrong"]), (&SIZE.into(), &0.into()), "{report}");
    let page = std::fs::read_to_string(setup.bench.path("a.html")).unwrap();
    assert!(page.contains("67.1\u{a0}MB, every byte"));
    // A kill before the end of the verification leaves a file like this.
    let cut_off = || {
        let connection = open_to_change(setup.bench.path("a.ssdg"));
        let sql = "DELETE FROM property WHERE key = 'verified'";
        assert_eq!(connection.execute(sql, []).unwrap(), 1);
    };
    cut_off();
    let output = setup.resume();
    // The first block holds the ownership label of the process that has ended.
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let complete = "SELECT count(*) FROM property WHERE key='verified' AND value ->> 'wrong' = 0 \
                    AND value ->> 'blocks' = 16383";
    assert_eq!(setup.query(complete), 1);
    // A run that is complete is not verified again.
    assert_eq!(setup.resume().status.code(), Some(0));
    assert_eq!(setup.query(complete), 1);
    cut_off();
    setup.flip(40 << 20 | 4_000);
    setup.check_found(&setup.resume(), 40 << 20, 4_000);
    // Nothing is left to do, and the run has failed all the same.
    setup.check_found(&setup.resume(), 40 << 20, 4_000);
}

#[test]
fn a_flip_while_a_run_is_interrupted_is_found_when_it_is_resumed() {
    for flipped in [None, Some(50 << 20 | 777)] {
        let Some(setup) = Setup::new(true) else { return };
        let mut command = setup.bench.command(&setup.run_line());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let file = setup.bench.path("a.ssdg");
        let finished = "SELECT count(*) FROM step WHERE phase_kind='measure' AND state='finished'";
        wait_for("the second test", || measures(&file) && query(&file, finished) == 1);
        signal(&child, "KILL");
        child.wait().unwrap();
        if let Some(at) = flipped {
            setup.flip(at);
        }
        let output = setup.resume();
        match flipped {
            Some(at) => setup.check_found(&output, at & !0xfff, at & 0xfff),
            None => {
                assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
                let blocks = "SELECT value ->> 'blocks' FROM property WHERE key='verified'";
                // The first block may hold the ownership label.
                assert!((16_383..=16_384).contains(&setup.query(blocks)));
            }
        }
    }
}

#[test]
fn a_virtual_drive_is_verified_by_its_pages_and_a_run_without_writes_says_so() {
    let bench = Bench::new();
    std::fs::write(bench.path("mine.toml"), suite(false)).unwrap();
    let plan = bench.print(&["plan", "mine.toml", "sim:tiny", "--verify"]);
    assert!(plan.contains("verify    reads up to 1.00 GB at the end"), "{plan}");
    assert!(plan.contains("next:  ssdgauge run mine.toml sim:tiny --verify"), "{plan}");
    let output = bench.call(&["run", "mine.toml", "sim:tiny", "--verify", "--out", "a.ssdg"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("verified: 1.00 GB, by the map of the virtual drive"), "{stdout}");
    assert!(stderr.contains("verified 1.00 GB: 0 wrong blocks"), "{stderr}");
    let run = ["run", "mine.toml", "null:", "--verify", "--out", "b.ssdg", "--size", "64MiB"];
    let output = bench.call(&run);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let finding = "SELECT count(*) FROM finding WHERE kind='not-verified'";
    assert_eq!(query(&bench.path("b.ssdg"), finding), 1);
}
