//! The result of a proof, as text and as JSON.

use serde::Serialize;
use ssdgauge_core::proof::{Answer, Conclusion, Observation, PROOF_BLOCK, Tally};
use ssdgauge_core::{Bytes, DriveInfo, TargetKind, rounded};
use ssdgauge_lab::{Depth, Proved};
use ssdgauge_watch::terminal;
use std::path::Path;

/// The width of the column of labels.
const LABEL: usize = 16;

/// Prints the result of a proof of `drive` whose evidence is in `file`.
pub(super) fn print(proved: &Proved, drive: &DriveInfo, file: &Path, as_json: bool) {
    match as_json {
        true => terminal::print_document(&document(proved, drive, file)),
        false => terminal::print_text(&text(proved, drive)),
    }
    terminal::print_message(&format!("run file: {}", file.display()));
}

/// Returns lines of a label and its text.
pub(super) fn lines(facts: &[(&str, String)]) -> String {
    let line =
        |(label, text): &(&str, String)| format!("{label:<LABEL$}  {}", terminal::line(text));
    facts.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn text(proved: &Proved, drive: &DriveInfo) -> String {
    let stated = drive.capacity;
    let is_file = drive.kind == TargetKind::File;
    let states = match is_file {
        true => {
            format!("{} of a scratch file; nothing is said about the whole drive", stated.about())
        }
        false => stated.about_and_exact(),
    };
    let mut facts = vec![
        ("target", drive.name().to_owned()),
        ("states", states),
        ("result", result(proved, stated)),
        ("tested", tested(proved)),
        ("answers", answers(&proved.tally)),
    ];
    facts.extend(proved.evidence.iter().map(|one| ("evidence", evidence(one))));
    facts.extend(causes(proved.verdict).map(|causes| ("possible causes", causes.to_owned())));
    facts.push(("not tested", limits(proved).to_owned()));
    lines(&facts)
}

/// Returns what was found, in one sentence.
fn result(proved: &Proved, stated: Bytes) -> String {
    let text = match proved.verdict {
        Conclusion::Untested => "nothing was read back".to_owned(),
        Conclusion::Holds => "every block that was read held what was written there".to_owned(),
        Conclusion::Wraps { least, period } if least < period => format!(
            "stores at most {} of {}, and at least {}: some addresses share one place",
            size(period),
            stated.about(),
            size(least)
        ),
        Conclusion::Wraps { period, .. } => format!(
            "stores {} of {}: addresses at that distance share one place",
            size(period),
            stated.about()
        ),
        Conclusion::Ends { least, most } => format!(
            "stores {} of {}: blocks are kept up to byte {}, and not from byte {} on",
            size(least),
            stated.about(),
            rounded::count(least * PROOF_BLOCK.0),
            rounded::count(most * PROOF_BLOCK.0)
        ),
        Conclusion::Damaged => format!(
            "{} of {} reads of a block did not return what was written there, at addresses that show \
             no boundary; stores at least {}: so many blocks were returned in one pass",
            rounded::count(proved.tally.bad()),
            rounded::count(proved.tally.read()),
            size(proved.held)
        ),
    };
    match proved.is_complete {
        true => text,
        false => format!("{text} (so far: the proof is not complete)"),
    }
}

fn size(blocks: u64) -> String {
    (PROOF_BLOCK * blocks).about()
}

fn tested(proved: &Proved) -> String {
    let share = proved.tested as f64 * PROOF_BLOCK.0 as f64 * 100.0
        / proved.settings.capacity_bytes.max(1) as f64;
    format!(
        "{} in {} blocks of 4 KiB ({} % of the addresses), read in {}; {} written",
        size(proved.tested),
        rounded::count(proved.tested),
        rounded::number(share),
        match proved.passes {
            1 => "1 pass".to_owned(),
            passes => format!("{passes} passes"),
        },
        proved.written.about()
    )
}

fn answers(tally: &Tally) -> String {
    let kinds = [
        (tally.own, "own block"),
        (tally.other_address, "block of another address"),
        (tally.old_generation, "what was written there before"),
        (tally.torn, "the block with other data in it"),
        (tally.zeros, "zeros"),
        (tally.ones, "ones"),
        (tally.foreign, "foreign data"),
        (tally.error, "an error"),
    ];
    let shown = kinds.iter().filter(|(count, _)| *count > 0);
    let texts: Vec<String> =
        shown.map(|(count, kind)| format!("{} × {kind}", rounded::count(*count))).collect();
    match texts.is_empty() {
        true => "none".into(),
        false => texts.join(", "),
    }
}

fn evidence(one: &Observation) -> String {
    let at = one.first * PROOF_BLOCK.0;
    let blocks = match one.blocks {
        1 => String::new(),
        2 => " and the block after it".to_owned(),
        blocks => format!(" and the {} blocks after it", rounded::count(blocks - 1)),
    };
    let answer = match one.answer {
        Answer::Own => "its own block".to_owned(),
        Answer::OtherAddress(other) => {
            format!("the block of byte {}", rounded::count(other.wrapping_mul(PROOF_BLOCK.0)))
        }
        Answer::OldGeneration(pass) => format!("what was written there before, as number {pass}"),
        Answer::Torn => "the block with other data in it".to_owned(),
        Answer::Zeros => "zeros".to_owned(),
        Answer::Ones => "ones".to_owned(),
        Answer::Foreign => "data that the proof never wrote".to_owned(),
        Answer::Error => "an error".to_owned(),
    };
    format!("byte {}{blocks} returned {answer} (pass {})", rounded::count(at), one.pass + 1)
}

fn causes(verdict: Conclusion) -> Option<&'static str> {
    match verdict {
        Conclusion::Untested | Conclusion::Holds => None,
        Conclusion::Wraps { .. } => Some(
            "a capacity that is stated too large; an adapter or a layer that cuts addresses off (at \
             2 TiB with 32 bits); a fault of the address tables of the drive",
        ),
        Conclusion::Ends { .. } => Some(
            "a capacity that is stated too large; a defective drive that no longer writes; a layer that \
             drops writes; another program that wrote to or discarded these blocks meanwhile",
        ),
        Conclusion::Damaged => Some(
            "a defective drive, cable, adapter or memory; another program that wrote to these blocks \
             meanwhile",
        ),
    }
}

fn limits(proved: &Proved) -> &'static str {
    match (proved.settings.depth, proved.is_complete) {
        _ if proved.is_cut_short => {
            "reading ended early, because so many blocks were wrong: there may be more"
        }
        (_, false) => "the rest: the proof was not completed",
        (Depth::Quick, true) => {
            "the blocks between the tested ones; a cache that holds all that was written beyond an end; --full tests \
             every block"
        }
        (Depth::Full, true) => {
            "the first block, which holds the ownership label; whether data is kept without power or \
             for weeks (`ssdgauge prove --read`); identity, speed and endurance"
        }
    }
}

/// `prove --json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Document<'a> {
    /// Raised by an incompatible change.
    schema_version: u32,
    /// The target as it was named.
    target: &'a str,
    /// The name of the drive.
    name: &'a str,
    /// Its serial number, where one is known.
    serial: Option<&'a str>,
    /// Whether the drive is a virtual one.
    is_model: bool,
    /// The capacity that it states.
    states_bytes: u64,
    /// `quick` or `full`.
    #[cfg_attr(test, schemars(with = "String"))]
    depth: Depth,
    /// Whether the proof was carried out to its end.
    complete: bool,
    /// Whether reading ended early, because so many blocks were wrong.
    cut_short: bool,
    /// What follows from the answers, in blocks of 4 KiB.
    verdict: Reported,
    /// What it stores, where that is less than it states.
    stores: Option<Stores>,
    /// Bytes of the blocks that were written and read.
    tested_bytes: u64,
    /// Bytes that the proof wrote.
    written_bytes: u64,
    /// The reading passes.
    passes: u32,
    /// The number of blocks that were read, by their answer: `own`, `other_address`, `old_generation`, `torn`, `zeros`,
    /// `ones`, `foreign`, `error`.
    #[cfg_attr(test, schemars(with = "std::collections::BTreeMap<String, u64>"))]
    answers: Tally,
    /// The first answers of each kind that were not the own block.
    evidence: Vec<Evidence>,
    /// What may be the cause; null where every block held.
    possible_causes: Option<&'static str>,
    /// What the proof says nothing about.
    not_tested: &'static str,
    /// The file with every answer.
    run_file: String,
}

/// What follows from the answers.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Reported {
    /// `untested`, `holds`, `holds-so-far` (not complete), `wraps` (addresses share one place), `ends` or `damaged`.
    result: &'static str,
    /// Blocks that the drive stores at least, where it wraps or ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    least: Option<u64>,
    /// The distance of addresses that share a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<u64>,
    /// The first block that was not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
}

/// What a drive stores.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Stores {
    /// At least so many bytes.
    least_bytes: u64,
    /// At most so many bytes; absent without a boundary.
    #[serde(skip_serializing_if = "Option::is_none")]
    most_bytes: Option<u64>,
}

/// An answer that was not the own block.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Evidence {
    /// The pass, from 1.
    pass: u32,
    /// The first byte of the blocks with this answer.
    offset: u64,
    /// Their bytes.
    length: u64,
    /// The answer: its key, or an object of the key with the block or the pass whose data was returned.
    #[cfg_attr(test, schemars(with = "serde_json::Value"))]
    answer: Answer,
    /// The address whose block was returned.
    block_of_offset: Option<u64>,
}

impl Reported {
    /// Returns what follows from a proof that is complete or not: a part must not be taken for the whole.
    fn new(conclusion: Conclusion, is_complete: bool) -> Reported {
        let of = |result| Reported { result, ..Reported::default() };
        match (conclusion, is_complete) {
            (Conclusion::Untested, _) => of("untested"),
            (Conclusion::Holds, true) => of("holds"),
            (Conclusion::Holds, false) => of("holds-so-far"),
            (Conclusion::Wraps { least, period }, _) => {
                Reported { least: Some(least), period: Some(period), ..of("wraps") }
            }
            (Conclusion::Ends { least, most }, _) => {
                Reported { least: Some(least), most: Some(most), ..of("ends") }
            }
            (Conclusion::Damaged, _) => of("damaged"),
        }
    }
}

fn document<'a>(proved: &Proved, drive: &'a DriveInfo, file: &Path) -> Document<'a> {
    let bytes = |blocks: u64| blocks * PROOF_BLOCK.0;
    let stores = match (proved.verdict.capacity(), proved.verdict.is_bad()) {
        (Some((least, most)), _) => {
            Some(Stores { least_bytes: bytes(least), most_bytes: Some(bytes(most)) })
        }
        // Without a boundary only the minimum is known.
        (None, true) => Some(Stores { least_bytes: bytes(proved.held), most_bytes: None }),
        (None, false) => None,
    };
    Document {
        schema_version: 1,
        target: &drive.target,
        name: drive.name(),
        serial: drive.serial.as_deref(),
        is_model: drive.is_model(),
        states_bytes: drive.capacity.0,
        depth: proved.settings.depth,
        complete: proved.is_complete,
        cut_short: proved.is_cut_short,
        verdict: Reported::new(proved.verdict, proved.is_complete),
        stores,
        tested_bytes: bytes(proved.tested),
        written_bytes: proved.written.0,
        passes: proved.passes,
        answers: proved.tally,
        evidence: proved.evidence.iter().map(evidence_of).collect(),
        possible_causes: causes(proved.verdict),
        not_tested: limits(proved),
        run_file: file.display().to_string(),
    }
}

fn evidence_of(one: &Observation) -> Evidence {
    Evidence {
        pass: one.pass + 1,
        offset: one.first * PROOF_BLOCK.0,
        length: one.blocks * PROOF_BLOCK.0,
        answer: one.answer,
        block_of_offset: one.answer.other_address().map(|other| other.wrapping_mul(PROOF_BLOCK.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        crate::published::check::<Document<'static>>("prove.json");
    }

    #[test]
    fn a_verdict_has_the_key_and_the_blocks_of_its_conclusion() {
        for conclusion in [
            Conclusion::Untested,
            Conclusion::Holds,
            Conclusion::Wraps { least: 3, period: 4 },
            Conclusion::Ends { least: 3, most: 4 },
            Conclusion::Damaged,
        ] {
            let reported = serde_json::to_value(Reported::new(conclusion, true)).unwrap();
            assert_eq!(reported, serde_json::to_value(conclusion).unwrap());
        }
        assert_eq!(Reported::new(Conclusion::Holds, false).result, "holds-so-far");
    }
}
