//! The state folder: who owns it, what damages it, and what a crash leaves.

mod cost;
mod crashes;
mod damage;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
pub(crate) mod full_disk;
mod garbage;
mod holders;
mod homes;
mod linked_worktrees;
mod owners;
mod starting_points;
mod state_folders;
mod thin_clients;
mod workspace_paths;
