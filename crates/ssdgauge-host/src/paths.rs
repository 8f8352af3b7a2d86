//! The paths that each process of a run may access, as rules of the kernel (Landlock).

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus,
};
use std::path::Path;

/// The newest version of the rules that is used; older kernels enforce a part of it.
const VERSION: ABI = ABI::V5;

/// Restricts this thread and all that it starts to writes below `folders`. The folder for temporary
/// files is that of all users. Returns the restriction in force as text.
pub(crate) fn restrict_writes(folders: &[&Path]) -> String {
    let mut permitted = vec![
        (Path::new("/"), AccessFs::from_read(VERSION)),
        // Programs that serve as meters are started with /dev/null as standard input.
        (Path::new("/dev/null"), AccessFs::from_file(VERSION)),
        // The screen of `watch` opens the terminal where the standard input is another one.
        (Path::new("/dev/tty"), AccessFs::from_file(VERSION)),
    ];
    permitted.extend(folders.iter().map(|folder| (*folder, AccessFs::from_all(VERSION))));
    text("writes only below the results", permit_only(&permitted))
}

/// Restricts this thread to reads and writes of `attributes`, which are files. What is open stays
/// usable. Returns the restriction in force as text.
pub(crate) fn restrict_helper<'a>(attributes: impl IntoIterator<Item = &'a Path>) -> String {
    let access = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
    let permitted: Vec<_> = attributes.into_iter().map(|path| (path, access)).collect();
    text("only the attributes of the plan", permit_only(&permitted))
}

fn permit_only(
    permitted: &[(&Path, BitFlags<AccessFs>)],
) -> Result<RulesetStatus, landlock::RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(VERSION))?
        .create()?;
    for (path, access) in permitted {
        if let Ok(path) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(path, *access))?;
        }
    }
    Ok(rules.restrict_self()?.ruleset)
}

fn text(what: &str, status: Result<RulesetStatus, landlock::RulesetError>) -> String {
    match status {
        Ok(RulesetStatus::FullyEnforced) => format!("{what} (Landlock)"),
        Ok(RulesetStatus::PartiallyEnforced) => format!("{what} (Landlock, partially enforced)"),
        Ok(RulesetStatus::NotEnforced) | Err(_) => "no Landlock".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::io::{ErrorKind, Read};

    /// Runs `check` on a thread of its own, which alone is restricted.
    fn apart(check: impl FnOnce() + Send + 'static) {
        std::thread::spawn(check).join().unwrap();
    }

    fn denied<T: std::fmt::Debug>(result: std::io::Result<T>) -> bool {
        result.unwrap_err().kind() == ErrorKind::PermissionDenied
    }

    /// Returns whether the kernel has Landlock; where not, prints why the test is skipped.
    fn has_landlock(status: &str) -> bool {
        if status == "no Landlock" {
            println!("skipped: the kernel has no Landlock");
        }
        status != "no Landlock"
    }

    #[test]
    fn the_helper_accesses_the_attributes_of_its_plan_and_what_it_has_open() {
        let folder = tempfile::tempdir().unwrap();
        let [own, other] = ["own", "other"].map(|name| folder.path().join(name));
        fs::write(&own, "1").unwrap();
        fs::write(&other, "1").unwrap();
        apart(move || {
            let mut open = File::open(&other).unwrap();
            if !has_landlock(&restrict_helper([own.as_path()])) {
                return;
            }
            fs::write(&own, "0").unwrap();
            assert_eq!(fs::read_to_string(&own).unwrap(), "0");
            let mut text = String::new();
            open.read_to_string(&mut text).unwrap();
            assert_eq!(text, "1");
            assert!(denied(fs::write(&other, "0")) && denied(fs::read(&other)));
            assert!(denied(fs::read(other.with_file_name("other"))));
            assert!(denied(fs::read_dir(other.parent().unwrap())));
            assert!(denied(fs::write(other.with_file_name("new"), "0")));
            assert!(denied(fs::remove_file(&own)));
            assert!(denied(File::open("/proc/1/maps")) && denied(File::open("/dev/zero")));
        });
    }

    #[test]
    fn a_helper_without_attributes_opens_nothing() {
        apart(|| {
            if has_landlock(&restrict_helper([])) {
                assert!(
                    denied(File::open("/sys/power/state")) && denied(File::open("/etc/passwd"))
                );
            }
        });
    }

    #[test]
    fn a_run_reads_everything_and_writes_only_below_its_results() {
        let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let [results, pages, other] = [0, 1, 2].map(|number| folders[number].path().to_owned());
        apart(move || {
            if !has_landlock(&restrict_writes(&[&results, &pages])) {
                return;
            }
            fs::write(results.join("run"), "1").unwrap();
            fs::write(pages.join("page"), "1").unwrap();
            fs::write("/dev/null", "1").unwrap();
            File::open("/etc/passwd").unwrap();
            assert!(denied(fs::write(other.join("run"), "1")));
        });
    }
}
