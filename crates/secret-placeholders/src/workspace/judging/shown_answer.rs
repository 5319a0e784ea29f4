//! The answer to an edit of a file with secrets, computed on the text that the model sees.

use wap_core::{FileVersion, ModifyFileResponse, Reason, RegexReplacements, WapError};

/// The answer to return instead of the engine's, which depends on secrets.
#[derive(Debug, Default)]
pub(in crate::workspace) enum ShownAnswer {
    /// The engine's own: the file has no secrets, or the edit does not search for text.
    #[default]
    Engines,
    /// The edit fails on the file for this reason, and on the visible text with this error.
    Refusal { reason: Reason, error: WapError },
    /// The matches in the text of this version.
    Replacements { version: FileVersion, replacements: Vec<RegexReplacements> },
}

impl ShownAnswer {
    /// Returns the error to show, or the engine's, which may quote the file, if its reason differs.
    pub(in crate::workspace) fn error(self, engines: WapError) -> Result<WapError, WapError> {
        match self {
            ShownAnswer::Refusal { reason, error } if reason == engines.reason() => Ok(error),
            _ => Err(engines),
        }
    }

    /// Removes the matches from an answer and returns those to show, without secrets; `None` to keep the engine's. The
    /// engine's counts include matches within secrets, and its lines similar to an unmatched pattern may share words
    /// with it within secrets.
    pub(in crate::workspace) fn matches(
        self,
        modified: &mut ModifyFileResponse,
    ) -> Option<Vec<RegexReplacements>> {
        let counted = match &self {
            ShownAnswer::Engines => return None,
            ShownAnswer::Replacements { .. } | ShownAnswer::Refusal { .. } => {
                std::mem::take(&mut modified.replacements)
            }
        };
        let notes: Vec<String> = counted.iter().filter_map(RegexReplacements::note).collect();
        modified.warnings.retain(|warning| !notes.contains(warning));
        let visible = match self {
            ShownAnswer::Replacements { version, replacements }
                if modified.previous_version.as_ref() == Some(&version) =>
            {
                replacements
            }
            // The answer is on record, from an edit of an earlier text.
            _ => {
                let without = |one: RegexReplacements| RegexReplacements {
                    matches: one.replaced,
                    nearest: Vec::new(),
                    ..one
                };
                counted.into_iter().map(without).collect()
            }
        };
        modified.warnings.extend(visible.iter().filter_map(RegexReplacements::note));
        Some(visible)
    }
}
