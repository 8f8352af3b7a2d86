//! The stream of a plan that does the work of a job of fio.

use crate::import_error::ImportError;
use crate::output::{Job, Options};
use ssdgauge_core::{Access, Arrival, Bytes, Data, Stream};

/// Returns the stream that does the work of `job`.
pub(crate) fn stream_of(job: &Job, options: &Options) -> Result<Stream, ImportError> {
    let unfit = |what: String| ImportError::unfit(&job.jobname, what);
    let number = |key: &str| match options.get(key) {
        None => Ok(1),
        Some(text) => text.trim().parse().map_err(|_| unfit(format!("its {key} is '{text}'"))),
    };
    let ios = job.read.total_ios + job.write.total_ios;
    let bytes = job.read.io_bytes.saturating_add(job.write.io_bytes);
    if ios == 0 {
        return Err(unfit("it completed no read and no write".into()));
    }
    // In whole logical blocks: the mean of several block sizes is no length of a request.
    let block_size = Bytes((bytes / ios).next_multiple_of(512));
    let read_percent = match (job.read.total_ios, job.write.total_ios) {
        (_, 0) => 100,
        (0, _) => 0,
        (reads, _) => (reads as f64 * 100.0 / ios as f64).round().clamp(1.0, 99.0) as u8,
    };
    let order = options.get("rw").or_else(|| options.get("readwrite"));
    let is_random = order.is_some_and(|order| order.starts_with("rand"));
    let size = options.get("size").and_then(|size| parse_size(size));
    let span = Bytes(size.unwrap_or(bytes).max(block_size.0));
    Ok(Stream {
        name: job.jobname.clone(),
        access: if is_random { Access::Random } else { Access::Sequential },
        block_size,
        read_percent,
        queue_depth: number("iodepth")?,
        threads: number("numjobs")?,
        offset: Bytes(0),
        span,
        arrival: Arrival::Closed,
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    })
}

/// Returns a size of fio in bytes, whose units are powers of 1,024; `None` for a share of the target.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase();
    let digits = text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}
