//! The requests that fit into the span of a stream.

use super::Reader;
use crate::error::SuiteError;
use crate::suite::{Extent, StreamRule};
use ssdgauge_core::Bytes;
use std::ops::Range;

/// The divisor of a span that gives the maximum that requests may leave out at its end: 1 %. Chosen: 64 GB and
/// requests of 128 KiB leave out some KiB, which change no result.
const LEFT_OUT: u64 = 100;

impl Reader<'_> {
    /// Refuses a span in percent that ends beyond every target, and a span in bytes that is shorter than a
    /// request, or of whose end whole requests leave out more than 1 %. Requests with a stride leave out most
    /// of their span as asked.
    pub(super) fn check_span(
        &self,
        rule: &StreamRule,
        place: Range<usize>,
    ) -> Result<(), SuiteError> {
        if let (Some(Extent::Percent(offset)), Extent::Percent(span @ ..100)) =
            (rule.offset, rule.span)
            && offset + span > 100
        {
            let message = format!(
                "a span of {span} % after an offset of {offset} % ends at {} % of the target",
                offset + span
            );
            let hint = format!(
                "use at most span = \"{}%\", or no span for all that follows the offset",
                100u8.saturating_sub(offset)
            );
            return Err(self.error(place, message, hint));
        }
        let (Extent::Size(span), true) = (rule.span, rule.requests.addresses()) else {
            return Ok(());
        };
        let requests = &rule.requests;
        let lengths = requests.sizes.lengths().into_iter().map(|length| Bytes(u64::from(length)));
        let sizes: Vec<Bytes> = match requests.has_sizes() {
            false => vec![requests.block_size],
            true => lengths.collect(),
        };
        for size in sizes {
            let rest = Bytes(span.0 % size.0.max(1));
            let (message, whole) = match span < size {
                true => {
                    let (size, span) = (size.exact(), span.exact());
                    (format!("requests of {size} do not fit into a span of {span}"), size)
                }
                false if requests.stride.is_none() && rest.0 > span.0 / LEFT_OUT => (
                    format!(
                        "requests of {} leave out the last {} of a span of {}",
                        size.exact(),
                        rest.exact(),
                        span.exact()
                    ),
                    Bytes(span.0 - rest.0).exact(),
                ),
                false => continue,
            };
            let hint = format!(
                "use a span of whole requests, such as span = \"{whole}\", or other requests; at most 1 % of \
                 a span is left out without a message"
            );
            return Err(self.error(place, message, hint));
        }
        Ok(())
    }
}
