//! What was said so far, within an agent's context window.
//!
//! An agent keeps nothing between calls, so everything is sent to it each time. When that comes near the size of its
//! window, the older half is replaced by a summary. What comes from a repository is never given the role of the system:
//! a [`Message`] has no such speaker.

mod fit;
mod message;
mod model_limits;
#[cfg(feature = "o200k")]
mod o200k;
mod prompt;
mod summarizer;
mod token_counter;
mod window;

pub use fit::Fitted;
pub use message::{History, Message, Speaker};
pub use model_limits::ModelLimits;
#[cfg(feature = "o200k")]
pub use o200k::O200k;
pub use prompt::Prompt;
pub use summarizer::{Summarizer, SummaryError};
pub use token_counter::{BytesPerToken, TokenCounter};
pub use window::ContextWindow;
