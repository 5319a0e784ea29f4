//! The whole flow of the Codali protocol: an architect plans, a builder edits, a critic judges, until the result passes.
//!
//! The flow is replayed from its beginning each time: every answer of an agent, the responder or the engine is a
//! [step](StepFolder) on disk, and only missing answers are requested. So a killed flow resumes at the interrupted step, and no
//! agent is asked twice for a reply that arrived.

mod agent;
mod building;
mod engine;
mod error;
mod event;
mod flow_folders;
mod guide;
mod judging;
mod plan;
mod running;
mod settings;
mod steps;
mod verdict;

pub use agent::{Agent, AgentError, Agents};
pub use engine::{Applied, EditResult, EngineError, FlowEngine};
pub use error::FlowError;
pub use event::{FlowEvent, FlowEvents};
pub use flow_folders::FlowFolders;
pub use plan::{Plan, read_plan};
pub use running::{Flow, FlowEnd};
pub use settings::FlowSettings;
pub use steps::{StepError, StepFolder};
pub use verdict::{Verdict, read_verdict};
