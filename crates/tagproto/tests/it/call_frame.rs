//! The frame of the calls that tests make.

use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};

/// An origin and a flag to make a [`Call`] of.
pub(crate) struct Frame {
    pub(crate) origin: Origin,
    pub(crate) cancel: CancelFlag,
}

impl Frame {
    /// The frame of a run that is named by its reply.
    pub(crate) fn new(reply: &str) -> Frame {
        let origin = Origin {
            conversation: ConversationId("a1b2c3d4".into()),
            run: RunKey { sequence: 1, digest: reply.into() },
            step: 0,
            retention: Retention::Durable,
        };
        Frame { origin, cancel: CancelFlag::new() }
    }

    pub(crate) fn call(&self) -> Call<'_> {
        Call { origin: &self.origin, cancel: &self.cancel, time_left: None }
    }
}
