#![doc = include_str!("../README.md")]

mod append;
mod counted_lines;
mod deletion;
mod diff_prefixes;
mod edit_report;
mod error;
mod file_edit;
mod meaning;
mod near_lines;
mod new_lines;
mod old_lines;
mod operations;
mod response;
mod rewrite;
mod shown_text;
mod size;
mod view_numbers;
mod whole_content;

pub use append::appended;
pub use deletion::check_expected_lines;
pub use error::edit_error;
pub use file_edit::{ApplyOperations, EditedFile, FileEdit, FindVersion, KnownVersion};
pub use rewrite::Rewrite;
pub use size::{check_content_size, check_request};
pub use view_numbers::has_view_numbers;
pub use whole_content::check_whole_content;
