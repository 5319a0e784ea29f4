//! Agents over many machines: `cocode-fleet` carries, `cocode-runner` runs on a host and judges at home; this joins the two.

pub(crate) mod address;
pub(crate) mod base_chain;
pub(crate) mod early_home;
pub(crate) mod home_journal;
pub(crate) mod host_work;
pub(crate) mod levels;
pub(crate) mod task_files;
pub(crate) mod workplaces;
