//! The allocator of the programs, which returns freed memory to the operating system.

#[cfg(all(feature = "jemalloc", not(target_env = "msvc")))]
mod jemalloc {
    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    /// The settings of jemalloc: a background thread returns freed memory within one second. By default, each thread
    /// returns it while it allocates, within ten seconds.
    #[expect(unsafe_code, reason = "jemalloc reads it by this name before main begins")]
    #[unsafe(export_name = "_rjem_malloc_conf")]
    static SETTINGS: &[u8; 60] = b"background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0\0";
}

/// Returns freed memory to the system at once.
#[cfg(all(feature = "jemalloc", not(target_env = "msvc")))]
#[expect(unsafe_code, reason = "jemalloc is asked by a function of C; it reads a name and nothing else")]
pub(super) fn give_back() {
    use std::ptr::null_mut;
    // The number 4096 means all arenas.
    unsafe { tikv_jemalloc_sys::mallctl(c"arena.4096.purge".as_ptr(), null_mut(), null_mut(), null_mut(), 0) };
}

/// Does nothing: this allocator returns memory by itself, or has no function for it.
#[cfg(not(all(feature = "jemalloc", not(target_env = "msvc"))))]
pub(super) fn give_back() {}
