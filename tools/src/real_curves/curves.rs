//! The table of curves, and the numbers of their points.

use serde_json::Value;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// One curve: latency of one load on one kind of drive, by queue depth or number of other processes.
pub(crate) struct Curve {
    pub(crate) name: &'static str,
    /// `randread`, `read`, `randwrite` or `write`; `reader+LOAD` and `LOAD+reader` where a reader at QD1 and others
    /// share the drives, and the first of the two is measured.
    pub(crate) load: &'static str,
    /// Bytes of a request; of the others, where a reader shares the drives with them.
    pub(crate) block: u32,
    /// Processes; 0 where the points are their number.
    pub(crate) processes: u32,
    /// Equal drives that each process spreads its requests over.
    pub(crate) drives: u32,
    pub(crate) points: Vec<u32>,
    pub(crate) fitted: Vec<u32>,
    file: &'static str,
}

/// What was measured at one point, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) mean: f64,
    pub(crate) p50: f64,
    /// p99, or p95 where the result has no p99.
    pub(crate) tail: f64,
    /// Requests a second, where the source is a result of fio.
    pub(crate) iops: Option<f64>,
}

impl Curve {
    /// Returns whether a reader at QD1 shares the drives with other processes.
    pub(crate) fn has_reader(&self) -> bool {
        self.load.contains("reader")
    }

    /// Returns the percentile that `Measured::tail` is.
    pub(crate) fn tail(&self) -> f64 {
        if self.name.starts_with("evo") || self.name.starts_with("optane") { 0.95 } else { 0.99 }
    }

    /// Returns the points that are fitted where `peak` has the maximum number of requests a second.
    pub(crate) fn fitted_by_rule(&self, peak: u32) -> Vec<u32> {
        let most = if self.has_reader() { self.points[self.points.len() - 1] } else { peak };
        let middle = 1 << most.isqrt().ilog2();
        vec![self.points[0], middle, most]
    }

    /// Returns the files of `point`: of several, the mean counts.
    fn files(&self, point: u32) -> Vec<String> {
        let file = self.file.replace("{}", &point.to_string());
        match file.contains("{i}") {
            true => (1..=point).map(|i| file.replace("{i}", &i.to_string())).collect(),
            false => vec![file],
        }
    }
}

/// Returns all curves of the table.
pub(crate) fn all() -> Result<Vec<Curve>, Box<dyn Error>> {
    rows(include_str!("curves.tsv"))
        .map(|row| {
            let [name, load, block, processes, drives, points, fitted, file] = row[..] else {
                return Err(format!("a curve of {} columns", row.len()).into());
            };
            let list =
                |text: &str| text.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>();
            Ok(Curve {
                name,
                load,
                block: block.parse()?,
                processes: processes.parse()?,
                drives: drives.parse()?,
                points: list(points)?,
                fitted: list(fitted)?,
                file,
            })
        })
        .collect()
}

fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

/// Where the numbers come from.
pub(crate) enum Source {
    /// The unpacked results of fio.
    Results(TempDir),
    /// The facts of the repository.
    Facts,
}

impl Source {
    /// Unpacks the results in the folder that `SSDGAUGE_CORPUS` names.
    pub(crate) fn open() -> Result<Source, Box<dyn Error>> {
        let Some(corpus) = std::env::var_os("SSDGAUGE_CORPUS") else { return Ok(Source::Facts) };
        let folder = tempfile::tempdir()?;
        for archive in ["samsung-980-pro.tar.xz", "optane-evo-zns.tar.xz"] {
            let archive = PathBuf::from(&corpus).join("fio").join(archive);
            let mut tar = Command::new("tar");
            let status = tar.arg("-C").arg(folder.path()).arg("-xJf").arg(&archive).status()?;
            if !status.success() {
                return Err(format!("{} cannot be unpacked", archive.display()).into());
            }
        }
        Ok(Source::Results(folder))
    }

    /// Returns what was measured at `point` of `curve`.
    pub(crate) fn point(&self, curve: &Curve, point: u32) -> Result<Measured, Box<dyn Error>> {
        let Source::Results(folder) = self else { return fact(curve, point) };
        let files = curve.files(point);
        let count = files.len() as f64;
        let mut sum = Measured { mean: 0.0, p50: 0.0, tail: 0.0, iops: Some(0.0) };
        for file in files {
            let one = result(&folder.path().join(file), curve.tail())?;
            sum.mean += one.mean / count;
            sum.p50 += one.p50 / count;
            sum.tail += one.tail / count;
            sum.iops = sum.iops.zip(one.iops).map(|(a, b)| a + b);
        }
        Ok(sum)
    }
}

fn fact(curve: &Curve, point: u32) -> Result<Measured, Box<dyn Error>> {
    let mut facts = rows(include_str!("facts.tsv"));
    let at = point.to_string();
    let row = facts.find(|row| row[..2] == [curve.name, at.as_str()]);
    let row = row.ok_or("its numbers are in the folder in SSDGAUGE_CORPUS only")?;
    let number = |column: usize| row[column].parse::<f64>();
    Ok(Measured { mean: number(2)?, p50: number(3)?, tail: number(4)?, iops: None })
}

/// Returns the numbers of one result of fio with one job.
fn result(path: &Path, tail: f64) -> Result<Measured, Box<dyn Error>> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let begin = text.find('{').ok_or("no JSON")?;
    let result: Value = serde_json::from_str(&text[begin..])?;
    let job = &result["jobs"][0];
    let used = |side: &&Value| side["total_ios"].as_u64().is_some_and(|ios| ios > 0);
    let side = [&job["read"], &job["write"]].into_iter().find(used).ok_or("no requests")?;
    let latency = &side["clat_ns"];
    let at = |share: f64| latency["percentile"][format!("{:.6}", share * 100.0)].as_f64();
    let us = |ns: Option<f64>| ns.map(|ns| ns / 1e3).ok_or("a latency is missing");
    Ok(Measured {
        mean: us(latency["mean"].as_f64())?,
        p50: us(at(0.5))?,
        tail: us(at(tail))?,
        iops: side["iops"].as_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_follows_its_rule_and_the_facts_belong_to_it() {
        let curves = all().unwrap();
        for curve in &curves {
            let peak = curve.fitted[2];
            assert_eq!(curve.fitted, curve.fitted_by_rule(peak), "{}", curve.name);
            assert!(
                curve.fitted.iter().all(|point| curve.points.contains(point)),
                "{}",
                curve.name
            );
        }
        for row in rows(include_str!("facts.tsv")) {
            let curve = curves.iter().find(|curve| curve.name == row[0]).unwrap();
            assert!(curve.points.contains(&row[1].parse().unwrap()), "{row:?}");
        }
    }

    #[test]
    fn no_collection_has_more_than_200_facts() {
        let of = |names: &[&str]| {
            let rows = rows(include_str!("facts.tsv"));
            rows.filter(|row| names.iter().any(|name| row[0].starts_with(name))).count() * 3
        };
        let (zoned, all) = (of(&["evo", "optane"]), of(&[""]));
        assert!(zoned <= 200 && all - zoned <= 200, "{zoned} {all}");
    }
}
