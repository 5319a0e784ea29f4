//! Changes of files: unchanged state, refusals, dry runs.

mod attributes;
mod byte_exact;
mod caseless;
mod changes;
mod dry_run;
mod expected_files;
mod found_names;
mod fs_attacks;
mod full_disk;
mod hidden;
mod kinds;
mod late_writes;
mod line_meaning;
mod line_numbers;
mod memory_twin;
mod obeyed_names;
mod peers;
mod steps;
mod syntax_notes;
