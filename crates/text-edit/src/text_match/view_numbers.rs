//! Line numbers in front of lines, as numbered views show them: `12|text`, `12 | text`, `12│text`, `12→text`, `12<TAB>text`.

/// Takes the numbers off lines that all have consecutive ones; `None` for other lines.
pub(super) fn without(lines: &[&str]) -> Option<String> {
    let mut bare = String::new();
    let mut next: Option<u64> = None;
    for line in lines {
        let (number, rest) = numbered(line)?;
        if next.is_some_and(|next| next != number) {
            return None;
        }
        next = Some(number + 1);
        bare.push_str(rest);
        bare.push('\n');
    }
    Some(bare)
}

/// Takes the number off a line that has one.
pub(super) fn bare(line: &str) -> &str {
    numbered(line).map_or(line, |(_, rest)| rest)
}

fn numbered(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let number = line[..digits].parse().ok()?;
    let rest = &line[digits..];
    let bars = ["|", "│", "→", "\t"];
    if let Some(text) = bars.iter().find_map(|bar| rest.strip_prefix(bar)) {
        return Some((number, text));
    }
    // With blanks around the bar; a blank line may have lost the one behind it.
    let text = rest.strip_prefix(" |").or_else(|| rest.strip_prefix(" │"))?;
    Some((number, text.strip_prefix(' ').unwrap_or(text)))
}
