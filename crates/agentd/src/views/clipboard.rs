//! The clipboard of the user's desktop or, over ssh, of the user's terminal.

mod desktop;
mod programs;
mod terminal;

pub(crate) use desktop::DesktopClipboard;
pub(crate) use programs::installed;
use workspace_host::OwnPrograms;

/// The reason that no clipboard can be used.
pub(crate) const NO_CLIPBOARD: &str = "none of wl-copy, xclip, xsel and pbcopy works here, and standard error is not a terminal that was reached by ssh";

/// Puts a text on the clipboard, where it stays after this process. Returns how; `None` if there is no clipboard.
///
/// A terminal does not answer, so that a request to it counts as obeyed.
pub(crate) fn copy(programs: &OwnPrograms, text: &str) -> Option<&'static str> {
    programs::copy(programs, text)
        .or_else(|| terminal::copy(text).then_some("by the terminal, if it allows that"))
}

/// Reads the text on the clipboard, with at most `most_bytes` bytes; `None` if there is no clipboard, no text on it, or more.
pub(crate) fn paste(programs: &OwnPrograms, most_bytes: u64) -> Option<String> {
    let fits = |text: &String| text.len() as u64 <= most_bytes;
    let desktop = DesktopClipboard::open().and_then(|mut desktop| desktop.read()).filter(fits);
    desktop.or_else(|| programs::paste(programs, most_bytes))
}
