//! Whether a drive separates hot and cold writes: its write amplification under zones compared with that under
//! uniform writes.

use crate::model::metrics;
use crate::model::{PointRun, TestRun};
use ssdgauge_core::{Distribution, Metric, Scope, Stream};
use ssdgauge_statistics::separation::{Class, Separation};

/// Judges each test whose headline is that of writes to zones, by the spare area that a test of the same run
/// found with uniform writes to the same span.
pub(crate) fn judge(tests: &mut [TestRun]) {
    let judged: Vec<Option<Separation>> = tests.iter().map(|test| of_test(test, tests)).collect();
    tests.iter_mut().zip(judged).for_each(|(test, judged)| test.separation = judged);
}

fn of_test(test: &TestRun, all: &[TestRun]) -> Option<Separation> {
    let (point, stream) = random_writes(test)?;
    let Distribution::Zones(zones) = &stream.distribution else { return None };
    let measured = metrics::value(point, Metric::WriteAmplification, Scope::All)?;
    let spare = all.iter().find_map(|other| {
        let (point, uniform) = random_writes(other)?;
        let is_like = uniform.distribution.is_uniform()
            && (uniform.offset, uniform.span) == (stream.offset, stream.span);
        let spare =
            is_like.then(|| metrics::value(point, Metric::EffectiveOverProvisioning, Scope::All));
        spare.flatten()
    })?;
    Separation::new(zones, spare, measured)
}

/// Returns the point of the headline of `test` with its stream, where that is one of only random writes.
fn random_writes(test: &TestRun) -> Option<(&PointRun, &Stream)> {
    let position = test.test.score.position()?;
    let point = test.points.iter().find(|point| point.point.position == position)?;
    let [stream] = point.workload.streams.as_slice() else { return None };
    let is_write = stream.writes() && !stream.reads() && stream.is_random();
    is_write.then_some((point, stream))
}

/// Returns the verdict on `test` in words; `None` where there is none.
pub(crate) fn words(test: &TestRun) -> Option<String> {
    let found = test.separation?;
    let what = match found.class() {
        Class::Separates => "separates hot and cold writes",
        Class::InPart => "separates hot and cold writes in part",
        Class::DoesNot => "does not separate hot and cold writes",
    };
    Some(format!(
        "{what}: write amplification {:.2} in zones; the spare area that uniform writes show gives {:.2} \
         for uniform writes, {:.2} without separation and {:.2} with the ideal one",
        found.measured, found.uniform, found.mixed, found.ideal
    ))
}
