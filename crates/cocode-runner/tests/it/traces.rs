//! The traces of an agent, in its worktree and its git folder, do not lead the user's git astray.

mod foreign_entries;
mod indexes;
mod missing_objects;
mod moved_references;
mod nested;
mod planted_links;
mod references;
mod unfinished_work;
mod used_branches;
mod while_running;
mod worktree_links;
