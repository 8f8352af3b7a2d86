//! `ssdgauge trace`: what a trace holds, and its packed form.

use crate::arguments::{TraceAction, TraceArguments, TraceConvertArguments, TraceInfoArguments};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::trace_file;
use serde::Serialize;
use ssdgauge_core::rounded;
use ssdgauge_core::{Bytes, Nanos};
use ssdgauge_trace::{PackedWriter, Summary};
use ssdgauge_watch::terminal;
use std::fmt::Write as _;
use std::io::{self, BufWriter};

/// Executes an action on a trace.
///
/// # Errors
///
/// Fails where the trace is not valid, and where the packed form may not or cannot be written.
pub(crate) fn execute(arguments: &TraceArguments) -> Result<(), Failure> {
    match &arguments.action {
        TraceAction::Info(arguments) => info(arguments),
        TraceAction::Convert(arguments) => convert(arguments),
    }
}

/// `trace info --json`.
#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    trace: &'a Summary,
}

fn info(arguments: &TraceInfoArguments) -> Result<(), Failure> {
    let summary = trace_file::summary(&arguments.file, arguments.format)?;
    if arguments.json {
        terminal::print_document(&Document { schema_version: 1, trace: &summary });
    } else {
        terminal::print_text(&text(&summary));
    }
    Ok(())
}

/// Writes the packed form: the first reading checks the trace and finds out whether it has response
/// times.
fn convert(arguments: &TraceConvertArguments) -> Result<(), Failure> {
    let TraceConvertArguments { file, format, .. } = arguments;
    let out = arguments.out();
    output::check(out, Format::PackedTrace, &[file])?;
    let summary = trace_file::summary(file, *format)?;
    let mut trace = trace_file::open(file, *format, "writing the packed form")?;
    let mut invalid = None;
    output::write_with(out, Format::PackedTrace, &[file], |output| {
        let output = BufWriter::with_capacity(1 << 20, output);
        let mut writer = PackedWriter::new(output, summary.has_response_times)?;
        loop {
            match trace.read() {
                Ok(Some(record)) => writer.push(&record)?,
                Ok(None) => return writer.finish().map(drop),
                Err(error) => {
                    invalid = Some(error);
                    return Err(io::Error::other("the trace was changed while it was read"));
                }
            }
        }
    })
    .map_err(|failure| match invalid.take() {
        Some(error) => trace_file::failure(file, error),
        None => failure,
    })?;
    let bytes = out.metadata().map_or(0, |metadata| metadata.len());
    terminal::print_message(&format!(
        "{}: {} requests in {}, id {}",
        out.display(),
        rounded::count(summary.requests),
        Bytes(bytes).about(),
        summary.id
    ));
    Ok(())
}

/// Returns the summary as text.
fn text(summary: &Summary) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "{name:<18}{}", terminal::line(&value))
            .expect("writing to a String never fails");
    };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let seconds = |seconds: f64| Nanos((seconds * 1e9) as u64).about();
    line("format", summary.format.to_owned());
    line("id", summary.id.clone());
    line("requests", rounded::count(summary.requests));
    line("streams", summary.streams.to_string());
    line("duration", seconds(summary.duration_s));
    for direction in &summary.directions {
        let response = match (direction.response_mean_us, direction.response_p99_us) {
            (Some(mean), Some(p99)) => {
                let [mean, p99] = [mean, p99].map(rounded::latency);
                format!(", response {mean} mean, {p99} p99")
            }
            _ => String::new(),
        };
        let (requests, bytes) =
            (rounded::count(direction.requests), Bytes(direction.bytes).about());
        let share = percent(direction.share);
        let name =
            if direction.kind == "flush" { "flushes" } else { &format!("{}s", direction.kind) };
        line(name, format!("{requests} ({share}), {bytes}{response}"));
    }
    if let Some(rate) = summary.requests_per_second {
        let (rate, peak) = (rounded::number(rate), rounded::count(summary.peak_per_second));
        line("rate", format!("{rate} requests/s mean, {peak} in the busiest second"));
    }
    let depth = match summary.mean_depth {
        Some(depth) => format!("{depth:.2} requests in flight, mean"),
        None => "not known: the trace has no response times".to_owned(),
    };
    line("depth", depth);
    let block = Bytes(summary.working_set_block).as_block();
    let set = Bytes(summary.working_set_bytes).about();
    line("working set", format!("{set} in blocks of {block}"));
    line("addressed range", format!("up to {}", Bytes(summary.end_bytes).about()));
    if let Some(share) = summary.sequential_share {
        line("sequential", format!("{} of reads and writes", percent(share)));
    }
    for size in &summary.sizes {
        let share = percent(size.share);
        line("size", format!("{} {share}", Bytes(size.bytes).as_block()));
    }
    if summary.other_sizes_share > 0.0 {
        line("size", format!("others {}", percent(summary.other_sizes_share)));
    }
    for idle in &summary.idle {
        let (from, total) = (seconds(idle.from_s), seconds(idle.total_s));
        line("idle", format!("{} × {from} or longer, {total} in all", rounded::count(idle.count)));
    }
    line("longest idle time", seconds(summary.idle_longest_s));
    line("time resolution", Nanos(summary.time_resolution_ns).about());
    let notes = [
        (summary.ignored, "lines or records without a request"),
        (summary.lost, "requests are missing in the trace, by its own count"),
        (summary.rounded, "requests were rounded to whole sectors of 512 bytes"),
    ];
    for (count, what) in notes.into_iter().filter(|(count, _)| *count > 0) {
        line("note", format!("{count} {what}"));
    }
    text
}
