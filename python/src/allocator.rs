//! The allocator of the process, which belongs to the host. The allocator of glibc keeps the memory of freed large
//! buffers, so the process would use twice as much memory as a connection may.

use std::time::Duration;

/// The interval at which freed memory is returned to the system.
pub(crate) const EVERY: Duration = Duration::from_secs(1);

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    /// The size, in bytes, from which a buffer is returned to the system as soon as it is freed. Returning smaller
    /// buffers costs more time than it saves memory.
    const LARGE: i32 = 8 << 20;

    /// Sets this size, which glibc otherwise raises with each large buffer that is freed.
    #[expect(unsafe_code, reason = "a function of C that takes two numbers")]
    pub(crate) fn configure() {
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
    }

    /// Returns freed memory to the system.
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
