//! Values that are written with the escapes of another file.

use wap_core::{Call, FileChange, Workspace};

use super::whole_text::WholeText;
use crate::workspace::PlaceholderWorkspace;
use crate::workspace::written_texts::written;
use crate::{Marker, Secrets, markers};

impl<W: Workspace> PlaceholderWorkspace<W> {
    /// Returns the warning about a value that a change writes into a file without it, in a spelling that may be right in
    /// another file only: a model cannot see that. `path` is that of the file.
    pub(in crate::workspace) fn escaped_value_warning(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        change: &FileChange,
        path: &str,
    ) -> Option<String> {
        let hits = written(change).into_iter().flat_map(markers);
        let mut escaped: Vec<(Marker, String)> = hits
            .filter_map(|(_, marker)| secrets.escaped_value(&marker).map(|value| (marker, value)))
            .collect();
        if escaped.is_empty() {
            return None;
        }
        // The warning must not depend on the content of a file that is left out.
        if !self.is_withheld(call, secrets, path)
            && let WholeText::Text { text, .. } = self.whole_text(call, path)
        {
            escaped.retain(|(_, value)| !text.contains(value.as_str()));
        }
        let (marker, _) = escaped.into_iter().next()?;
        Some(format!(
            "the value of {marker} was written as the file spells it in which it was found, with escapes such as `\\\"`, `''` or `%40`: if \
            this file has other ones, let a command decode the value and write it"
        ))
    }
}
