//! Questions to the person at an MCP client about what waits for a review.

mod app;
mod deletions;
mod given_up;
mod http;
mod newer;
mod older;
