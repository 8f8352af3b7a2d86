//! Measures the speed and the memory of the virtual drive.
//!
//! `cargo run --release -p ssdgauge-tools -- speed [TARGET [SECONDS]]`: uniform random writes
//! at QD32; without seconds, one sequential fill; without arguments, the cases of the README.
//! `requests` measures the generation of requests alone.
//! `floor` measures one random update of a table as large as the map of a 500 GB drive: the lower
//! limit of the machine, of which a write needs 1 + WA. `ratio TARGET [ROUNDS]` measures a worn-in
//! drive and the floor in turn, and prints the median of their ratio: other programs on the machine
//! slow down both. `ratios TARGET ROUNDS` prints each of them. Processor time is that of this process.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used)]

use ssdgauge_core::{
    Access, Arrival, BlockSizes, Bytes, Data, Distribution, Engine, Finding, Interval, Nanos,
    Preparation, Random, Reading, RequestSource, Rig, Sink, SizeShare, Stream, Until, Workload,
    Zone,
};
use ssdgauge_sim::VirtualRig;
use std::error::Error;

#[derive(Default)]
struct Series {
    ios: Vec<u64>,
    readings: u64,
    amplification: f64,
    spare: f64,
}

impl Sink for Series {
    fn interval(&mut self, interval: &Interval) {
        self.ios.push(interval.ios);
    }
    fn reading(&mut self, reading: &Reading) {
        self.readings += 1;
        match reading.quantity.as_str() {
            "write_amplification" => self.amplification = reading.value,
            "true_over_provisioning" => self.spare = reading.value,
            _ => {}
        }
    }
    fn finding(&mut self, _: Finding) {}
    fn announce(&mut self, _: Finding) -> bool {
        true
    }
    fn stop(&mut self) -> bool {
        false
    }
}

/// Returns the processor time of this process in seconds.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// Returns the peak memory of this process, in MiB.
fn peak_mib() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

fn random_writes(capacity: Bytes) -> Workload {
    Workload {
        engine: Engine::IoUring,
        streams: vec![Stream {
            name: "main".into(),
            access: Access::Random,
            block_size: Bytes(4_096),
            read_percent: 0,
            queue_depth: 32,
            threads: 1,
            offset: Bytes(0),
            span: capacity,
            arrival: Arrival::Closed,
            data: Data::Incompressible,
            sync: false,
            ..Stream::default()
        }],
    }
}

fn measure(spec: &str, seconds: u64) {
    let begin = cpu();
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let created = cpu();
    let workload = random_writes(rig.drive().capacity);
    let until = Until { time: Some(Nanos::from_secs(seconds)), bytes: None };
    let mut series = Series::default();
    rig.run(&workload, &until, &mut series).unwrap();
    let ran = cpu() - created;
    let ios: u64 = series.ios.iter().sum();
    let gib = rig.drive().capacity.0 as f64 / (1u64 << 30) as f64;
    let mib = peak_mib();
    println!(
        "{spec}: {seconds} s in {ran:.2} CPU s (creation {:.2}), {:.1} M I/Os, {:.2} M/s, {:.1} ns each, WA {:.3}, spare {:.4}, \
         {mib:.0} MiB = {:.2} MiB/GiB, {} readings, last second {}",
        created - begin,
        ios as f64 / 1e6,
        ios as f64 / ran / 1e6,
        ran * 1e9 / ios as f64,
        series.amplification,
        series.spare,
        mib / gib,
        series.readings,
        series.ios.iter().rev().nth(1).unwrap_or(&0),
    );
}

/// Measures one sequential fill of the drive.
fn fill(spec: &str) {
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let span = rig.drive().capacity;
    let fill = Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(131_072),
        offset: Bytes(0),
        span,
    };
    let begin = cpu();
    let prepared = rig.prepare(&fill, &mut Series::default()).unwrap();
    let ran = cpu() - begin;
    println!("{spec}: filled once in {ran:.2} CPU s, {} of virtual time", prepared.elapsed.about());
}

/// Measures one random update of a table as large as the map of a 500 GB drive.
fn floor() {
    let mut table = Table::new();
    let each = table.update(100_000_000);
    println!("floor: {each:.1} ns for one random update (huge pages: {})", table.is_huge);
}

/// A table as large as the map of a 500 GB drive.
struct Table {
    memory: memmap2::MmapMut,
    /// Without huge pages the table is slower.
    is_huge: bool,
    random: Random,
}

impl Table {
    const ENTRIES: u64 = 122_070_312;
    const AHEAD: usize = 256;

    fn new() -> Table {
        let mut memory = memmap2::MmapMut::map_anon(Table::ENTRIES as usize * 2).unwrap();
        let is_huge = memory.advise(memmap2::Advice::HugePage).is_ok();
        memory.fill(1);
        Table { memory, is_huge, random: Random::new(1, 0xf100) }
    }

    /// Updates `updates` random entries; returns the processor time of one in nanoseconds.
    fn update(&mut self, updates: u64) -> f64 {
        let table: &mut [u16] = bytemuck::cast_slice_mut(&mut self.memory[..]);
        let mut indices = [0usize; Table::AHEAD];
        let begin = cpu();
        for _ in 0..updates / Table::AHEAD as u64 {
            indices.fill_with(|| self.random.below(Table::ENTRIES) as usize);
            // Independent loads first, as the model does: the processor overlaps their misses.
            let sum: u16 = indices.iter().fold(0, |sum, index| sum ^ table[*index]);
            std::hint::black_box(sum);
            indices.iter().for_each(|index| table[*index] = table[*index].wrapping_add(1));
        }
        (cpu() - begin) * 1e9 / updates as f64
    }
}

/// A round of writes to a worn-in drive between two of the floor.
struct Round {
    /// The time of a write over that of its updates.
    ratio: f64,
    write_ns: f64,
    floor_ns: f64,
    amplification: f64,
}

/// Measures random writes to a worn-in drive and the floor in turn.
fn rounds(spec: &str, rounds: usize) -> Vec<Round> {
    /// About as long as the writes of a round.
    const UPDATES: u64 = 8_000_000;
    const WRITTEN: Bytes = Bytes(1_000_000 * 4_096);
    let mut table = Table::new();
    let mut rig = VirtualRig::open(spec, 1).unwrap();
    let workload = random_writes(rig.drive().capacity);
    let until = Until { time: None, bytes: Some(WRITTEN) };
    let mut write = || {
        let (before, begin) = (rig.ground_truth(), cpu());
        rig.run(&workload, &until, &mut Series::default()).unwrap();
        let truth = rig.ground_truth();
        let writes = (truth.host_pages - before.host_pages) as f64;
        let amplification = truth.write_amplification_since(&before).unwrap();
        ((cpu() - begin) * 1e9 / writes, amplification)
    };
    write();
    // Floor, writes, floor: each round is compared with the mean of the floors before and after it.
    let mut floor = table.update(UPDATES);
    let round = |_| {
        let before = floor;
        let (write_ns, amplification) = write();
        floor = table.update(UPDATES);
        let floor_ns = (before + floor) / 2.0;
        Round {
            ratio: write_ns / (floor_ns * (1.0 + amplification)),
            write_ns,
            floor_ns,
            amplification,
        }
    };
    (0..rounds).map(round).collect()
}

/// Prints the ratio of each round to a line of its own.
fn ratios(spec: &str, count: usize) {
    rounds(spec, count).iter().for_each(|round| println!("{:.3}", round.ratio));
}

/// Prints the median of the ratio, and of what it is made of.
fn ratio(spec: &str, count: usize) {
    let times = rounds(spec, count);
    let sorted = |pick: fn(&Round) -> f64| {
        let mut values: Vec<f64> = times.iter().map(pick).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let median = |pick| sorted(pick)[count / 2];
    let ratios = sorted(|round| round.ratio);
    println!(
        "{spec}: {:.2} times the floor (middle half of {count} rounds {:.2} to {:.2}); {:.1} ns each, \
         floor {:.2} ns, WA {:.2}",
        ratios[count / 2],
        ratios[count / 4],
        ratios[count * 3 / 4],
        median(|round| round.write_ns),
        median(|round| round.floor_ns),
        median(|round| round.amplification),
    );
}

/// Measures the generation of requests alone, for each kind of stream.
fn requests() {
    const REQUESTS: u64 = 50_000_000;
    let zone = |accesses, space| Zone { accesses, space };
    let share = |(size, percent)| SizeShare { size: Bytes(size), percent };
    let sizes = BlockSizes([(4_096, 60), (16_384, 30), (131_072, 10)].map(share).to_vec());
    let zones = Distribution::Zones(vec![zone(0.8, 0.2), zone(0.2, 0.8)]);
    let random = random_writes(Bytes(120_000_000_000)).streams.remove(0);
    let shaped = |distribution| Stream { distribution, ..random.clone() };
    let sized = Stream { block_size: Bytes(131_072), sizes, ..random.clone() };
    for (name, stream) in [
        ("sequential", Stream { access: Access::Sequential, ..random.clone() }),
        ("random", random.clone()),
        ("70 % read", Stream { read_percent: 70, ..random.clone() }),
        ("zones 80/20", shaped(zones)),
        ("Zipf 0.8", shaped(Distribution::Zipf(0.8))),
        ("Zipf 1.2", shaped(Distribution::Zipf(1.2))),
        ("three sizes", sized),
    ] {
        let mut source = RequestSource::new(&stream, 0, 1);
        let begin = cpu();
        for _ in 0..REQUESTS {
            std::hint::black_box(source.deal());
        }
        println!("{name}: {:.2} ns each", (cpu() - begin) * 1e9 / REQUESTS as f64);
    }
}

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    match arguments {
        [word] if word == "floor" => floor(),
        [word] if word == "requests" => requests(),
        [word, spec] if word == "ratio" => ratio(spec, 41),
        [word, spec, rounds] if word == "ratios" => ratios(spec, rounds.parse()?),
        [word, spec, rounds] if word == "ratio" => ratio(spec, rounds.parse()?),
        [spec, seconds, ..] => measure(spec, seconds.parse()?),
        [spec] => fill(spec),
        // Peak memory is that of the process, so each case runs in a separate one.
        [] => {
            for case in CASES {
                let mut program = std::process::Command::new(std::env::current_exe()?);
                let status = program.arg("speed").args(case.split(' ')).status()?;
                if !status.success() {
                    return Err(format!("{case}: {status}").into());
                }
            }
        }
    }
    Ok(())
}

/// The cases of the README.
const CASES: [&str; 12] = [
    "floor",
    "ratio tlc-client?state=steady",
    "ratio tlc-client?state=steady&slc.fixed_gb=0&slc.dynamic_gb=0&over_provisioning=28%",
    "tlc-client?capacity=500GB&state=steady 600",
    "tlc-client?state=steady&slc.fixed_gb=0&slc.dynamic_gb=0&over_provisioning=12% 600",
    "tlc-client?state=steady&slc.fixed_gb=0&slc.dynamic_gb=0&over_provisioning=28% 600",
    "tlc-client?state=steady&slc.fixed_gb=0&slc.dynamic_gb=0&unused=25% 600",
    "tlc-client?state=filled 1800",
    "tlc-client?state=filled 3600",
    "tlc-client?state=filled&unused=25% 3600",
    "tlc-client?capacity=1TB&state=steady 600",
    "tlc-client",
];
