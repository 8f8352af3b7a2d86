//! Writes the tables of many runs, made from one run of a virtual drive, with the writer of
//! `ssdgauge export --parquet`:
//! `cargo run --release -p ssdgauge-tools -- many_runs RUN.ssdg FOLDER [RUNS]`.
//!
//! Every row carries MODEL. The runs are on 20 models with two firmware versions each; values spread by
//! 2 %, and one drive in a thousand is a fifth slower. The same call writes the same values.

#![allow(clippy::print_stdout, reason = "a program for the terminal")]

use ssdgauge_analysis::Run;
use ssdgauge_core::Random;
use ssdgauge_fleet::{Cell, Table, parquet, path, tables};
use std::error::Error;
use std::path::{Path, PathBuf};

const MODELS: usize = 20;

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [file, folder, rest @ ..] = arguments else {
        return Err("usage: many_runs RUN.ssdg FOLDER [RUNS]".into());
    };
    let runs = rest.first().map_or(Ok(10_000), |number| number.parse())?;
    let run = ssdgauge_analysis::read(Path::new(file))?;
    if !run.is_model() {
        return Err("the run has to be of a virtual drive: its copies are no measurements".into());
    }
    let folder = PathBuf::from(folder);
    let half = runs / 2;
    std::thread::scope(|scope| {
        let first =
            scope.spawn(|| write(&run, &folder, 0..half).map_err(|error| error.to_string()));
        let second = write(&run, &folder, half..runs).map_err(|error| error.to_string());
        first.join().map_err(|_| "a thread panicked".to_owned()).and_then(|first| first.and(second))
    })?;
    println!("{runs} runs (MODEL) in {}", folder.display());
    Ok(())
}

fn write(one: &Run, folder: &Path, numbers: std::ops::Range<usize>) -> Result<(), Box<dyn Error>> {
    let mut run = one.clone();
    for number in numbers {
        run.head.id = format!("copy-{number:05}");
        run.head.drive.model = Some(format!("MODEL {:02}", number % MODELS));
        run.head.drive.firmware = Some(format!("F{}", number % 2));
        run.head.drive.serial = Some(format!("S{number:05}"));
        run.head.plan.shortened = 1;
        let mut random = Random::new(number as u64, 1);
        let spread = 1.0 + 0.02 * (random.unit() - 0.5);
        let factor = if number.is_multiple_of(1_000) { 0.8 * spread } else { spread };
        for mut table in tables(&run, false) {
            scale(&mut table, factor);
            let to = folder.join(path(&table, &run));
            std::fs::create_dir_all(to.parent().ok_or("no folder")?)?;
            std::fs::write(to, parquet(&table)?)?;
        }
    }
    Ok(())
}

/// Multiplies the values of the table `value`.
fn scale(table: &mut Table, factor: f64) {
    let columns = table.columns.iter().enumerate();
    let wanted = ["value", "low", "high"];
    let places: Vec<usize> = columns
        .filter(|(_, column)| wanted.contains(&column.name))
        .map(|(place, _)| place)
        .collect();
    for row in table.rows.iter_mut().filter(|_| table.name == "value") {
        for place in &places {
            if let Cell::Real(value) = &mut row[*place] {
                *value *= factor;
            }
        }
    }
}
