//! Limits the freed memory that the C library's allocator keeps.

/// The size from which a block is a separate mapping, which is returned to the system when it is freed.
///
/// The system provides a new mapping page by page, each one cleared: a read of 1 MiB with buffers in mappings spent a
/// third of its time on that. Buffers of the usual reads come from the heaps, which keep [`KEPT_BYTES`] at most.
#[cfg(target_env = "gnu")]
const LARGE_BLOCK_BYTES: libc::c_int = 4 << 20;

/// The free memory kept at the end of the heap, in bytes.
#[cfg(target_env = "gnu")]
const KEPT_BYTES: libc::c_int = 4 << 20;

/// The number of heaps that the threads of this process share.
#[cfg(target_env = "gnu")]
const MOST_HEAPS: libc::c_int = 4;

/// Makes this process return large blocks to the system once they are freed. Call it before other threads start.
///
/// By default the GNU C library learns from the first freed large block to serve the next ones, up to 32 MiB, from the
/// heaps of threads, which return nothing while a small block follows a large one. A daemon that has read some messages
/// of 16 MiB would keep a multiple of their size for as long as it lives. Other C libraries are not affected.
pub fn give_back_large_blocks() {
    #[cfg(target_env = "gnu")]
    for (parameter, value) in [
        (libc::M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES),
        (libc::M_TRIM_THRESHOLD, KEPT_BYTES),
        (libc::M_ARENA_MAX, MOST_HEAPS),
    ] {
        // SAFETY: `mallopt` takes two integers and changes settings of the allocator under its own lock. It ignores unknown
        // settings.
        unsafe { libc::mallopt(parameter, value) };
    }
}
