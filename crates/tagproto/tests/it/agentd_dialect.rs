//! The rules of only the dialect `agentd`.

mod edit_reports;
mod line_numbers;
mod near_misses;
mod processes;
mod ranges;
mod unclear_blocks;
mod view_numbers;
