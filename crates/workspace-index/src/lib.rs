#![doc = include_str!("../README.md")]

mod current_index;
mod hidden_secrets;
mod index_folder;
mod lazy_index;
mod served_index;

pub use current_index::{CurrentIndex, INDEXING_TIME};
pub use index_folder::{OpenIndex, is_kept};
pub use lazy_index::LazyIndex;
pub use served_index::ServedIndex;
