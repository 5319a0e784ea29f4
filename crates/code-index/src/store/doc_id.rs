//! Document ids: a file's path with a range of lines.

/// Formats a document id: `path#first-last`.
pub(crate) fn write(path: &str, first: usize, last: usize) -> String {
    format!("{path}#{first}-{last}")
}

/// Parses a document id into the path and its 1-based lines.
pub(crate) fn read(doc_id: &str) -> Option<(&str, usize, usize)> {
    let (path, lines) = doc_id.rsplit_once('#')?;
    let (first, last) = lines.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (0 < first && first <= last).then_some((path, first, last))
}
