//! Replies and their results, as a table: files, a reply, what is refused, files afterwards.

mod cases;
mod commit;
mod guide;
