//! Tests of `fleet-runner` through its public API: two machines without a server between them.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod base_chains;
mod deliveries;
mod fixture;
mod home_folders;
mod journals;
mod retries;
mod task_files;
mod withdrawals;
mod work;
