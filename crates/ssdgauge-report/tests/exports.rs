//! Exports for other tools: Vega-Lite and OpenMetrics.

mod support;

use ssdgauge_core::TargetKind;
use ssdgauge_report::{PageOptions, figures, openmetrics};
use support::{Pace, Recipe, client, quick, run};

#[test]
fn every_figure_has_a_specification_with_its_numbers() {
    let mut recipe = Recipe::new("a", quick(6), "Disk");
    recipe.pace = &|_, _| Pace { iops: 2_000, lat_us: 500.0 };
    let figures = figures(
        &[run(&recipe), run(&Recipe::new("b", client(6, 20), "Other"))],
        &PageOptions::default(),
    );
    for figure in &figures {
        let specification = figure.vega_lite();
        assert_eq!(specification["title"]["text"], figure.title.as_str());
        let values = specification["data"]["values"].as_array().expect("values");
        assert!(!values.is_empty(), "{}", figure.name);
    }
    let bars = figures[0].vega_lite();
    assert_eq!(bars["data"]["values"][0]["value"], 2_000.0 * 131_072.0 / 1e6);
}

#[test]
fn openmetrics_is_escaped_and_ends() {
    let mut recipe = Recipe::new("run-9", quick(6), "a\"b\\c\u{202e}");
    recipe.drive.kind = TargetKind::Virtual;
    recipe.pace = &|_, _| Pace { iops: 2_000, lat_us: 500.0 };
    let text = openmetrics(&[run(&recipe)]);
    assert!(text.ends_with("# EOF\n"));
    assert!(!text.contains('\u{202e}'));
    let wanted = "ssdgauge_headline{run=\"run-9\",drive=\"a\\\"b\\\\c";
    assert!(text.contains(wanted), "{text}");
    assert!(text.contains("metric=\"iops\"} 2000\n"));
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.contains("data=\"MODEL\""), "{line}");
        assert!(
            line.rsplit(' ').next().is_some_and(|value| value.parse::<f64>().is_ok()),
            "{line}"
        );
    }
    assert!(!text.contains("null") && !text.contains("NaN"));
}
