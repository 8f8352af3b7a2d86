//! Spec files: what a maker states of a drive. Claims have conditions and sources, and are judged by runs;
//! stated figures are those of structures, and are judged by an X-ray.
//!
//! A claim is judged only where a run met its conditions; in every other case the report says
//! which condition was not met.

use crate::inputs::input_error::InputError;
use crate::inputs::spec_file::{CacheSide, Drive, File, Row, State};
use ssdgauge_core::{Access, Bytes, Metric};
use std::ops::Range;
use toml::Spanned;

/// A value counts as met down to this many percent below the claim, unless the file says
/// otherwise. Chosen: what reviews call "about the same".
const TOLERANCE_PERCENT: f64 = 5.0;

/// The maximum number of claims of one file; a data sheet has a dozen.
const MOST: usize = 1_000;

/// The claims of a maker about one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Specification {
    /// The model; the claims apply to drives whose name contains it.
    pub model: String,
    /// The source of the claims.
    pub source: String,
    /// The share by which a value may be worse than a claim and still meet it.
    pub tolerance: f64,
    /// The claims, in the order of the file.
    pub claims: Vec<Claim>,
}

/// One claimed value with its conditions; a condition that is `None` is not stated.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The metric.
    pub metric: Metric,
    /// Its value, in the unit of the metric.
    pub value: f64,
    /// Random or in order.
    pub access: Access,
    /// The length of a request.
    pub block_size: Bytes,
    /// The share of reads.
    pub read_percent: u8,
    /// Requests in flight, over all threads.
    pub queue_depth: Option<u32>,
    /// The state of the drive.
    pub state: Option<State>,
    /// Inside or beyond the SLC cache.
    pub cache: Option<CacheSide>,
    /// The source of this claim, where it differs from that of the file.
    pub source: Option<String>,
}

impl Specification {
    /// Reads the claims in the `text` of `file`.
    ///
    /// # Errors
    ///
    /// Returns the line, the fault and the remedy where `text` is not a valid spec file.
    pub fn parse(file: &str, text: &str) -> Result<Specification, InputError> {
        let error = |span: Range<usize>, message: String, hint: &str| {
            InputError::new(file, text, span, message, hint)
        };
        let parsed = File::parse(file, text)?;
        let Some(Drive { model, source, tolerance_percent }) = parsed.drive else {
            let hint = "give [drive] with the model and the source of the claims";
            return Err(error(0..0, "the table [drive] is missing".to_owned(), hint));
        };
        for (name, words) in [("model", &model), ("source", &source)] {
            if words.get_ref().trim().is_empty() {
                let message = format!("the {name} is empty");
                return Err(error(
                    words.span(),
                    message,
                    "give the model and the source of the \
                                                         claims",
                ));
            }
        }
        let tolerance = match tolerance_percent {
            None => TOLERANCE_PERCENT,
            Some(percent) if (0.0..=50.0).contains(percent.get_ref()) => percent.into_inner(),
            Some(percent) => {
                let message = format!("tolerance_percent {} is out of range", percent.get_ref());
                return Err(error(percent.span(), message, "give 0 to 50"));
            }
        };
        if parsed.claim.is_empty() || parsed.claim.len() > MOST {
            let message = format!("the file has {} claims", parsed.claim.len());
            let hint = "give between 1 and 1,000 of [[claim]], each with metric, value, access, \
                        block_size and read_percent";
            return Err(error(0..0, message, hint));
        }
        let claims = parsed.claim.into_iter().map(|row| claim(row.into_inner(), &error));
        Ok(Specification {
            model: model.into_inner().trim().to_owned(),
            source: source.into_inner(),
            tolerance: tolerance / 100.0,
            claims: claims.collect::<Result<_, _>>()?,
        })
    }
}

fn claim(
    row: Row,
    error: &dyn Fn(Range<usize>, String, &str) -> InputError,
) -> Result<Claim, InputError> {
    let Some(metric) = Metric::from_key(row.metric.get_ref()) else {
        let known: Vec<&str> = Metric::ALL.iter().map(|metric| metric.key()).collect();
        let message = format!("unknown metric '{}'", row.metric.get_ref());
        return Err(error(row.metric.span(), message, &format!("use one of {}", known.join(", "))));
    };
    if !row.value.get_ref().is_finite() || *row.value.get_ref() <= 0.0 {
        let message = format!("value {} is not above zero", row.value.get_ref());
        return Err(error(row.value.span(), message, "give a number above zero"));
    }
    let block_size: Bytes = row.block_size.get_ref().parse().map_err(|fault| {
        let message = format!("{fault}");
        error(row.block_size.span(), message, "write a size such as \"4KiB\" or \"128KiB\"")
    })?;
    if *row.read_percent.get_ref() > 100 {
        let message = format!("read_percent {} is out of range", row.read_percent.get_ref());
        return Err(error(
            row.read_percent.span(),
            message,
            "give 0 (writes only) to 100 (reads \
                                                            only)",
        ));
    }
    if let Some(depth) = row.queue_depth.as_ref().filter(|depth| *depth.get_ref() == 0) {
        let hint = "give the requests in flight, from 1, or leave the key out";
        return Err(error(depth.span(), "queue_depth 0 is out of range".to_owned(), hint));
    }
    let writes_in_order = row.access == Access::Sequential && *row.read_percent.get_ref() == 0;
    if let Some(cache) = row.cache.as_ref().filter(|_| !writes_in_order) {
        let message = "`cache` applies to sequential writes only".to_owned();
        return Err(error(cache.span(), message, "leave `cache` out"));
    }
    Ok(Claim {
        metric,
        value: row.value.into_inner(),
        access: row.access,
        block_size,
        read_percent: row.read_percent.into_inner(),
        queue_depth: row.queue_depth.map(Spanned::into_inner),
        state: row.state,
        cache: row.cache.map(Spanned::into_inner),
        source: row.source,
    })
}

impl Claim {
    /// Returns the workload and conditions of the claim, in words.
    pub fn conditions(&self) -> String {
        let mut words = vec![
            match self.access {
                Access::Sequential => "sequential".to_owned(),
                Access::Random => "random".to_owned(),
            },
            match self.read_percent {
                100 => "read".to_owned(),
                0 => "write".to_owned(),
                mix => format!("{mix} % read"),
            },
            self.block_size.as_block(),
        ];
        words.extend(self.queue_depth.map(|depth| format!("QD{depth}")));
        words.extend(self.state.map(|state| state.word().to_owned()));
        words.extend(self.cache.map(|side| match side {
            CacheSide::Inside => "inside the SLC cache".to_owned(),
            CacheSide::Beyond => "beyond the SLC cache".to_owned(),
        }));
        words.join(" ")
    }
}
