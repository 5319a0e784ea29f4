//! The worker's side: taking tasks, carrying them out under a fence, delivering results.

mod attempt;
mod bases;
mod context;
mod delivery;
mod fleet_worker;
mod keeper;
mod lines;
mod pull;
mod report;
mod settle;
mod take;

pub use fleet_worker::{FleetWorker, WorkerConfig, WorkerStatus};
