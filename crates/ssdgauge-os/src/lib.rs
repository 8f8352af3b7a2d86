//! The operating system: system calls, sysfs and procfs readers, block-device topology, clock.
//!
//! Nearly all `unsafe` code of the project is here, one kernel call per function. This crate never
//! knows a workload, a drive command or a policy: callers decide what a value means.

pub mod block_device;
pub mod child;
pub mod clock;
pub mod file_io;
pub mod ioctl;
pub mod memory;
pub mod mounts;
pub mod outputs;
pub mod own_process;
pub mod process;
pub mod processor;
pub mod ring;
pub mod shared_part;
pub mod sysfs;
pub mod system_calls;
pub mod thread;
pub mod topology;
