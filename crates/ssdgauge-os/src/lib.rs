//! The operating system: system calls, sysfs and procfs readers, block-device topology, clock.
//!
//! Nearly all `unsafe` code of the project is here, one kernel call per function. This crate never
//! knows a workload, a drive command or a policy: callers decide what a value means.
//!
//! On other systems than Linux it only creates outputs, for the half of the program that reads run files.

#[cfg(target_os = "linux")]
pub mod block_device;
#[cfg(target_os = "linux")]
pub mod child;
#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod file_io;
#[cfg(target_os = "linux")]
pub mod ioctl;
#[cfg(target_os = "linux")]
pub mod memory;
#[cfg(target_os = "linux")]
pub mod mounts;
#[cfg_attr(not(target_os = "linux"), path = "outputs_elsewhere.rs")]
pub mod outputs;
#[cfg(target_os = "linux")]
pub mod own_process;
#[cfg(target_os = "linux")]
pub mod process;
#[cfg(target_os = "linux")]
pub mod processor;
#[cfg(target_os = "linux")]
pub mod ring;
#[cfg(target_os = "linux")]
pub mod shared_part;
#[cfg(target_os = "linux")]
pub mod sysfs;
#[cfg(target_os = "linux")]
pub mod system_calls;
#[cfg(target_os = "linux")]
pub mod thread;
#[cfg(target_os = "linux")]
pub mod topology;
