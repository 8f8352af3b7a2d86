//! A twin of points that follow from arithmetic, not from the virtual drive.

use ssdgauge_core::{Access, Arrival, Bytes, Engine, Stream, Workload};
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

/// Points of a target whose requests complete at `rate` a second for a block size, a share of reads and a depth.
fn curve(rate: impl Fn(u64, u8, u32) -> f64) -> Evidence {
    let mut points = Vec::new();
    let loads = [(4_096, 100), (4_096, 0), (4_096, 70), (131_072, 100), (131_072, 0)];
    for (block, reads) in loads {
        for depth in [1, 4, 16, 64] {
            let access = if block > 4_096 { Access::Sequential } else { Access::Random };
            let stream = Stream {
                access,
                block_size: Bytes(block),
                read_percent: reads,
                queue_depth: depth,
                span: Bytes(500_000_000),
                ..Stream::default()
            };
            let per_second = rate(block, reads, depth);
            // Little's law; requests take turns.
            let latency = f64::from(depth) / per_second * 1e6;
            let number = if reads > 0 { Number::ReadP50 } else { Number::WriteP50 };
            let workload = Workload { engine: Engine::IoUring, streams: vec![stream] };
            let numbers = BTreeMap::from([(Number::Rate, per_second), (number, latency)]);
            points.push((format!("{block} {reads} {depth}"), workload, numbers));
        }
    }
    Evidence::of_points("a target", Bytes(500_000_000), points)
}

#[test]
#[ignore = "second tier"]
fn targets_other_than_flash_drives_are_not_described() {
    // 7,200 rpm: 8.5 ms of seek and half a revolution, less where requests are sorted; 180 MB/s in sequence.
    let disk = |block: u64, _: u8, depth: u32| match block {
        4_096 => 1e3 / (8.5 + 4.17) * (1.0 + 0.45 * f64::from(depth).ln()),
        block => 180e6 / block as f64,
    };
    let fitted = fit(&curve(disk), &|_, _| {});
    assert!(!fitted.not_described().is_empty(), "{:?}", fitted.errors());
}
