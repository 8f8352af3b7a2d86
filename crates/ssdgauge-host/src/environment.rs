//! Environment record: the facts about the host that affect a result, from procfs and sysfs.
//!
//! A fact that the kernel does not report is left out, never estimated.

use ssdgauge_os::sysfs::attribute;
use std::fs;
use std::path::Path;

/// Returns the facts about this host that affect a result, as pairs of key and value; `privileges`
/// is the summary of the privileges that the process kept, where it dropped any.
pub fn environment(privileges: Option<&str>) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |key: &str, value: Option<String>| {
        facts.extend(value.filter(|value| !value.is_empty()).map(|value| (key.to_owned(), value)));
    };
    let system = rustix::system::uname();
    add("kernel", Some(system.release().to_string_lossy().into_owned()));
    add("architecture", Some(system.machine().to_string_lossy().into_owned()));
    add("host", Some(system.nodename().to_string_lossy().into_owned()));
    add("operating_system", line_after("/etc/os-release", "PRETTY_NAME="));
    add("processor", line_after("/proc/cpuinfo", "model name"));
    add("processors", std::thread::available_parallelism().ok().map(|n| n.to_string()));
    add("memory", line_after("/proc/meminfo", "MemTotal"));
    let sources = Path::new("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    add("clock_source", attribute(sources));
    let governor = Path::new("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    add("frequency_governor", attribute(governor));
    add("boot_id", attribute(Path::new("/proc/sys/kernel/random/boot_id")));
    add("io_uring_disabled", attribute(Path::new("/proc/sys/kernel/io_uring_disabled")));
    add("rights", privileges.map(str::to_owned));
    facts
}

fn line_after(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim_start_matches([' ', '\t', ':', '=']).trim().trim_matches('"').to_owned())
}
