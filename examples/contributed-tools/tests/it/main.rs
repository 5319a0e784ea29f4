//! The example over HTTP, as clients of both eras see it.

mod client;
mod newer;
mod older;
