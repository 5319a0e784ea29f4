//! Tests of the page in a browser, through the built program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod accessibility;
mod agents;
mod app;
mod app_host;
mod browser;
mod history;
mod hostile;
mod main_job;
mod opening;
mod project;
mod proposals;
mod reconnecting;
mod review;
mod review_looks;
mod served;
