//! Names that are not a drive, and confirmations of another drive.

use crate::safety::bench::{Bench, Case};
use crate::safety::table::{Scenario, check_all};

#[test]
fn a_name_that_is_not_a_drive_is_refused_and_not_created() {
    check_all("names that are no drive", SCENARIOS, 10);
    let files = std::fs::read_dir("/dev").unwrap().flatten();
    let files = files.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    assert_eq!(files.count(), 0, "a file was created in /dev");
}

const SCENARIOS: &[Scenario] = &[
    ("a name that does not exist", |_| Some(target("/dev/nvme99n1", "does not exist"))),
    ("a name in a folder that does not exist", |_| {
        Some(target("/dev/disk/by-id/nothing/here", "does not exist"))
    }),
    ("a dangling symbolic link", |bench| {
        let link = bench.path("link");
        std::os::unix::fs::symlink("/dev/nvme99n1", &link).unwrap();
        Some(target(link.to_str()?, "does not exist"))
    }),
    ("null: without its colon", |_| Some(target("null", "does not exist"))),
    ("sim: without its colon", |_| Some(target("sim", "does not exist"))),
    ("the usual name of the standard output", |_| {
        let case = target("-", "does not exist");
        Some(Case { confirm: Some("no drive".into()), ..case })
    }),
    ("a new name below a second mount of /dev", |bench| {
        let point = bench.path("nodes");
        std::fs::create_dir(&point).unwrap();
        bench.run(&["mount", "--bind", "/dev", point.to_str()?]);
        bench.run_at_end(&["umount", point.to_str()?]);
        Some(target(point.join("nvme99n1").to_str()?, "does not exist"))
    }),
    ("a character device", |_| Some(target("/dev/zero", "character device"))),
    ("the folder of nodes", |_| Some(target("/dev", "folder of device nodes"))),
    ("a FIFO", |bench| {
        let path = bench.path("fifo");
        bench.run(&["mkfifo", path.to_str()?]);
        Some(target(path.to_str()?, "neither a folder nor a block device"))
    }),
    ("a socket", |bench| {
        let path = bench.path("socket");
        drop(std::os::unix::net::UnixListener::bind(&path).ok()?);
        Some(target(path.to_str()?, "neither a folder nor a block device"))
    }),
    ("the file behind a mounted loop device", |bench| {
        let (device, image) = bench.drive()?;
        bench.format(&device);
        bench.mount(&device, "mounted", "defaults");
        Some(Case::new(image.to_str()?, &image, "exists already"))
    }),
    ("the file behind an idle loop device", |bench| {
        let (_, image) = bench.drive()?;
        Some(Case::new(image.to_str()?, &image, "exists already"))
    }),
    ("a loop device whose file has become smaller", |bench| {
        let (device, image) = bench.drive()?;
        std::fs::OpenOptions::new().write(true).open(&image).ok()?.set_len(0).ok()?;
        Some(Case::new(&device, &image, "it may have become smaller"))
    }),
    ("a confirmation that names another drive", |bench| {
        with_confirmation(bench, "loop99:16777216")
    }),
    ("a confirmation without the size", |bench| with_confirmation(bench, "loop0")),
    ("'yes' as a confirmation", |bench| with_confirmation(bench, "yes")),
    ("an empty confirmation", |bench| with_confirmation(bench, "")),
];

fn target(name: &str, expected: &str) -> Case {
    let case = Case::new(name, "/dev/null".as_ref(), expected);
    Case { victims: Vec::new(), ..case }
}

fn with_confirmation(bench: &mut Bench, confirm: &str) -> Option<Case> {
    let (device, image) = bench.drive()?;
    let case = Case::new(&device, &image, "does not name");
    Some(Case { confirm: Some(confirm.into()), ..case })
}
