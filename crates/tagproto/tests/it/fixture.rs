//! Calls, workspaces, sessions and texts for the tests.

pub(crate) mod call_frame;
pub(crate) mod recording;
pub(crate) mod round_trip;
pub(crate) mod texts;
