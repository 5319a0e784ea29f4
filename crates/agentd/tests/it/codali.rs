//! Requests in envelopes, and the index of code.

mod bad_envelopes;
mod code_indexes;
mod conversations;
mod envelopes;
mod request_folders;
