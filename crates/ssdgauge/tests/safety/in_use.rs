//! Drives in use, in every way that a host can set up without special hardware.

use crate::safety::bench::{Bench, Case, SIZE};
use crate::safety::table::{Scenario, check_all};
use std::path::PathBuf;

#[test]
fn a_drive_in_use_is_refused_with_the_reason_and_not_written() {
    check_all("drives in use", SCENARIOS, 25);
}

const SCENARIOS: &[Scenario] = &[
    ("mounted", |bench| {
        let (device, image) = mounted(bench, "defaults")?;
        Some(Case::new(&device, &image, "is mounted at /"))
    }),
    ("mounted read-only", |bench| {
        let (device, image) = mounted(bench, "ro")?;
        Some(Case::new(&device, &image, "is mounted at /"))
    }),
    ("mounted, named by a symbolic link", |bench| {
        let (device, image) = mounted(bench, "defaults")?;
        let link = bench.path("by-id");
        std::os::unix::fs::symlink(&device, &link).unwrap();
        Some(Case::new(link.to_str()?, &image, "is mounted at /"))
    }),
    ("mounted, named with two slashes", |bench| {
        let (device, image) = mounted(bench, "defaults")?;
        Some(Case::new(&format!("/{device}"), &image, "is mounted at /"))
    }),
    ("mounted, named by way of ..", |bench| {
        let (device, image) = mounted(bench, "defaults")?;
        let name = device.strip_prefix("/dev/")?;
        Some(Case::new(&format!("/dev/../dev/./{name}"), &image, "is mounted at /"))
    }),
    ("mounted, a second node in /dev", |bench| {
        let (device, image) = mounted(bench, "defaults")?;
        let node = format!("/dev/ssdgauge-test-{}", std::process::id());
        node_of(bench, &device, &node)?;
        bench.remove_at_end(node.as_ref());
        let mut case = Case::new(&node, &image, "is mounted at /");
        case.confirm = Some(crate::safety::bench::confirmation(&device));
        Some(case)
    }),
    ("mounted, a second node elsewhere", |bench| {
        let (device, image) = mounted(bench, "defaults")?;
        let node = bench.path("node").display().to_string();
        node_of(bench, &device, &node)?;
        Some(Case::new(&node, &image, "a device node outside /dev"))
    }),
    ("idle, a second node elsewhere", |bench| {
        let (device, image) = bench.drive()?;
        let node = bench.path("node").display().to_string();
        node_of(bench, &device, &node)?;
        Some(Case::new(&node, &image, "a device node outside /dev"))
    }),
    ("mounted in another mount namespace", |bench| {
        let (device, image) = bench.drive()?;
        bench.format(&device);
        let point = bench.path("point");
        std::fs::create_dir(&point).unwrap();
        let point = point.display();
        bench.start_until_ready(&format!(
            "exec unshare -m --propagation private sh -c 'mount {device} {point} && READY && exec sleep 60'"
        ));
        Some(Case::new(&device, &image, "is mounted at /"))
    }),
    ("mounted twice, the first unmounted", |bench| {
        let (device, image) = mounted(bench, "defaults")?;
        bench.mount(&device, "again", "defaults");
        bench.run(&["umount", bench.path("mounted").to_str()?]);
        Some(Case::new(&device, &image, "/again"))
    }),
    ("unmounted lazily while a process is inside", |bench| {
        let (device, image) = mounted(bench, "defaults")?;
        let point = bench.path("mounted");
        bench.start_until_ready(&format!("cd {} && READY && exec sleep 60", point.display()));
        bench.run(&["umount", "-l", point.to_str()?]);
        Some(Case::new(&device, &image, "is in use"))
    }),
    ("swap", |bench| {
        let (device, image) = bench.drive()?;
        bench.run(&["mkswap", "-q", &device]);
        if !bench.succeeds(&["swapon", &device]) {
            return None;
        }
        bench.run_at_end(&["swapoff", &device]);
        Some(Case { kernel_writes: true, ..Case::new(&device, &image, "is used as swap") })
    }),
    ("over a file that is used as swap", |bench| {
        let image = bench.image("swap");
        bench.run(&["chmod", "600", image.to_str()?]);
        bench.run(&["mkswap", "-q", image.to_str()?]);
        if !bench.succeeds(&["swapon", image.to_str()?]) {
            return None;
        }
        bench.run_at_end(&["swapoff", image.to_str()?]);
        let device = bench.attach(&image, &[])?;
        Some(Case { kernel_writes: true, ..Case::new(&device, &image, "is used as swap (/") })
    }),
    ("swap on zram", |bench| {
        let device = bench.zram()?;
        bench.run(&["mkswap", "-q", &device]);
        if !bench.succeeds(&["swapon", &device]) {
            return None;
        }
        bench.run_at_end(&["swapoff", &device]);
        Some(Case { kernel_writes: true, ..Case::new(&device, device.as_ref(), "is used as swap") })
    }),
    ("a mounted zram device", |bench| {
        let device = bench.zram()?;
        bench.format(&device);
        bench.mount(&device, "mounted", "defaults");
        Some(Case::new(&device, device.as_ref(), "is mounted at /"))
    }),
    ("below a mounted loop device", |bench| {
        let (below, image) = bench.drive()?;
        let above = bench.attach(below.as_ref(), &[])?;
        bench.format(&above);
        bench.mount(&above, "mounted", "defaults");
        Some(Case::new(&below, &image, "is mounted at /"))
    }),
    ("below an idle loop device", |bench| {
        let (below, image) = bench.drive()?;
        let above = bench.attach(below.as_ref(), &[])?;
        let expected = format!("{} is a loop device on it", above.strip_prefix("/dev/")?);
        Some(Case::new(&below, &image, &expected))
    }),
    ("below two loop devices, the upper mounted", |bench| {
        let (below, image) = bench.drive()?;
        let middle = bench.attach(below.as_ref(), &[])?;
        let above = bench.attach(middle.as_ref(), &[])?;
        bench.format(&above);
        bench.mount(&above, "mounted", "defaults");
        Some(Case::new(&below, &image, "is mounted at /"))
    }),
    ("a loop device over a mounted device", |bench| {
        let (below, image) = mounted(bench, "defaults")?;
        let above = bench.attach(below.as_ref(), &[])?;
        Some(Case::new(&above, &image, &format!("is a loop device over {below}")))
    }),
    ("a loop device over a loop device over an idle one", |bench| {
        let (below, image) = bench.drive()?;
        let middle = bench.attach(below.as_ref(), &[])?;
        let above = bench.attach(middle.as_ref(), &[])?;
        Some(Case::new(&above, &image, "name that drive itself"))
    }),
    ("a loop device on a file of its file system", |bench| {
        let (device, image) = mounted(bench, "defaults")?;
        let file = bench.path("mounted/inner");
        std::fs::File::create(&file).unwrap().set_len(1 << 20).unwrap();
        bench.attach(&file, &[])?;
        Some(Case::new(&device, &image, "is mounted at /"))
    }),
    ("one file behind two loop devices, one mounted", |bench| {
        let (device, image) = bench.drive()?;
        let other = bench.attach(&image, &["--direct-io=on"])?;
        bench.format(&other);
        bench.mount(&other, "mounted", "defaults");
        Some(Case::new(&device, &image, "is a loop device on the same file"))
    }),
    ("one file behind two loop devices, both idle", |bench| {
        let (device, image) = bench.drive()?;
        bench.attach(&image, &["--direct-io=on"])?;
        Some(Case::new(&device, &image, "is a loop device on the same file"))
    }),
    ("open for writing in a process", |bench| {
        let (device, image) = bench.drive()?;
        bench.start_until_ready(&format!("exec 7<>{device}; READY; exec sleep 60"));
        Some(Case::new(&device, &image, "is open in sleep (process"))
    }),
    ("open for reading in a process", |bench| {
        let (device, image) = bench.drive()?;
        bench.start_until_ready(&format!("exec 7<{device}; READY; exec sleep 60"));
        Some(Case::new(&device, &image, "is open in sleep (process"))
    }),
    ("its file open in a process, as a VM would", |bench| {
        let (device, image) = bench.drive()?;
        bench.start_until_ready(&format!("exec 7<>{}; READY; exec sleep 60", image.display()));
        Some(Case::new(&device, &image, "is open in sleep (process"))
    }),
    ("a loop device on it open in a process", |bench| {
        let (below, image) = bench.drive()?;
        let above = bench.attach(below.as_ref(), &[])?;
        bench.start_until_ready(&format!("exec 7<>{above}; READY; exec sleep 60"));
        Some(Case::new(&below, &image, "is in use"))
    }),
    ("locked as udev and systemd do", |bench| {
        let (device, image) = bench.drive()?;
        // flock opens the device read-only, and its child inherits the lock.
        bench.start_until_ready(&format!("exec flock {device} sh -c 'READY; exec sleep 60'"));
        Some(Case::new(&device, &image, "is in use"))
    }),
    ("leased to another run by its serial", |bench| {
        let (device, image) = bench.drive()?;
        let name = crate::safety::bench::confirmation(&device).replace(':', "=3a");
        std::fs::create_dir_all("/run/ssdgauge").unwrap();
        bench.start_until_ready(&format!(
            "exec flock /run/ssdgauge/{name}.lock sh -c 'READY; exec sleep 60'"
        ));
        Some(Case::busy(&device, &image, "another run holds the drive by its serial"))
    }),
    ("under test in another run", |bench| {
        let (device, image) = bench.drive()?;
        let confirm = crate::safety::bench::confirmation(&device);
        // The running step only reads, so that the bytes can be compared.
        let suite = bench.path("reads.toml");
        std::fs::write(&suite, READS).unwrap();
        let line = ["run", suite.to_str()?, &device, "--confirm", &confirm, "--confined", &confirm];
        bench.start_run(&line);
        Some(Case::busy(&device, &image, "is open in ssdgauge (process"))
    }),
    ("read-only by its flag", |bench| {
        let (device, image) = bench.drive()?;
        bench.run(&["blockdev", "--setro", &device]);
        bench.run_at_end(&["blockdev", "--setrw", &device]);
        Some(Case::new(&device, &image, "read-only"))
    }),
    ("read-only since it was attached", |bench| {
        let image = bench.image("image");
        let device = bench.attach(&image, &["-r"])?;
        Some(Case::new(&device, &image, "read-only"))
    }),
    ("the results would be written to it", |bench| {
        let (device, image) = mounted(bench, "defaults")?;
        let mut case = Case::new(&device, &image, "carries the results of this run");
        case.out = Some(bench.path("mounted/run.ssdg"));
        Some(case)
    }),
    ("the results would be written to a loop device over it", |bench| {
        let (below, image) = bench.drive()?;
        let above = bench.attach(below.as_ref(), &[])?;
        bench.format(&above);
        bench.mount(&above, "mounted", "defaults");
        let mut case = Case::new(&below, &image, "carries the results of this run");
        case.out = Some(bench.path("mounted/run.ssdg"));
        Some(case)
    }),
    ("this program is stored on it", |bench| {
        let image = bench.path("image");
        std::fs::File::create(&image).unwrap().set_len(SIZE * 32).unwrap();
        let device = bench.attach(&image, &["--direct-io=on"])?;
        bench.format(&device);
        let program = bench.mount(&device, "mounted", "defaults").join("ssdgauge");
        std::fs::copy(env!("CARGO_BIN_EXE_ssdgauge"), &program).ok()?;
        let mut case = Case::new(&device, &image, "carries this program");
        case.program = Some(program);
        Some(case)
    }),
    ("it holds the root file system", |_| {
        let table = std::fs::read_to_string("/proc/mounts").ok()?;
        let root = table.lines().find(|line| line.split(' ').nth(1) == Some("/"))?;
        let device = root.split(' ').next().filter(|source| source.starts_with("/dev/"))?;
        let device = std::fs::canonicalize(device).ok()?;
        let name = device.file_name()?.to_str()?;
        if !PathBuf::from(format!("/sys/block/{name}")).exists() {
            return None;
        }
        let case = Case::new(device.to_str()?, &device, "carries the root file system");
        Some(Case { victims: Vec::new(), ..case })
    }),
];

/// A suite of one step that reads for 60 s.
pub(crate) const READS: &str = r#"
[suite]
id = "reads"
revision = 1
title = "Reads"

[[test]]
id = "reads"
revision = 1
title = "Reads"
stream = { access = "random", block_size = "4KiB", read_percent = 100, queue_depth = 1 }
until = { time = "5min" }
score = { mean_of = "iops" }
"#;

fn mounted(bench: &mut Bench, options: &str) -> Option<(String, PathBuf)> {
    let (device, image) = bench.drive()?;
    bench.format(&device);
    bench.mount(&device, "mounted", options);
    Some((device, image))
}

fn node_of(bench: &Bench, device: &str, node: &str) -> Option<()> {
    let minor = device.strip_prefix("/dev/loop")?;
    bench.succeeds(&["mknod", node, "b", "7", minor]).then_some(())
}
