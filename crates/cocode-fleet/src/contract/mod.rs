//! The two traits for work and judgement, and the values that they exchange.

mod executor;
mod judge;
mod stop;

pub use executor::{EventSink, ExecuteError, TaskExecutor, TaskOutcome};
pub use judge::{BaseFile, Delivered, JudgeError, Notice, ResultJudge, SubmittedTask};
pub use stop::{StopReason, StopSignal};
