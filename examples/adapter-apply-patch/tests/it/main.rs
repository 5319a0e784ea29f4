//! Patches and their results, as a table: files, a patch, what is refused, files afterwards.

mod cases;
mod commit;
