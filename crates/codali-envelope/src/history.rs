//! The message history, kept within an agent's context window.
//!
//! An agent has no memory between calls, so the whole history is sent each time. When it approaches the size of the window, the
//! older half is replaced by a summary. Content of a repository never has the system's role: a [`Message`] has no such speaker.

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
