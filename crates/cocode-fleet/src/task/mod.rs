//! Messages: the task, the offer of a host, the record, the claim, the event.

mod claim;
mod event;
mod offer;
mod record;
mod specification;

pub use claim::{Claim, ClaimError, ClaimedState};
pub(crate) use event::EVENT_LIMIT_BYTES;
pub use event::{Event, EventKind};
pub use offer::{Confinement, HostOffer, HostReport, Unmet};
pub use record::{Attempt, RunRecord, RunState};
pub use specification::{BaseBundle, PROTOCOL_VERSION, Task, TaskError, TaskLimits};
