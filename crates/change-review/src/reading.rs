//! The files of a proposal for a reader: their classes, such as tests or generated files, and the best order for
//! reading.

mod file_class;
mod new_names;
mod order;

pub use file_class::FileClass;
pub use order::reading_order;
