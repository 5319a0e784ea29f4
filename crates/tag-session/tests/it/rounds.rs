//! Whole rounds over a workspace in memory.
