//! Shell text that writes a file by a here-document.

/// Returns the path and the text of the first file that shell text writes by a here-document: `cat > a.txt <<'EOF'`.
pub(super) fn first<'a>(code: &[&'a str]) -> Option<(&'a str, String)> {
    code.iter().enumerate().find_map(|(index, line)| {
        let (path, delimiter) = opening(line)?;
        let text = &code[index + 1..];
        let end = text.iter().position(|line| line.trim_start_matches('\t') == delimiter)?;
        Some((path, text[..end].join("\n")))
    })
}

/// Returns the path and the delimiter of a command that writes a here-document to a file.
fn opening(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start_matches(['$', ' ']);
    if !["cat ", "tee "].iter().any(|command| line.starts_with(command)) {
        return None;
    }
    let (before, after) = line.split_once("<<")?;
    let delimiter = after.strip_prefix('-').unwrap_or(after).trim_start();
    let mut words = delimiter.splitn(2, [' ', '>']);
    let delimiter = words.next()?.trim_matches(['\'', '"', '\\']);
    // The redirection may be on either side of the here-document.
    let target = before
        .split_once('>')
        .or_else(|| after.split_once('>'))
        .map(|(_, target)| target)
        .or_else(|| before.strip_prefix("tee "))?;
    let path = target.trim_start_matches('>').split_whitespace().next()?.trim_matches(['\'', '"']);
    let is_plain = !path.is_empty() && !path.starts_with(['-', '&', '/', '$', '~']);
    (is_plain && !delimiter.is_empty()).then_some((path, delimiter))
}
