//! The allocator of the process, which is the host's. That of glibc keeps what large buffers leave free, so that the process would
//! use twice as much memory as a connection may.

use std::time::Duration;

/// The time between two times that free memory is given back.
pub(crate) const EVERY: Duration = Duration::from_secs(1);

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    /// The size, in bytes, from which a buffer is given back as soon as it is free. A smaller one costs more time than it saves memory.
    const LARGE: i32 = 8 << 20;

    /// Fixes that size, which glibc otherwise raises with each large buffer that is freed.
    #[expect(unsafe_code, reason = "a function of C that takes two numbers")]
    pub(crate) fn configure() {
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
    }

    /// Gives back to the system what is free.
    #[expect(unsafe_code, reason = "a function of C that takes a number")]
    pub(crate) fn give_back() {
        unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod glibc {
    pub(crate) fn configure() {}

    pub(crate) fn give_back() {}
}

pub(crate) use glibc::{configure, give_back};
