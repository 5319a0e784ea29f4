//! The few system calls that no safe crate wraps. The only module with unsafe code; nothing here decides anything.
#![expect(
    unsafe_code,
    reason = "process creation, signal masks and three raw system calls have no safe wrapper"
)]

mod descriptors;
mod mount_attributes;
mod process;
mod refused_calls;
mod refused_modes;
mod signals;

pub(crate) use descriptors::{close_inherited, close_on_execute_from};
pub(crate) use mount_attributes::{MountAttributes, map_mount_ids, set_mount_attributes};
pub(crate) use process::{Cloned, clone_process, clone_process_into, execute, exit_now, unshare};
pub(crate) use refused_calls::RefusedCall;
pub(crate) use signals::{block_all_signals, default_signals, wait_for_signal};
