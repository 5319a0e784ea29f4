//! The `>` in front of each line of a quoted block.

/// What was found in front of the lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Quoted<'a> {
    /// No line is quoted.
    None,
    /// Every line is; here they are without it.
    All(Vec<&'a str>),
    /// Some are; the index of the first line that is not like the first.
    Some { line_index: usize },
}

/// Takes one `>` and one blank off each line; `indent` may stand in front, as in front of the tag.
pub(crate) fn unquoted<'a>(lines: &[&'a str], indent: &str) -> Quoted<'a> {
    let mut bare = Vec::with_capacity(lines.len());
    let mut first_unquoted = None;
    for (index, line) in lines.iter().enumerate() {
        match line.strip_prefix(indent).unwrap_or(line).strip_prefix('>') {
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
