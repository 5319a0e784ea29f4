//! The outbox: the message to the model, rendered and parsed.
//!
//! [`render_outbox`] writes it and [`read_outbox`] parses it. Text from the workspace or from the model can fill the sections but
//! not imitate them: names are kept to one line, results and output are indented, lines of the task that read as structure are
//! indented, and a requested file is enclosed in fences that none of its lines equals.

mod answer;
mod budget;
mod context;
mod fence;
mod gather;
mod gather_first;
mod limits;
mod line_text;
mod listing;
mod outbox_error;
mod own_text;
mod parts;
mod paste_parts;
mod project_facts;
mod read;
mod render;
mod results;
mod shape;
mod structure;
mod suggested;

pub use answer::with_answers;
pub use context::{Context, ListedEntry, RequestedFile, RequestedText};
pub use fence::whole_view::{WholeView, WholeViews};
pub use gather::gather;
pub use gather_first::gather_first;
pub use limits::OutboxLimits;
pub(crate) use line_text::visible_lines;
pub use outbox_error::{OutboxError, OutboxErrorKind};
pub use own_text::filtered_outbox;
pub use parts::{OutboxParts, ShownFile, ShownLines};
pub use paste_parts::{LEAST_PASTE_CHARACTERS, paste_parts};
pub use project_facts::project_facts;
pub use read::{listed_entry, read_outbox};
pub(crate) use render::{FIRST_LINES, LAST_LINES};
pub use render::{Outbox, USUAL_BUDGET, render_outbox, render_outbox_counted, whole_outbox};
pub use shape::{ListedFolder, Shape};
pub use suggested::{SuggestedFile, TokenCounter, estimated_tokens};
