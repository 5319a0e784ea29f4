//! The few system calls that no safe crate wraps. The only module with unsafe code; it makes no decisions.
#![expect(
    unsafe_code,
    reason = "process creation, signal masks, three raw system calls and the allocator's settings have no safe wrapper"
)]

mod allocator;
mod attempted_calls;
mod attempted_modes;
mod descriptors;
mod loopback;
mod mount_attributes;
mod notifications;
mod process;
mod signals;

pub use allocator::give_back_large_blocks;
pub(crate) use attempted_calls::AttemptedCall;
pub(crate) use descriptors::{close_all_but, close_inherited, close_on_execute_from};
pub(crate) use loopback::bring_up_loopback;
pub(crate) use mount_attributes::{
    MountAttributes, make_mount_writable, map_mount_ids, set_mount_attributes,
};
pub(crate) use notifications::{
    Notification, answer_notification, connect, install_with_listener, is_waiting, leave_to_kernel,
    receive_notification,
};
pub(crate) use process::{
    Cloned, clone_process, clone_process_into, clone_sibling, execute, exit_now, unshare,
};
pub(crate) use signals::{block_all_signals, default_signals, wait_for_signal};
