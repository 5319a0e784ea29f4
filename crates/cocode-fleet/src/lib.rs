#![doc = include_str!("../README.md")]

mod connection;
mod contract;
mod digest;
mod home;
mod names;
mod server;
mod store;
mod task;
mod text;
mod worker;

pub use connection::{ConnectError, FleetAddress, FleetConnection, FleetError, FleetTimings, Role};
pub use contract::{
    BaseFile, Delivered, EventSink, ExecuteError, JudgeError, Notice, ResultJudge, StopReason, StopSignal,
    SubmittedTask, TaskExecutor, TaskOutcome,
};
pub use digest::{BUNDLE_LIMIT_BYTES, BundleDigest, BundleName, DigestError};
pub use home::{EarlyConnection, FleetEvents, FleetHome, HomeConfig};
pub use names::{AgentName, ClassName, FleetName, HostName, NAME_LIMIT, NameError, RunName, TaskName};
pub use server::{KeyError, ServerConfig, ServerConfigError, ServerUsers, SyncPolicy, TlsFiles, UserKey};
pub use store::{BundleError, FleetLimits};
pub use task::{
    Attempt, BaseBundle, Claim, ClaimError, ClaimedState, Confinement, Event, EventKind, HostOffer,
    HostReport, PROTOCOL_VERSION, RunRecord, RunState, Task, TaskError, TaskLimits, Unmet,
};
pub use worker::{FleetWorker, WorkerConfig, WorkerStatus};
