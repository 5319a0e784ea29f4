//! Numbers with their nouns.

/// Returns a number with a noun whose plural ends in `s`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
