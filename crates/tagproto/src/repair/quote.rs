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

/// Removes the `>` from each line, after the tag's indentation, and the space after it if the tags have one. A line that
/// contradicts the tags counts as not quoted: its indentation is unclear.
pub(crate) fn unquoted<'a>(lines: &[&'a str], indent: &str, tags: [&str; 2]) -> Quoted<'a> {
    let mut of_tags = tags.iter().filter_map(|tag| tag.trim_start().strip_prefix('>'));
    let has_space = of_tags.next().is_some_and(|rest| rest.starts_with(' '));
    let do_agree = of_tags.all(|rest| rest.starts_with(' ') == has_space);
    let is_clear =
        |rest: &&str| rest.trim().is_empty() || do_agree && (!has_space || rest.starts_with([' ', '>']));
    let mut bare = Vec::with_capacity(lines.len());
    let (mut first_unquoted, mut is_quoted) = (None, false);
    for (index, line) in lines.iter().enumerate() {
        let rest = line.strip_prefix(indent).unwrap_or(line).strip_prefix('>');
        is_quoted |= rest.is_some();
        match rest.filter(is_clear) {
            // At most one space belongs to the mark; further ones are indentation.
            Some(rest) if has_space => bare.push(rest.strip_prefix(' ').unwrap_or(rest)),
            Some(rest) => bare.push(rest),
            None => first_unquoted = first_unquoted.or(Some(index)),
        }
    }
    match first_unquoted {
        None => Quoted::All(bare),
        Some(_) if !is_quoted => Quoted::None,
        Some(line_index) => Quoted::Some { line_index },
    }
}
