//! The memory of the machine.

use std::sync::OnceLock;

use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

/// Share of the memory, in percent, that a command may take by default.
const PART: u64 = 60;

/// Returns the memory that a command may take by default, in bytes. Returns `None` if the system does not tell how much
/// there is.
///
/// The default is a share of the memory of the machine, or of the process's control group, whichever has less.
pub(crate) fn default_memory() -> Option<usize> {
    static KNOWN: OnceLock<Option<usize>> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let mut system = System::new().ok()?;
        system.refresh_memory();
        let of_machine = Some(system.total_memory()).filter(|bytes| *bytes > 0);
        let of_group = sysinfo::get_current_pid().ok().and_then(|pid| {
            system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, ProcessRefreshKind::nothing());
            Some(system.process(pid)?.cgroup_limits()?.total_memory).filter(|bytes| *bytes > 0)
        });
        let least = of_machine.into_iter().chain(of_group).min()?;
        usize::try_from(least / 100 * PART).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_what_there_is_is_known() {
        let bytes = default_memory().unwrap();
        assert!(bytes > 100 << 20, "{bytes}");
        let all = std::fs::read_to_string("/proc/meminfo").unwrap();
        let kib: usize = all.lines().next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(bytes <= kib * 1024 / 100 * 60, "{bytes} of {kib} KiB");
    }
}
