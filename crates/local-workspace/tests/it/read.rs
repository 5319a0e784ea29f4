//! Reading, listing and searching.

mod big_files;
mod search;
mod searching;
mod warm;
