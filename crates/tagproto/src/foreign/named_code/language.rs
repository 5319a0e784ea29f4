//! The language of a code block, by the line that opens it.

use crate::foreign::file_name::fence_info;

/// Languages of commands for a shell, unless the file is a script.
const SHELLS: [&str; 6] = ["bash", "powershell", "sh", "shell", "terminal", "zsh"];

/// Languages of output or other text, unless the file is plain text.
const TEXTS: [&str; 6] = ["console", "log", "output", "plaintext", "text", "txt"];

/// Extensions of scripts and plain text.
const PLAIN_FILES: [&str; 8] = ["bash", "fish", "ksh", "log", "ps1", "sh", "txt", "zsh"];

const DIFFS: [&str; 3] = ["diff", "patch", "udiff"];

/// The language of a code block, in lower case; empty if it has none.
pub(super) struct Language(String);

impl Language {
    /// Reads the language from the opening fence.
    pub(super) fn of(opening: &str) -> Language {
        let info = fence_info(opening.trim()).unwrap_or_default();
        let word = info.split([' ', ':', ',', '{', '(']).next().unwrap_or_default();
        Language(word.to_ascii_lowercase())
    }

    pub(super) fn is_shell(&self) -> bool {
        SHELLS.contains(&self.0.as_str())
    }

    fn is_diff(&self) -> bool {
        DIFFS.contains(&self.0.as_str())
    }

    /// Checks whether a code block in this language can be text of a file.
    pub(super) fn can_be_of(&self, path: &str) -> bool {
        let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
        let is_plain = extension.is_none_or(|extension| PLAIN_FILES.contains(&extension));
        is_plain || !(self.is_shell() || TEXTS.contains(&self.0.as_str()))
    }

    /// Returns the passages that the file has after the change that a code block shows.
    pub(super) fn new_passages(&self, code: &[&str]) -> Vec<String> {
        if !self.is_diff() {
            return vec![code.join("\n")];
        }
        let hunks = code.split(|line| ["@@", "--- ", "+++ "].iter().any(|header| line.starts_with(header)));
        let is_new = |line: &&&str| !line.starts_with(['-', '\\']);
        let text = |line: &&str| line.strip_prefix(['+', ' ']).unwrap_or(line).to_owned();
        let passages =
            hunks.map(|lines| lines.iter().filter(is_new).map(text).collect::<Vec<_>>().join("\n"));
        passages.filter(|passage| !passage.trim().is_empty()).collect()
    }
}
