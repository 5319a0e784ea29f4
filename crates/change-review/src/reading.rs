//! The files of a proposal for a reader: which are tests or generated, and the order in which they are understood best.

mod file_class;
mod new_names;
mod order;

pub use file_class::FileClass;
pub use order::reading_order;
