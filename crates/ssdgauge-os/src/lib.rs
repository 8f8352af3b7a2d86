//! The operating system: system calls, /sys and /proc readers, block-device topology, clock.
//!
//! It knows no workload, no drive command and no policy.

pub mod block_device;
pub mod clock;
pub mod file_io;
pub mod ioctl;
pub mod memory;
pub mod mounts;
pub mod process;
pub mod processor;
pub mod ring;
pub mod sysfs;
pub mod thread;
pub mod topology;
