//! Requests in envelopes, and the index of code.

mod bad_agents;
mod bad_envelopes;
mod code_indexes;
mod conversations;
mod envelopes;
mod flow_crashes;
mod flow_project;
mod flows;
mod request_folders;
mod reviews;
mod web;
