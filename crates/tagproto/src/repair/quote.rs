//! The `>` in front of each line of a quoted block.

/// The quote marks in front of the lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Quoted<'a> {
    /// No line is quoted.
    None,
    /// Every line is quoted; the lines without the mark.
    All(Vec<&'a str>),
    /// Some lines are quoted; the index of the first one that is not.
    Some { line_index: usize },
}

/// Removes one `>` and one blank from each line, behind the same indentation as the tag's.
pub(crate) fn unquoted<'a>(lines: &[&'a str], indent: &str) -> Quoted<'a> {
    let mut bare = Vec::with_capacity(lines.len());
    let mut first_unquoted = None;
    for (index, line) in lines.iter().enumerate() {
        match line.strip_prefix(indent).unwrap_or(line).strip_prefix('>') {
            // At most one blank belongs to the mark; further ones are indentation.
            Some(rest) => bare.push(rest.strip_prefix(' ').unwrap_or(rest)),
            None => first_unquoted = first_unquoted.or(Some(index)),
        }
    }
    match first_unquoted {
        None => Quoted::All(bare),
        Some(_) if bare.is_empty() => Quoted::None,
        Some(line_index) => Quoted::Some { line_index },
    }
}
