//! One hour of random writes in full length in virtual time.

use crate::suites::support::{remarks, run};

#[test]
fn an_hour_of_writes_is_scored_by_its_last_four_hundred_seconds() {
    let run = run("consistency-2016", &[], "tiny", 1);
    let [default, spare] = run.tests.as_slice() else { panic!("two tests") };
    let seconds: Vec<f64> = default.points[0].seconds().map(|second| second.iops()).collect();
    assert_eq!(seconds.len(), 3_600);
    assert_eq!((default.headline.n, default.also[0].n), (400, 400));
    let last = &seconds[3_200..];
    let mean = last.iter().sum::<f64>() / 400.0;
    assert!((default.headline.value.unwrap() / mean - 1.0).abs() < 1e-9);
    let squares: f64 = last.iter().map(|iops| (iops - mean).powi(2)).sum();
    let sigma = (squares / 399.0).sqrt();
    assert!((default.also[0].value.unwrap() / (mean / sigma) - 1.0).abs() < 1e-9);
    assert!(seconds[0] > 1.5 * mean, "the cache is full at the end");
    let more = spare.headline.value.unwrap() / default.headline.value.unwrap();
    assert!(more > 1.5, "a quarter of spare area makes writes faster: {more}");
    assert!(remarks(&run, 0).contains("by the SNIA criterion"), "{}", remarks(&run, 0));
    // The second score of the protocol is on every surface.
    let ratio = default.also[0].metric.about(mean / sigma);
    let card = ssdgauge_export::terminal_summary(&run, 100, true);
    assert!(card.contains(&format!("Mean ÷ σ {ratio}")), "{ratio}: {card}");
    let markdown = ssdgauge_export::markdown(std::slice::from_ref(&run));
    assert!(markdown.contains(&format!("| {ratio} |")), "{ratio}: {markdown}");
}
