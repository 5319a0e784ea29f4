//! Reading, listing and searching.

mod big_files;
mod dangling_links;
mod search;
mod searching;
mod warm;
