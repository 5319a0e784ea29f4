//! One call, as an adapter would make it.

use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};

/// Makes a call that is never cancelled.
pub(crate) fn call<T>(make: impl FnOnce(&Call<'_>) -> T) -> T {
    let origin = Origin {
        conversation: ConversationId("test".into()),
        run: RunKey::unnumbered("1"),
        step: 0,
        retention: Retention::Process,
    };
    make(&Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None })
}
