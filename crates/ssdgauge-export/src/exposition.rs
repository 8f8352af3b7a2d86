//! The text formats in which monitoring systems collect metrics: OpenMetrics 1.0, and the text format 0.0.4
//! of Prometheus.

/// A text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposition {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The text format of Prometheus, version 0.0.4. It has neither units nor an end, and its counters have
    /// the suffix in the name of their family.
    Prometheus,
}

/// The kind of a family of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A value at a time.
    Gauge,
    /// A sum that grows.
    Counter,
    /// Texts as labels; the value is 1.
    Info,
    /// States, of which the current one has the value 1.
    StateSet,
}

/// A family of metrics.
#[derive(Clone, Copy, Debug)]
pub struct MetricFamily {
    /// The name without the suffix of its kind.
    pub name: &'static str,
    /// The kind.
    pub kind: MetricKind,
    /// The unit, which is also the end of the name; empty for none.
    pub unit: &'static str,
    /// What it is, in one sentence.
    pub help: &'static str,
}

/// A sample of a family: its labels, and its value.
pub type MetricSample = (Vec<(&'static str, String)>, f64);

impl Exposition {
    /// Returns the content type.
    pub fn content_type(self) -> &'static str {
        match self {
            Exposition::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Exposition::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Returns the format for a client with this `Accept` header: OpenMetrics where it is asked for by name
    /// and the client wants the other one no more; otherwise the text format, which every collector reads.
    pub fn accepted(header: &str) -> Exposition {
        let quality = |wanted: &str| {
            let ranges = header.split(',').filter_map(|range| {
                let mut parts = range.split(';').map(str::trim);
                let is_it = parts.next()?.eq_ignore_ascii_case(wanted);
                let parameters = parts.filter_map(|part| part.split_once('='));
                let mut quality = 1.0;
                for (key, value) in parameters {
                    let value = value.trim().trim_matches('"');
                    match key.trim().to_ascii_lowercase().as_str() {
                        "q" => quality = value.parse::<f64>().unwrap_or(0.0),
                        // The versions of OpenMetrics so far, and of the text format.
                        "version" if !["0.0.1", "1.0.0", "0.0.4"].contains(&value) => return None,
                        _ => {}
                    }
                }
                is_it.then_some(quality)
            });
            ranges.fold(0.0, f64::max)
        };
        let openmetrics = quality("application/openmetrics-text");
        match openmetrics > 0.0 && openmetrics >= quality("text/plain") {
            true => Exposition::OpenMetrics,
            false => Exposition::Prometheus,
        }
    }

    /// Returns `families` with their samples as text.
    pub fn text(
        self,
        families: impl IntoIterator<Item = (MetricFamily, Vec<MetricSample>)>,
    ) -> String {
        let mut text = String::new();
        for (family, samples) in families {
            self.write(&mut text, family, &samples);
        }
        if self == Exposition::OpenMetrics {
            text.push_str("# EOF\n");
        }
        text
    }

    fn write(self, text: &mut String, family: MetricFamily, samples: &[MetricSample]) {
        let MetricFamily { name, kind, unit, help } = family;
        debug_assert!(unit.is_empty() || name.ends_with(unit), "{name} does not end with {unit}");
        let suffix = match kind {
            MetricKind::Counter => "_total",
            MetricKind::Info => "_info",
            MetricKind::Gauge | MetricKind::StateSet => "",
        };
        match self {
            Exposition::OpenMetrics => {
                let kind = match kind {
                    MetricKind::Gauge => "gauge",
                    MetricKind::Counter => "counter",
                    MetricKind::Info => "info",
                    MetricKind::StateSet => "stateset",
                };
                text.push_str(&format!("# TYPE {name} {kind}\n"));
                if !unit.is_empty() {
                    text.push_str(&format!("# UNIT {name} {unit}\n"));
                }
                text.push_str(&format!("# HELP {name} {}\n", escaped(help)));
            }
            Exposition::Prometheus => {
                let kind = if kind == MetricKind::Counter { "counter" } else { "gauge" };
                let help = help.replace('\\', "\\\\").replace('\n', "\\n");
                text.push_str(&format!("# HELP {name}{suffix} {help}\n"));
                text.push_str(&format!("# TYPE {name}{suffix} {kind}\n"));
            }
        }
        for (labels, value) in samples {
            let pair = |(key, value): &(&str, String)| format!("{key}=\"{}\"", escaped(value));
            let labels: Vec<String> = labels.iter().map(pair).collect();
            let labels = labels.join(",");
            text.push_str(&format!("{name}{suffix}{{{labels}}} {}\n", number(*value)));
        }
    }
}

/// Escapes the value of a label, as both formats want it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn number(value: f64) -> String {
    match value {
        _ if value.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_format_is_sent_unless_openmetrics_is_asked_for() {
        let openmetrics = "application/openmetrics-text";
        let prometheus_2 = "application/openmetrics-text;version=1.0.0;q=0.5,\
                            application/openmetrics-text;version=0.0.1;q=0.4,\
                            text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        let text_first = "text/plain;version=0.0.4;q=0.9, application/openmetrics-text;q=0.5";
        for (header, expected) in [
            ("", Exposition::Prometheus),
            ("*/*", Exposition::Prometheus),
            ("text/html, application/*;q=0.9", Exposition::Prometheus),
            ("text/plain", Exposition::Prometheus),
            (openmetrics, Exposition::OpenMetrics),
            ("Application/OpenMetrics-Text; Version=\"1.0.0\"", Exposition::OpenMetrics),
            (prometheus_2, Exposition::OpenMetrics),
            (text_first, Exposition::Prometheus),
            ("application/openmetrics-text;q=0", Exposition::Prometheus),
            ("application/openmetrics-text; version=2.0.0, */*", Exposition::Prometheus),
            ("application/openmetrics-text;q=x", Exposition::Prometheus),
            ("application/openmetrics-texts", Exposition::Prometheus),
        ] {
            assert_eq!(Exposition::accepted(header), expected, "{header:?}");
        }
    }

    #[test]
    fn counters_and_states_have_the_form_of_each_format() {
        let families = || {
            let family = |name, kind, unit| MetricFamily { name, kind, unit, help: "A \\ \"b\"." };
            [
                (
                    family("a_bytes", MetricKind::Counter, "bytes"),
                    vec![(vec![("x", "\"\n".into())], 3.0)],
                ),
                (family("b", MetricKind::StateSet, ""), vec![(vec![("b", "on".into())], 1.0)]),
                (family("c", MetricKind::Info, ""), vec![(vec![("d", "e".into())], 1.0)]),
                (family("f", MetricKind::Gauge, ""), vec![(vec![("d", "".into())], f64::INFINITY)]),
            ]
        };
        assert_eq!(
            Exposition::OpenMetrics.text(families()),
            "# TYPE a_bytes counter\n# UNIT a_bytes bytes\n# HELP a_bytes A \\\\ \\\"b\\\".\n\
             a_bytes_total{x=\"\\\"\\n\"} 3\n\
             # TYPE b stateset\n# HELP b A \\\\ \\\"b\\\".\nb{b=\"on\"} 1\n\
             # TYPE c info\n# HELP c A \\\\ \\\"b\\\".\nc_info{d=\"e\"} 1\n\
             # TYPE f gauge\n# HELP f A \\\\ \\\"b\\\".\nf{d=\"\"} +Inf\n# EOF\n"
        );
        assert_eq!(
            Exposition::Prometheus.text(families()),
            "# HELP a_bytes_total A \\\\ \"b\".\n# TYPE a_bytes_total counter\n\
             a_bytes_total{x=\"\\\"\\n\"} 3\n\
             # HELP b A \\\\ \"b\".\n# TYPE b gauge\nb{b=\"on\"} 1\n\
             # HELP c_info A \\\\ \"b\".\n# TYPE c_info gauge\nc_info{d=\"e\"} 1\n\
             # HELP f A \\\\ \"b\".\n# TYPE f gauge\nf{d=\"\"} +Inf\n"
        );
    }
}
