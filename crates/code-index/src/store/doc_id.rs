//! The names of pieces of files.

/// The name of a piece: `path#first-last`.
pub(crate) fn write(path: &str, first: usize, last: usize) -> String {
    format!("{path}#{first}-{last}")
}

/// The path and the lines that a name stands for.
pub(crate) fn read(doc_id: &str) -> Option<(&str, usize, usize)> {
    let (path, lines) = doc_id.rsplit_once('#')?;
    let (first, last) = lines.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (0 < first && first <= last).then_some((path, first, last))
}
