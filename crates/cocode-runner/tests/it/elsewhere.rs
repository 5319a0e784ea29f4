//! Agents that run on another machine, and what that machine sends.

mod bundle_headers;
mod bundle_sources;
mod machines;
