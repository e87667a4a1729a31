//! The allocator of the programs, which give back to the system what they have freed.

#[cfg(all(feature = "jemalloc", not(target_env = "msvc")))]
mod jemalloc {
    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    /// A thread of jemalloc gives back within a second what was freed, which otherwise each thread does as it allocates, and in ten.
    #[expect(unsafe_code, reason = "jemalloc reads it by this name before main begins")]
    #[unsafe(export_name = "_rjem_malloc_conf")]
    static SETTINGS: &[u8; 60] = b"background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0\0";
}

/// Gives it back at once.
#[cfg(all(feature = "jemalloc", not(target_env = "msvc")))]
#[expect(unsafe_code, reason = "jemalloc is asked by a function of C; it reads a name and nothing else")]
pub(super) fn give_back() {
    use std::ptr::null_mut;
    // The number stands for all arenas.
    unsafe { tikv_jemalloc_sys::mallctl(c"arena.4096.purge".as_ptr(), null_mut(), null_mut(), null_mut(), 0) };
}

/// It does so by itself, or cannot be asked.
#[cfg(not(all(feature = "jemalloc", not(target_env = "msvc"))))]
pub(super) fn give_back() {}
