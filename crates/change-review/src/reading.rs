//! What a reader of a proposal needs to know about its files: which are tests or generated, and in which order they are
//! understood best.

mod file_class;
mod new_names;
mod order;

pub use file_class::FileClass;
pub use order::reading_order;
