//! The answer to an edit of a file with secrets, as it is on the text that the model sees.

use wap_core::{FileVersion, ModifyFileResponse, Reason, RegexReplacements, WapError};

/// The answer to give instead of the engine's own, which looks into secrets.
#[derive(Debug, Default)]
pub(in crate::workspace) enum ShownAnswer {
    /// Nothing: the file has no secrets, or the edit looks for no text.
    #[default]
    Engines,
    /// The edit fails on the file, for this reason, and on the visible text with that error.
    Refusal { reason: Reason, error: WapError },
    /// The matches in the text of this version.
    Replacements { version: FileVersion, replacements: Vec<RegexReplacements> },
}

impl ShownAnswer {
    /// Returns the error to show; the engine's own, which may quote the file, if it had another reason.
    pub(in crate::workspace) fn error(self, engines: WapError) -> Result<WapError, WapError> {
        match self {
            ShownAnswer::Refusal { reason, error } if reason == engines.reason() => Ok(error),
            _ => Err(engines),
        }
    }

    /// Takes the matches out of an answer and returns those to show, without secrets; `None` if the engine's stay. Its counts include
    /// matches within secrets, and the lines near to a pattern without a match have words of it within secrets.
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
            // The answer is on record, of an edit of an earlier text.
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
