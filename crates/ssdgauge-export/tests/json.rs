//! JSON, CSV and what is missing: every number recomputed, every null explained.

use crate::support::{Pace, Recipe, quick};
use crate::{schema, support};
use serde_json::Value;
use ssdgauge_core::{Bytes, Finding, FindingKind, Severity, TargetKind};
use ssdgauge_export::{csv, json};

fn runs(recipe: &Recipe<'_>) -> (Value, String) {
    let run = [support::run(recipe)];
    let document = json(&run);
    schema::check("report.json", &document);
    (document, csv(&run))
}

fn even(_: &ssdgauge_core::Stream, _: u32) -> Pace {
    Pace { iops: 2_000, lat_us: 500.0 }
}

#[test]
fn json_has_its_shape_and_values_recomputed_from_samples() {
    let mut recipe = Recipe::new("run-1", quick(6), "Disk");
    recipe.pace = &even;
    recipe.findings = vec![
        (None, Finding::new(FindingKind::PageCache, Severity::Warning, "cached", "do not")),
        (Some(0), Finding::new(FindingKind::Throttled, Severity::Warning, "hot", "cool it")),
    ];
    let (document, _) = runs(&recipe);
    assert_eq!(document["schema_version"], 1);
    let run = &document["runs"][0];
    assert_eq!(
        (&run["id"], &run["complete"], &run["model"]),
        (&"run-1".into(), &true.into(), &false.into())
    );
    assert_eq!(run["suite"]["id"], "quick");
    assert_eq!(
        (&run["suite"]["shortened"], &run["suite"]["is_shortened"]),
        (&1.into(), &false.into())
    );
    assert_eq!(run["drive"]["capacity_bytes"], 1_000_204_886_016u64);
    assert_eq!(run["findings"][0]["kind"], "page-cache");
    let test = &run["tests"][0];
    assert_eq!((&test["id"], &test["revision"]), (&"sequential-read".into(), &1.into()));
    assert_eq!(test["headline"]["metric"], "throughput_mb_s");
    assert_eq!(test["headline"]["unit"], "MB/s");
    assert_eq!(test["headline"]["value"], 2_000.0 * 1_048_576.0 / 1e6);
    assert_eq!(test["headline"]["n"], 6, "the seconds of the best point");
    assert_eq!(test["findings"][0]["step"], "128KiB QD1");
    let metrics = &test["points"][0]["metrics"];
    assert_eq!(metrics["iops"], 2_000.0);
    assert_eq!(metrics["read_iops"], 2_000.0);
    assert_eq!(metrics["write_iops"], Value::Null);
    assert!(metrics.get("write_iops").is_none(), "a direction that the workload has not");
    assert!(metrics["lat_p99_us"].as_f64().unwrap() > 300.0);
    let mixed = &run["tests"][4]["points"][0]["metrics"];
    assert_eq!((&mixed["read_iops"], &mixed["write_iops"]), (&1_400.0.into(), &600.0.into()));
}

#[test]
fn every_null_has_a_finding_that_names_it() {
    let mut recipe = Recipe::new("run-2", quick(3), "Disk");
    recipe.pace = &even;
    recipe.steps = 9;
    let (document, _) = runs(&recipe);
    let mut nulls = 0;
    for test in document["runs"][0]["tests"].as_array().unwrap() {
        let explained = |key: &str, step: &Value| {
            test["findings"].as_array().unwrap().iter().any(|finding| {
                let metrics = finding["metrics"].as_array().unwrap();
                metrics.contains(&key.into())
                    && (finding["step"].is_null() || finding["step"] == *step)
            })
        };
        for point in test["points"].as_array().unwrap() {
            for (key, value) in point["metrics"].as_object().unwrap() {
                if value.is_null() {
                    nulls += 1;
                    assert!(explained(key, &point["label"]), "{key} of {}", point["label"]);
                }
            }
        }
        for key in ["value", "low", "high"] {
            if test["headline"][key].is_null() {
                nulls += 1;
                assert!(explained("headline", &Value::Null), "{key} of {}", test["id"]);
            }
        }
    }
    assert!(nulls > 30, "the run has much that is missing: {nulls}");
}

#[test]
fn a_percentile_of_too_few_requests_has_a_finding_with_the_number_needed() {
    let mut recipe = Recipe::new("run-3", quick(6), "Disk");
    recipe.pace = &even;
    let (document, _) = runs(&recipe);
    let test = &document["runs"][0]["tests"][2];
    assert_eq!(test["points"][0]["metrics"]["lat_p99_999_us"], Value::Null);
    let text = test["findings"].to_string();
    assert!(
        text.contains(
            "99.999th percentile latency needs at least 100,000 requests, 12,000 completed"
        ),
        "{text}"
    );
}

#[test]
fn power_and_efficiency_follow_from_a_meter() {
    let mut recipe = Recipe::new("run-4", quick(6), "Disk");
    recipe.pace = &even;
    recipe.power_w = Some(4.0);
    let (document, _) = runs(&recipe);
    let test = &document["runs"][0]["tests"][2];
    let metrics = &test["points"][0]["metrics"];
    assert_eq!((&metrics["power_w"], &metrics["efficiency_kiops_w"]), (&4.0.into(), &0.5.into()));
    assert!(!test["findings"].to_string().contains("power meter"));
}

#[test]
fn a_model_and_a_shortened_run_are_marked() {
    let mut recipe = Recipe::new("run-5", quick(2), "client-tlc");
    recipe.drive.kind = TargetKind::Virtual;
    recipe.plan.shortened = 10;
    recipe.plan.span_scaled = true;
    recipe.plan.polled = true;
    recipe.plan.pass_through = true;
    let (document, table) = runs(&recipe);
    let run = &document["runs"][0];
    assert_eq!((&run["model"], &run["drive"]["kind"]), (&true.into(), &"virtual".into()));
    assert_eq!(
        (&run["suite"]["shortened"], &run["suite"]["is_shortened"]),
        (&10.into(), &true.into())
    );
    for key in ["span_scaled", "polled", "pass_through"] {
        assert_eq!(run["suite"][key], true, "{key}");
    }
    assert!(table.lines().skip(1).all(|line| line.contains(",MODEL,")));
}

#[test]
fn csv_has_one_row_for_each_value_and_as_many_cells_everywhere() {
    let mut recipe = Recipe::new("run-6", quick(6), "Disk");
    recipe.pace = &even;
    recipe.drive.capacity = Bytes(64_000_000_005);
    let (_, table) = runs(&recipe);
    let cells = table.lines().next().unwrap().split(',').count();
    assert!(table.lines().all(|line| line.split(',').count() == cells));
    assert!(table.contains("random-read-4k,1,QD1,1,iops,2000,IOPS,,\r\n"), "{table}");
    assert!(table.contains("random-read-4k,1,QD1,1,lat_p99_999_us,,µs,,\r\n"));
    assert!(table.contains("random-read-4k,1,headline,,iops,2000,IOPS,,\r\n"));
}

#[test]
fn a_hostile_name_makes_no_formula() {
    let mut recipe = Recipe::new("run-7", quick(1), "=cmd|' /C calc'!A0");
    recipe.drive.serial = Some("@SUM(1,2)".into());
    recipe.drive.firmware = Some("-2+3".into());
    let (_, table) = runs(&recipe);
    for line in table.lines() {
        for cell in line.split(',') {
            let cell = cell.trim_matches('"');
            assert!(!cell.starts_with(['=', '+', '-', '@']), "{line}");
        }
    }
}

#[test]
fn reading_a_file_twice_gives_equal_json() {
    let recipe = Recipe::new("a", quick(3), "Disk");
    assert_eq!(json(&[support::run(&recipe)]), json(&[support::run(&recipe)]));
}

#[test]
#[should_panic(expected = "/runs/0/complete: type")]
fn a_value_of_another_type_contradicts_the_schema() {
    let mut document = json(&[support::run(&Recipe::new("run-1", quick(6), "Disk"))]);
    document["runs"][0]["complete"] = "yes".into();
    schema::check("report.json", &document);
}

#[test]
#[should_panic(expected = "/runs/0/tests/0/new: the schema has no such key")]
fn a_key_that_no_type_has_contradicts_the_schema() {
    let mut document = json(&[support::run(&Recipe::new("run-1", quick(6), "Disk"))]);
    document["runs"][0]["tests"][0]["new"] = 1.into();
    schema::check("report.json", &document);
}
