//! Citation marks that chat windows put into text.

/// The maximum number of characters of a mark, from its dagger on.
const LONGEST: usize = 80;

/// Returns the index of the first line with a citation mark.
pub(crate) fn first_line_with(lines: &[&str]) -> Option<usize> {
    lines.iter().position(|line| holds_bracketed(line) || holds_private_use(line) || holds_bare(line))
}

/// Checks for marks such as `【4†source】`.
fn holds_bracketed(line: &str) -> bool {
    line.match_indices('【').any(|(at, bracket)| {
        let inner = &line[at + bracket.len()..];
        let rest = inner.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        rest.len() < inner.len() && rest.starts_with('†') && rest.chars().take(LONGEST).any(|c| c == '】')
    })
}

/// Checks for a word between U+E200 and U+E202; icon fonts use these characters too, but not around words.
fn holds_private_use(line: &str) -> bool {
    line.match_indices('\u{e200}').any(|(at, mark)| {
        let inner = &line[at + mark.len()..];
        let rest = inner.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        rest.len() < inner.len() && rest.starts_with('\u{e202}')
    })
}

/// Checks for the same mark without its invisible characters, and for the form with `contentReference`.
fn holds_bare(line: &str) -> bool {
    let numbered = line.match_indices("citeturn").any(|(at, word)| {
        let inner = &line[at + word.len()..];
        let rest = inner.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < inner.len()
            && ["search", "view", "news", "fetch", "image", "file"].iter().any(|kind| rest.starts_with(kind))
    });
    numbered || line.contains(":contentReference[oaicite:")
}
