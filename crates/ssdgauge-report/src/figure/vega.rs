//! Figures as Vega-Lite specifications, for people who restyle charts in their own tools.

use crate::chart::palette::PALETTE_LIGHT;
use crate::figure::chart::{Axis, Bar, Chart, Drawing, Line, Scale};
use serde_json::{Value, json};

/// Stands in every specification: how the program recognises one.
pub const VEGA_LITE_MARK: &str = "\"generator\": \"ssdgauge\"";

/// Returns `chart` as a Vega-Lite 5 specification with its data in it.
pub(crate) fn specification(chart: &Chart) -> Value {
    let mut specification = match &chart.drawing {
        Drawing::Bars { unit, bars } => bar_chart(unit, bars),
        Drawing::Lines { x, y, right, lines, .. } => line_chart(x, y, right.as_ref(), lines),
    };
    specification["$schema"] = json!("https://vega.github.io/schema/vega-lite/v5.json");
    specification["title"] = json!({ "text": chart.title, "subtitle": chart.notes });
    specification["width"] = json!(640);
    specification["usermeta"] = json!({ "generator": "ssdgauge" });
    specification
}

fn bar_chart(unit: &str, bars: &[Bar]) -> Value {
    let value = |bar: &Bar| bar.value.as_ref().ok().copied();
    // Only the first bar of a drive has its name; the parts follow below.
    let mut name = "";
    let labels: Vec<String> = bars
        .iter()
        .map(|bar| {
            name = if bar.label.is_empty() { name } else { &bar.label };
            format!("{name} {}", bar.part).trim_end().to_owned()
        })
        .collect();
    json!({
        "data": { "values": bars.iter().zip(&labels).map(|(bar, label)| json!({
            "label": label,
            "value": value(bar),
            "low": bar.interval.map(|(low, _)| low),
            "high": bar.interval.map(|(_, high)| high),
            "reason": bar.value.as_ref().err(),
            "colour": PALETTE_LIGHT[bar.colour % PALETTE_LIGHT.len()],
        })).collect::<Vec<_>>() },
        "encoding": { "y": { "field": "label", "type": "nominal", "sort": null, "title": null } },
        "layer": [
            { "mark": "bar", "encoding": {
                "x": { "field": "value", "type": "quantitative", "title": unit },
                "color": { "field": "colour", "type": "nominal", "scale": null },
            } },
            { "mark": "rule", "encoding": {
                "x": { "field": "low", "type": "quantitative" }, "x2": { "field": "high" },
            } },
        ],
    })
}

fn line_chart(x: &Axis, y: &Axis, right: Option<&Axis>, lines: &[Line]) -> Value {
    let mut values = Vec::new();
    for line in lines {
        for (stretch, points) in line.stretches.iter().enumerate() {
            for (at, value) in points {
                // The tail axis places a percentile p at 1 - p.
                let at = if x.scale == Scale::Tail { 1.0 - at } else { *at };
                values.push(json!({
                    "line": line.label, "stretch": stretch, "right": line.right, "x": at,
                    "y": value,
                }));
            }
        }
    }
    let names: Vec<&str> = lines.iter().map(|line| line.label.as_str()).collect();
    let colours: Vec<&str> =
        lines.iter().map(|line| PALETTE_LIGHT[line.colour % PALETTE_LIGHT.len()]).collect();
    let color = json!({
        "field": "line", "type": "nominal", "title": null,
        "scale": { "domain": names, "range": colours },
    });
    let layer = |is_right: bool, y: &Axis| {
        let mut mark = json!({ "type": "line", "point": lines.iter().any(|line| line.marked) });
        if is_right {
            mark["strokeDash"] = json!([5, 3]);
        }
        json!({
            "transform": [{ "filter": { "field": "right", "equal": is_right } }],
            "mark": mark,
            "encoding": { "x": axis("x", x), "y": axis("y", y), "color": color,
                "detail": { "field": "stretch" } },
        })
    };
    let layers: Vec<Value> =
        std::iter::once(layer(false, y)).chain(right.map(|right| layer(true, right))).collect();
    json!({
        "data": { "values": values },
        "layer": layers,
        "resolve": { "scale": { "y": "independent" } },
    })
}

fn axis(field: &str, axis: &Axis) -> Value {
    let (scale, title) = match axis.scale {
        Scale::Onward => (json!({ "type": "linear", "zero": false }), axis.label.clone()),
        Scale::Linear => (json!({ "type": "linear", "zero": true }), axis.label.clone()),
        Scale::Log2 => (json!({ "type": "log", "base": 2 }), axis.label.clone()),
        Scale::Log10 | Scale::Microseconds => {
            (json!({ "type": "log", "base": 10 }), axis.label.clone())
        }
        Scale::Tail => (
            json!({ "type": "log", "base": 10, "reverse": true }),
            format!("Share of requests beyond ({})", axis.label),
        ),
    };
    json!({ "field": field, "type": "quantitative", "title": title, "scale": scale })
}
