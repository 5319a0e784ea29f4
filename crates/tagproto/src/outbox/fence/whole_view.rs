//! Unchanged files that a recent message showed as a whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wap_core::FileVersion;

use crate::outbox::RequestedFile;
use crate::outbox::line_text::escape_name;
use crate::outbox::structure::{AS_IN, ASK_AGAIN, SHORTEST_FENCE};
use crate::{Dialect, Session};

/// The number of messages for which a view counts: chats certainly keep that many.
const MESSAGES: u32 = 4;

/// The minimum length in bytes of a text that is not repeated: a shorter text costs no more than the reference to it.
const LEAST_BYTES: usize = 240;

/// A view of a whole file in a message of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WholeView {
    /// The version that was shown.
    pub version: FileVersion,
    /// The number of the message that showed it.
    pub message: u32,
    /// True if a later message referred to it instead of showing the file again. The next request then gets the text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_referred_to: bool,
}

/// Whole views by the canonical paths of their files.
pub type WholeViews = BTreeMap<String, WholeView>;

/// Returns the views that a message of a session may refer to: none if it is self-contained.
pub(in crate::outbox) fn usable_views(session: &Session) -> WholeViews {
    if session.shows_everything() {
        return WholeViews::new();
    }
    let is_recent = |view: &WholeView| view.message + MESSAGES >= session.sequence_number;
    let views = session.whole_views.iter().filter(|(_, view)| is_recent(view));
    views.map(|(path, view)| (path.clone(), view.clone())).collect()
}

/// Returns the line that replaces a file that is the same as in a view; `None` if the file has to be shown.
pub(in crate::outbox) fn reference(
    file: &RequestedFile,
    views: &WholeViews,
    dialect: Dialect,
) -> Option<String> {
    let view = views.get(&file.path).filter(|view| !view.is_referred_to && dialect == Dialect::Agentd)?;
    let text = file.text.as_ref()?;
    let is_whole = text.lines.is_none() && !text.is_cut && text.text.len() >= LEAST_BYTES;
    (is_whole && text.version.as_ref() == Some(&view.version)).then(|| line(&file.path, view))
}

/// Returns the reference of the pending message to a file, if the file is still the same.
pub(in crate::outbox) fn pending_reference(file: &RequestedFile, session: &Session) -> Option<String> {
    let view = session.whole_views.get(&file.path).filter(|view| view.is_referred_to)?;
    file.text.as_ref().filter(|text| text.version.as_ref() == Some(&view.version))?;
    Some(line(&file.path, view))
}

fn line(path: &str, view: &WholeView) -> String {
    let (path, dashes) = (escape_name(path), "-".repeat(SHORTEST_FENCE));
    format!("{dashes} {path} {dashes} {AS_IN}{}{ASK_AGAIN}\n", view.message)
}
