//! The headings of a page, as links name them.

use std::collections::BTreeMap;

/// Returns the anchors of a page's headings: small letters, hyphens for blanks, no punctuation. A heading that occurs again
/// gets a number.
pub(super) fn anchors(page: &str) -> Vec<String> {
    let mut anchors = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut is_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let Some(heading) = heading(line).filter(|_| !is_code) else { continue };
        let anchor = anchor(heading);
        let count = counts.entry(anchor.clone()).or_default();
        anchors.push(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}

/// Returns the text of a heading.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    (text.len() < line.len() && text.starts_with(' ')).then(|| text.trim())
}

fn anchor(heading: &str) -> String {
    let mut anchor = String::new();
    let mut is_address = false;
    let mut before = ' ';
    for character in heading.chars() {
        // Of a link only its text is shown.
        is_address = (is_address || (before == ']' && character == '(')) && before != ')';
        before = character;
        match character {
            _ if is_address => {}
            ' ' => anchor.push('-'),
            '-' | '_' => anchor.push(character),
            _ if character.is_alphanumeric() => anchor.extend(character.to_lowercase()),
            _ => {}
        }
    }
    anchor
}
