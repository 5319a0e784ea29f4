//! Tests of `rel-path` through its public surface.

mod new_name;
mod parse;
mod protected;
mod round_trip;
