//! The character device for NVMe commands to an admitted drive (`/dev/ng0n1`).
//!
//! Neither O_EXCL nor a mount protects a drive from the commands of this node, and the numbers in its name
//! need not be those of the block device. So it is looked for below the controller of the drive that
//! is already held open, in sysfs; it has to be the node that the kernel made, and to report the same
//! namespace. Both nodes then have to identify themselves alike. As long as the block device is the one
//! that was admitted, so is its controller, and a node of a drive that has the name later reports another
//! device number.
//!
//! This module sends queries only, and the drive stays claimed by its block device.

use crate::identity::{TargetFacts, check_identity, folder_of};
use crate::refusal::Refusal;
use crate::text::shown;
use rustix::fs::{major, minor};
use ssdgauge_core::Bytes;
use ssdgauge_drive::pass_through::{CommandError, OpenDevice};
use ssdgauge_drive::query;
use ssdgauge_os::ioctl::nvme_namespace;
use ssdgauge_os::sysfs::{attribute, name_of};
use std::fs::{self, File, Metadata, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The opened character device of an admitted drive.
#[derive(Debug)]
pub struct CommandNode {
    file: Arc<File>,
    place: NodePlace,
    /// The identifier of the namespace (NSID).
    namespace: u32,
    logical_block: Bytes,
}

/// A character device for commands in sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NodePlace {
    /// Its folder in the class.
    folder: PathBuf,
    /// The folder of its controller.
    controller: PathBuf,
    /// Its device number, such as `242:0`.
    number: String,
}

impl CommandNode {
    /// Returns the descriptor.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Returns the identifier of the namespace (NSID).
    pub fn namespace(&self) -> u32 {
        self.namespace
    }

    /// Returns the size of the logical blocks that commands count in.
    pub fn logical_block(&self) -> Bytes {
        self.logical_block
    }

    /// Returns the name of the node, such as `ng0n1`.
    pub fn name(&self) -> String {
        name_of(&self.place.folder)
    }

    /// Checks before a step that writes that this is still the node of the drive with the folder `folder`,
    /// and that its blocks have the size that commands count in.
    pub(crate) fn check_again(&self, path: &Path, folder: &Path) -> Result<(), Refusal> {
        let changed = |what: String| Refusal::Changed { path: shown(path), what };
        if !find(Path::new("/sys"), folder).map_err(&changed)?.contains(&self.place) {
            return Err(changed(format!("its node for commands was {} before", self.name())));
        }
        let namespace = nvme_namespace(&self.file).ok();
        if namespace != Some(self.namespace) || namespace_of(folder) != namespace {
            return Err(changed(format!("its namespace was {}", self.namespace)));
        }
        let block = logical_block(folder);
        if block != Some(self.logical_block) {
            let now = block.map_or("unknown".to_owned(), |block| block.as_block());
            let was = self.logical_block.as_block();
            return Err(changed(format!("its logical blocks were {was} and are {now}")));
        }
        Ok(())
    }
}

/// Checks in sysfs alone that the block device `path` is a whole NVMe namespace with a node for commands.
///
/// # Errors
/// The reason why commands cannot be passed through to it.
pub fn check_pass_through(path: &Path) -> Result<(), Refusal> {
    let folder = folder_of(path)?;
    find(Path::new("/sys"), &folder).map(|_| ()).map_err(|cause| refused(path, cause))
}

/// Opens the character device of the drive `path`, whose block device is held open as `block` and was
/// inspected as `expected`.
pub(crate) fn open(
    block: &Arc<File>,
    path: &Path,
    folder: &Path,
    expected: &TargetFacts,
) -> Result<CommandNode, Refusal> {
    let refuse = |cause: String| refused(path, cause);
    let namespace = nvme_namespace(block)
        .map_err(|error| refuse(format!("it reports no NVMe namespace ({error})")))?;
    if namespace_of(folder) != Some(namespace) {
        return Err(refuse(format!("the kernel lists another namespace than {namespace} for it")));
    }
    let mut opened = Vec::new();
    for place in find(Path::new("/sys"), folder).map_err(refuse)? {
        let file = open_node(Path::new("/dev"), &place).map_err(refuse)?;
        // Other namespaces of the controller have nodes next to it.
        if nvme_namespace(&file).is_ok_and(|other| other == namespace) {
            opened.push((place, Arc::new(file)));
        }
    }
    let (Some((place, file)), None) = (opened.pop(), opened.pop()) else {
        let cause = format!("its controller has not exactly one node for namespace {namespace}");
        return Err(refuse(cause));
    };
    let logical_block = compare(block, &file, namespace, expected).map_err(refuse)?;
    let node = CommandNode { file, place, namespace, logical_block };
    // The drive was not removed and replaced since it was admitted, so the node is one of its controller.
    check_identity(block, path, &expected.identity)?;
    node.check_again(path, folder)?;
    Ok(node)
}

fn refused(path: &Path, cause: String) -> Refusal {
    Refusal::NoPassThrough { path: shown(path), cause }
}

/// Returns the nodes for commands of the controller of the block device with the folder `folder`, below
/// the root `sys` of sysfs.
fn find(sys: &Path, folder: &Path) -> Result<Vec<NodePlace>, String> {
    if folder.join("partition").exists() {
        return Err("it is a partition; commands address the whole namespace".into());
    }
    if namespace_of(folder).is_none() {
        return Err("it is not an NVMe namespace".into());
    }
    let controller = fs::canonicalize(folder.join("device"))
        .map_err(|error| format!("its controller cannot be read ({error})"))?;
    // The kernel places a multipath block device below its subsystem, and each request takes any path:
    // no node could be shown to lead to the controller that serves the block device.
    if name_of(&controller).starts_with("nvme-subsys") {
        return Err("several controllers may lead to it (NVMe multipath)".into());
    }
    let class = fs::read_dir(sys.join("class/nvme-generic"));
    let mut places: Vec<NodePlace> = class
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let folder = entry.path();
            let of = fs::canonicalize(folder.join("device")).ok()?;
            let number = attribute(&folder.join("dev"))?;
            (of == controller).then_some(NodePlace { folder, controller: of, number })
        })
        .collect();
    places.sort_by(|a, b| a.folder.cmp(&b.folder));
    match places.is_empty() {
        true => Err("its controller has no node for commands (/dev/ng…, Linux 5.13)".into()),
        false => Ok(places),
    }
}

/// Opens the node of `place` in the folder `dev`. It has to be the one of the kernel: a name in `/dev` can
/// lead to any device.
fn open_node(dev: &Path, place: &NodePlace) -> Result<File, String> {
    let path = dev.join(name_of(&place.folder));
    let fails = |error: std::io::Error| format!("{} cannot be opened: {error}", path.display());
    // Before the open, which has effects of its own on other devices: that of a watchdog starts its timer.
    check_node(dev, &path, &fs::symlink_metadata(&path).map_err(fails)?, place)?;
    // O_NONBLOCK: another device that takes the name meanwhile must not block the open.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path);
    let file = file.map_err(fails)?;
    // The name may have been replaced since the first check.
    check_node(dev, &path, &file.metadata().map_err(fails)?, place)?;
    Ok(file)
}

fn check_node(dev: &Path, path: &Path, facts: &Metadata, place: &NodePlace) -> Result<(), String> {
    let path = path.display();
    if !facts.file_type().is_char_device() {
        return Err(format!("{path} is not a character device"));
    }
    let number = format!("{}:{}", major(facts.rdev()), minor(facts.rdev()));
    if number != place.number {
        let expected = &place.number;
        return Err(format!("{path} is the device {number}, not {expected}, as sysfs states"));
    }
    let made_by_kernel = fs::metadata(dev).is_ok_and(|dev| dev.dev() == facts.dev());
    if !made_by_kernel {
        return Err(format!("{path} is a device node outside /dev"));
    }
    Ok(())
}

/// Compares what the drive reports through both nodes about the namespace, with each other and with what
/// was inspected. Returns the size of its logical blocks.
fn compare(
    block: &Arc<File>,
    node: &Arc<File>,
    namespace: u32,
    expected: &TargetFacts,
) -> Result<Bytes, String> {
    let identity = |file: &Arc<File>| {
        let device = OpenDevice::new(Arc::clone(file));
        let controller = query::controller(&device)?;
        Ok((controller.serial, query::namespace(&device, namespace)?))
    };
    let fails = |error: CommandError| format!("its identity cannot be read ({error})");
    let (serial, by_block) = identity(block).map_err(fails)?;
    let (other_serial, by_node) = identity(node).map_err(fails)?;
    // The serial is not enough: all namespaces of a controller share it.
    let is_same = serial == other_serial
        && by_block.identifiers() == by_node.identifiers()
        && by_block.size() == by_node.size()
        && by_block.plain_block() == by_node.plain_block();
    if !is_same {
        return Err("its node for commands leads to another drive".into());
    }
    // Commands are sent without a metadata buffer and without protection information.
    let Some(plain) = by_node.plain_block() else {
        return Err("its blocks have metadata or end-to-end protection".into());
    };
    let Bytes(logical) = expected.logical_block;
    // Commands count in blocks of the drive, spans in blocks of the kernel: where the kernel has
    // not seen a format yet, each request would reach another place.
    if plain != logical || by_node.size() != Some(expected.identity.size.0) {
        let size = by_node.size().unwrap_or(0);
        let counted = expected.identity.size.0;
        return Err(format!(
            "it reports {size} bytes in blocks of {plain}, and the kernel {counted} in blocks of {logical}"
        ));
    }
    Ok(expected.logical_block)
}

fn namespace_of(folder: &Path) -> Option<u32> {
    attribute(&folder.join("nsid"))?.parse().ok()
}

fn logical_block(folder: &Path) -> Option<Bytes> {
    attribute(&folder.join("queue/logical_block_size"))?.parse().ok().map(Bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

    use super::*;
    use std::os::unix::fs::symlink;

    /// A tree of sysfs: controllers with their namespaces, and nodes for commands.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Tree {
            Tree(tempfile::tempdir().unwrap())
        }

        /// Adds the block device `name` with a namespace of `parent`; returns its folder.
        fn block(&self, parent: &str, name: &str, namespace: u32) -> PathBuf {
            let folder = self.0.path().join("devices").join(parent).join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("nsid"), format!("{namespace}\n")).unwrap();
            symlink("..", folder.join("device")).unwrap();
            fs::canonicalize(folder).unwrap()
        }

        /// Adds the node `name` of `parent` with the device number `number`.
        fn node(&self, parent: &str, name: &str, number: &str) {
            let folder = self.0.path().join("devices").join(parent).join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("dev"), format!("{number}\n")).unwrap();
            symlink("..", folder.join("device")).unwrap();
            let class = self.0.path().join("class/nvme-generic");
            fs::create_dir_all(&class).unwrap();
            symlink(&folder, class.join(name)).unwrap();
        }

        fn numbers(&self, folder: &Path) -> Result<Vec<String>, String> {
            let places = find(self.0.path(), folder)?;
            Ok(places.into_iter().map(|place| place.number).collect())
        }
    }

    #[test]
    fn the_node_is_found_by_its_controller_and_not_by_its_name() {
        let tree = Tree::new();
        // After a drive was plugged in again, the numbers of both nodes can differ.
        let first = tree.block("pci/nvme0", "nvme1n1", 1);
        let second = tree.block("pci/nvme1", "nvme0n1", 1);
        tree.node("pci/nvme0", "ng0n1", "242:0");
        tree.node("pci/nvme1", "ng1n1", "242:1");
        tree.node("pci/nvme1", "ng1n2", "242:2");
        assert_eq!(tree.numbers(&first).unwrap(), ["242:0"]);
        assert_eq!(tree.numbers(&second).unwrap(), ["242:1", "242:2"]);
    }

    #[test]
    fn what_is_not_a_whole_namespace_of_one_controller_is_refused_with_the_reason() {
        let tree = Tree::new();
        let alone = tree.block("pci/nvme0", "nvme0n1", 1);
        let refused = |folder: &Path| tree.numbers(folder).unwrap_err();
        assert!(refused(&alone).contains("no node for commands"));
        tree.node("pci/nvme9", "ng0n1", "242:9");
        assert!(refused(&alone).contains("no node for commands"), "the name alone proves nothing");
        let head = tree.block("virtual/nvme-subsys0", "nvme5n1", 1);
        tree.node("virtual/nvme-subsys0", "ng5n1", "242:5");
        assert!(refused(&head).contains("multipath"));
        let part = tree.block("pci/nvme0/nvme0n1", "nvme0n1p1", 1);
        fs::write(part.join("partition"), "1\n").unwrap();
        assert!(refused(&part).contains("partition"));
        let disk = tree.block("virtual", "loop0", 1);
        fs::remove_file(disk.join("nsid")).unwrap();
        assert!(refused(&disk).contains("not an NVMe namespace"));
    }

    #[test]
    fn a_node_that_is_not_the_one_of_sysfs_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str, number: &str| NodePlace {
            folder: PathBuf::from("/sys/class/nvme-generic").join(name),
            controller: PathBuf::new(),
            number: number.into(),
        };
        let refused = |dev: &Path, name, number| open_node(dev, &place(name, number)).unwrap_err();
        // The device for zeros stands for a node with another number.
        assert!(
            refused(Path::new("/dev"), "zero", "242:0").contains("is the device 1:5, not 242:0")
        );
        assert!(refused(Path::new("/dev"), "no-such-node", "1:5").contains("cannot be opened"));
        fs::write(folder.path().join("ng0n1"), "").unwrap();
        assert!(refused(folder.path(), "ng0n1", "1:5").contains("not a character device"));
        symlink("/dev/zero", folder.path().join("ng1n1")).unwrap();
        assert!(refused(folder.path(), "ng1n1", "1:5").contains("not a character device"));
        assert!(open_node(Path::new("/dev"), &place("zero", "1:5")).is_ok());
    }
}
