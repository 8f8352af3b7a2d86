//! Experiment of heat: ascending reads without a pause, with the temperature.

use super::Examination;
use super::error::Ended;
use super::sizes::{FILL_BLOCK, Sizes};
use ssdgauge_core::{Access as Order, Bytes, Data, Direction, Lane, LaneLimits, Nanos};
use ssdgauge_xray::{self as inference, Heating, Refusal, Series, Structure};

/// The seconds of one load; between two of them it is decided whether to go on.
const PART_S: u64 = 30;
/// The rise over the last parts below which the temperature has settled, in degrees.
const SETTLED_C: f64 = 0.6;

impl Examination<'_> {
    /// Throttle points: the rate of constant reads by temperature.
    pub(super) fn heating(&mut self) -> Result<(), Ended> {
        let points = [Structure::Throttle, Structure::Resume];
        if points.iter().all(|one| !self.wants(*one)) {
            return Ok(());
        }
        self.write_region()?;
        // What the writes before have heated has to cool, or the load begins throttled.
        self.access.doing("throttle points: rest");
        self.access.rest(Nanos::from_secs(Sizes::COOLING_S))?;
        self.look_again()?;
        self.access.doing("throttle points: reads without a pause");
        let lane = Lane {
            direction: Direction::Read,
            access: Order::Sequential,
            block_size: Bytes(FILL_BLOCK),
            offset: Bytes(0),
            // The last mebibytes of a scratch file may not be written.
            span: Bytes(self.sizes.region - (4 << 20)),
            queue_depth: 32,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        };
        let limits =
            LaneLimits { time: Nanos::from_secs(PART_S), written: Bytes(0), bin: Nanos::SECOND };
        let mut seconds: Vec<Heating> = Vec::new();
        for _ in 0..Sizes::HEATING_S / PART_S {
            let ended = self.access.run(std::slice::from_ref(&lane), limits)?;
            let bytes = &ended.lanes[0].bytes;
            for second in 0..(PART_S as usize).min(bytes.len()) {
                let end = Nanos::from_secs(second as u64 + 1);
                // The last reading up to the end of the second; sensors are read about once a second.
                let readings = self.access.temperatures().iter();
                let celsius = readings.take_while(|reading| reading.0 <= end).last();
                if let Some((_, celsius)) = celsius {
                    let bytes = bytes[second] as f64;
                    seconds.push(Heating { celsius: *celsius, bytes });
                }
            }
            self.later.take_seconds(bytes);
            let part = PART_S as usize;
            let has_cycles = inference::throttle_points(&seconds).1.is_ok();
            let has_settled = seconds.len() >= 3 * part && {
                let last = &seconds[seconds.len() - part..];
                let rise = last[part - 1].celsius - last[0].celsius;
                let is_fast = last.iter().all(|one| one.bytes > 0.97 * seconds[0].bytes);
                rise.abs() < SETTLED_C && is_fast
            };
            if has_cycles || has_settled || seconds.is_empty() {
                break;
            }
        }
        let (upper, lower) = match seconds.is_empty() {
            true => {
                let refusal = || Err(Refusal("no temperature sensor is read".into()));
                (refusal(), refusal())
            }
            false => inference::throttle_points(&seconds),
        };
        self.keep([Series::of_heating(&seconds)]);
        self.answer(Structure::Throttle, upper);
        self.answer(Structure::Resume, lower);
        Ok(())
    }
}
