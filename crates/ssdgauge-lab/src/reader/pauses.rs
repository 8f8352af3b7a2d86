//! Gaps between the requests of a stream: strides in space, think times and pulses in time.

use super::Reader;
use crate::error::SuiteError;
use crate::schema;
use ssdgauge_core::{Bytes, LONGEST_PAUSE, Nanos, Pulse, Stream};

impl Reader<'_> {
    /// Checks the gaps of `requests`, which `keys` state. The sweep may set its block size; `swept_size`
    /// states that it does.
    pub(super) fn check_gaps(
        &self,
        keys: &schema::Stream,
        requests: &Stream,
        swept_size: bool,
    ) -> Result<(), SuiteError> {
        if let (Some(stride), Some(bytes)) = (&keys.stride, requests.stride) {
            let has_one_size = !requests.has_sizes() && !swept_size;
            let is_whole = bytes >= requests.block_size && bytes.0.is_multiple_of(512);
            let message = match (requests.is_sequential() && has_one_size, is_whole) {
                (true, true) => return self.check_pauses(keys, requests),
                (false, _) => "a stride belongs to sequential requests of one size".to_owned(),
                (true, false) => {
                    format!("a stride of {} is not a distance between requests", bytes.as_block())
                }
            };
            let hint = "the stride counts from the start of a request to the start of the next one: \
                        block_size = \"4KiB\", stride = \"64KiB\"; remove it where requests adjoin";
            return Err(self.error(stride.span(), message, hint));
        }
        self.check_pauses(keys, requests)
    }

    fn check_pauses(&self, keys: &schema::Stream, requests: &Stream) -> Result<(), SuiteError> {
        let is_open = requests.arrival.per_second().is_some();
        if let (Some(think), Some(time)) = (&keys.think_time, requests.think_time) {
            let (message, hint) = match (is_open, time > Nanos::ZERO && time <= LONGEST_PAUSE) {
                (false, true) => return self.check_pulse(keys, requests),
                (true, _) => (
                    "a think time belongs to a closed loop".to_owned(),
                    "remove it: the rate determines the time between requests".to_owned(),
                ),
                (false, false) => (
                    format!("a think time of {} is out of range", time.about()),
                    format!(
                        "use up to {}; a step has `idle` and `rest` for longer pauses",
                        LONGEST_PAUSE.exact()
                    ),
                ),
            };
            return Err(self.error(think.span(), message, hint));
        }
        self.check_pulse(keys, requests)
    }

    fn check_pulse(&self, keys: &schema::Stream, requests: &Stream) -> Result<(), SuiteError> {
        let (Some(place), Some(pulse)) = (&keys.pulse, requests.pulse) else { return Ok(()) };
        let hint = format!(
            "write pulse = {{ on = \"2s\", off = \"2s\" }}, with an off time up to {}; steps \
             with a `rest` have longer pauses",
            LONGEST_PAUSE.exact()
        );
        match pulse.defect() {
            None => Ok(()),
            Some(defect) => Err(self.error(place.span(), defect, hint)),
        }
    }
}

/// Returns the gaps that `keys` state: stride, think time and pulse.
pub(super) fn gaps(keys: &schema::Stream) -> (Option<Bytes>, Option<Nanos>, Option<Pulse>) {
    let stride = keys.stride.as_ref().map(|stride| stride.get_ref().0);
    let think_time = keys.think_time.as_ref().map(|time| time.get_ref().0);
    let pulse = keys.pulse.as_ref().map(|pulse| {
        let schema::PulseTimes { on, off } = pulse.get_ref();
        Pulse { on: on.0, off: off.0 }
    });
    (stride, think_time, pulse)
}
