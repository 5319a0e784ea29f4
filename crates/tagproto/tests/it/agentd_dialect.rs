//! What only the dialect `agentd` does.

mod line_numbers;
mod near_misses;
mod ranges;
