//! A twin of points that follow from arithmetic, not from the virtual drive.

use ssdgauge_core::{Arrival, Bytes, Engine, Stream, Workload};
use ssdgauge_twin::{Evidence, Kind, Number, Question, Twin, answer, fit, profile_text};
use std::collections::BTreeMap;

/// Random reads of a drive whose lone read takes 100 us, and that completes 80,000 a second at most.
fn points() -> Vec<(String, Workload, BTreeMap<Number, f64>)> {
    let stream = |depth: u32, arrival: Arrival| Stream {
        queue_depth: depth,
        arrival,
        span: Bytes(500_000_000),
        ..Stream::default()
    };
    let point = |name: String, stream: Stream, numbers: Vec<(Number, f64)>| {
        let workload = Workload { engine: Engine::IoUring, streams: vec![stream] };
        (name, workload, numbers.into_iter().collect())
    };
    let mut points = Vec::new();
    for (depth, rate) in [(1, 10_000.0), (2, 19_500.0), (4, 36_000.0), (128, 80_000.0)] {
        let name = format!("depth {depth}");
        points.push(point(name, stream(depth, Arrival::Closed), vec![(Number::Rate, rate)]));
    }
    for per_second in [1_000.0, 4_000.0, 8_000.0] {
        let arrival = Arrival::Poisson { per_second };
        let numbers = vec![(Number::ReadP50, 100.0)];
        points.push(point(format!("{per_second} a second"), stream(1, arrival), numbers));
    }
    points
}

#[test]
fn points_of_a_curve_make_a_twin_that_is_near_them_and_refuses_other_kinds() {
    let evidence = Evidence::of_points("a drive", Bytes(500_000_000), points());
    assert_eq!(evidence.kinds(), [Kind::RandomReads, Kind::OfferedReads]);
    let fitted = fit(&evidence, &|_, _| {});
    let text = profile_text(&evidence, &fitted, "ssdgauge twin a.ssdg -o drive.toml");
    let again = profile_text(&evidence, &fit(&evidence, &|_, _| {}), &twin(&text).about.command);
    assert_eq!(text, again, "equal runs give equal twins");
    let twin = twin(&text);
    let ask = |load: &str| answer(&twin, &Question::parse(load).unwrap());
    let offered = ask("reads, 2000/s");
    let p50 = offered.predicted.iter().find(|one| one.number == Number::ReadP50).unwrap();
    assert!((p50.value / 100.0 - 1.0).abs() < 0.06, "{offered:?}");
    let mix = ask("70 % read, 2000/s");
    assert!(mix.predicted.is_empty() && !mix.refused.is_empty(), "{mix:?}");
}

fn twin(text: &str) -> Twin {
    Twin::read(text).unwrap().unwrap()
}

#[test]
fn a_profile_of_another_model_is_refused_with_its_command() {
    let text =
        "[twin]\nof = \"a\"\nmodel_revision = 999\ncommand = \"ssdgauge twin a.ssdg -o b.toml\"\n";
    let error = Twin::read(text).unwrap_err().to_string();
    assert!(error.contains("revision 999") && error.contains("`ssdgauge twin a.ssdg -o b.toml`"));
    assert_eq!(Twin::read("inherits = \"tiny\"\n"), Ok(None));
}
