//! The attachment of the drive that the privileged helper serves: its device number, and the number of
//! this attachment (`diskseq`).
//!
//! A drive that is pulled and another one that is plugged in can get the same device number and the
//! same folder in sysfs. The disk sequence distinguishes them.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The open drive with one device number and one disk sequence.
#[derive(Debug)]
pub(super) struct Attachment {
    /// The drive, open for reading.
    pub(super) file: Arc<File>,
    /// Its folder in sysfs.
    pub(super) folder: PathBuf,
    sequence: Sequence,
}

/// The disk sequence of the drive, where the run knows one (Linux 5.15).
#[derive(Debug)]
struct Sequence(Option<(u64, File)>);

impl Attachment {
    /// Opens the drive with the number `device` for reading, by the name that the kernel has for it, and
    /// checks the number and the disk sequence of the open device: the name may have been attached to
    /// another drive meanwhile.
    ///
    /// # Errors
    /// The drive cannot be opened, or is not the one with the disk sequence `expected`.
    pub(super) fn open(device: &str, expected: Option<u64>) -> io::Result<Attachment> {
        let folder = std::fs::canonicalize(format!("/sys/dev/block/{device}"))?;
        let event = std::fs::read_to_string(folder.join("uevent"))?;
        let name = event.lines().find_map(|line| line.strip_prefix("DEVNAME="));
        let file = File::open(Path::new("/dev").join(name.ok_or(io::ErrorKind::NotFound)?))?;
        let number = file.metadata()?.rdev();
        let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
        if number != device {
            return Err(io::ErrorKind::NotFound.into());
        }
        let sequence = match expected {
            None => Sequence(None),
            Some(expected) => {
                compare(expected, ssdgauge_os::block_device::disk_sequence(&file))?;
                Sequence(Some((expected, File::open(folder.join("diskseq"))?)))
            }
        };
        let attachment = Attachment { file: Arc::new(file), folder, sequence };
        attachment.check()?;
        Ok(attachment)
    }

    /// Checks that the folder in sysfs is still that of the drive.
    ///
    /// # Errors
    /// The drive was removed, or attached again.
    pub(super) fn check(&self) -> io::Result<()> {
        self.sequence.check()
    }
}

impl Sequence {
    /// Reads the attribute that is open since the start: of a removed drive it cannot be read, whatever
    /// has its path now.
    fn check(&self) -> io::Result<()> {
        let Some((expected, attribute)) = &self.0 else { return Ok(()) };
        let mut text = [0; 32];
        let length = attribute.read_at(&mut text, 0).unwrap_or(0);
        let now = std::str::from_utf8(&text[..length]).ok();
        compare(*expected, now.and_then(|text| text.trim().parse().ok()))
    }
}

fn compare(expected: u64, now: Option<u64>) -> io::Result<()> {
    if now == Some(expected) {
        return Ok(());
    }
    let now = now.map_or("unknown".to_owned(), |number| number.to_string());
    let text = format!(
        "the privileged helper serves the drive with the disk sequence {expected}; it is now {now}: the \
         drive was removed or attached again"
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::print_stdout)]

    use super::*;
    use std::process::{Command, Output};

    fn losetup(arguments: &[&str]) -> Option<Output> {
        let output = Command::new("losetup").args(arguments).output().ok()?;
        output.status.success().then_some(output)
    }

    #[test]
    fn a_drive_that_was_attached_again_under_the_same_number_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let images = ["first", "second"].map(|name| folder.path().join(name));
        for image in &images {
            File::create(image).unwrap().set_len(1 << 20).unwrap();
        }
        let [first, second] = images.each_ref().map(|image| image.to_str().unwrap());
        let Some(attached) = losetup(&["--show", "-f", first]) else {
            println!("skipped: no loop device available");
            return;
        };
        let node = String::from_utf8(attached.stdout).unwrap().trim().to_owned();
        let number = std::fs::metadata(&node).unwrap().rdev();
        let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
        let sequence = ssdgauge_os::block_device::disk_sequence(&File::open(&node).unwrap());
        let Some(sequence) = sequence else {
            println!("skipped: the kernel has no disk sequence (Linux 5.15)");
            losetup(&["-d", &node]);
            return;
        };
        let attachment = Attachment::open(&number, Some(sequence)).unwrap();
        assert!(attachment.check().is_ok());
        // The attribute stays open without the device, as in a helper whose drive is pulled.
        let Attachment { file, sequence: attribute, .. } = attachment;
        drop(file);
        losetup(&["-d", &node]).unwrap();
        // The kernel detaches it some time after its last user has closed it.
        let since = std::time::Instant::now();
        while losetup(&[&node, second]).is_none() {
            assert!(since.elapsed().as_secs() < 20, "{node} stays busy");
            std::thread::yield_now();
        }
        let opened = Attachment::open(&number, Some(sequence));
        let checked = attribute.check();
        losetup(&["-d", &node]);
        for error in [opened.unwrap_err(), checked.unwrap_err()] {
            let text = error.to_string();
            assert!(text.contains(&format!("the disk sequence {sequence}; it is now ")), "{text}");
            assert!(text.contains("attached again"), "{text}");
        }
    }
}
