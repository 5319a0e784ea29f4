//! Rust source without its comments and texts.

/// A comment or a literal of a source.
pub(super) struct Piece<'s> {
    /// The piece with its marks or quotes.
    pub(super) text: &'s str,
    /// The line in which it begins, 0-based.
    pub(super) line_index: usize,
}

/// Returns a source in which comments, texts and characters are blanks. Lines stay where they are.
///
/// It knows nested comments, raw texts and lifetimes, and nothing else of the language; for looking for words this is
/// enough.
pub(super) fn code_only(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    split(source, |piece, is_code| {
        if is_code {
            code.push_str(piece);
        } else {
            code.extend(piece.chars().map(|character| if character == '\n' { '\n' } else { ' ' }));
        }
    });
    code
}

/// Returns the comments, texts and characters of a source, which [`code_only`] leaves out.
pub(super) fn pieces(source: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut line_index = 0;
    split(source, |text, is_code| {
        if !is_code {
            pieces.push(Piece { text, line_index });
        }
        line_index += text.matches('\n').count();
    });
    pieces
}

/// Calls `each` with the parts of a source in their order: single characters of code, and whole comments and literals.
fn split<'s>(source: &'s str, mut each: impl FnMut(&'s str, bool)) {
    let mut rest = source;
    let mut previous = ' ';
    while let Some(first) = rest.chars().next() {
        let skipped = prefixed_length(rest, !is_word(previous));
        let (piece, after) = rest.split_at(skipped.unwrap_or(first.len_utf8()));
        each(piece, skipped.is_none());
        previous = if skipped.is_some() { ' ' } else { first };
        rest = after;
    }
}

/// Tells whether a character can be part of a name.
pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Tells whether a line holds a word by itself, not as part of a longer one.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// The length of the comment, text or character that a source begins with. A raw text's prefix counts only where a
/// name can begin.
fn prefixed_length(rest: &str, at_name_start: bool) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(block_comment_length(rest));
    }
    if rest.starts_with('"') {
        return Some(text_length(rest));
    }
    if rest.starts_with('\'') {
        return character_length(rest);
    }
    let prefix =
        ["br", "cr", "r"].iter().find(|prefix| rest.starts_with(**prefix)).filter(|_| at_name_start)?;
    let hashes = rest[prefix.len()..].bytes().take_while(|byte| *byte == b'#').count();
    let open = prefix.len() + hashes;
    if !rest[open..].starts_with('"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let end = rest[open + 1..].find(&close);
    Some(end.map_or(rest.len(), |end| open + 1 + end + close.len()))
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0;
    let bytes = rest.as_bytes();
    let mut index = 0;
    while index + 1 < bytes.len() {
        match &bytes[index..index + 2] {
            b"/*" => (depth, index) = (depth + 1, index + 2),
            b"*/" if depth == 1 => return index + 2,
            b"*/" => (depth, index) = (depth - 1, index + 2),
            _ => index += 1,
        }
    }
    rest.len()
}

fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character, `None` for a lifetime.
fn character_length(rest: &str) -> Option<usize> {
    let mut characters = rest.char_indices().skip(1);
    let (_, first) = characters.next()?;
    if first == '\\' {
        // The character behind the backslash may itself be a quote.
        characters.next()?;
        return characters.find(|(_, character)| *character == '\'').map(|(index, _)| index + 1);
    }
    characters.next().filter(|(_, character)| *character == '\'').map(|(index, _)| index + 1)
}

#[cfg(test)]
mod tests {
    use super::{code_only, has_word};

    #[test]
    fn comments_and_texts_are_blanked_and_code_stays() {
        let cases = [
            ("a // unsafe\nb", "a          \nb"),
            ("/* a /* b */ c */ d", "                  d"),
            (r#"x("a\"b") y"#, r"x(      ) y"),
            (r###"r#"un"safe"# z"###, r"             z"),
            ("for'a'b", "for   b"),
            (r"'\'' x", "     x"),
            ("&'static str", "&'static str"),
            ("br\"x\" y", "      y"),
            ("/* open", "       "),
        ];
        for (source, code) in cases {
            assert_eq!(code_only(source), code, "{source}");
        }
    }

    #[test]
    fn a_text_over_several_lines_keeps_them() {
        assert_eq!(code_only("a\"1\n2\"\nb"), "a  \n  \nb");
    }

    #[test]
    fn a_word_is_not_a_part_of_a_longer_one() {
        assert!(has_word("x unsafe {", "unsafe"));
        assert!(!has_word("unsafe_code", "unsafe"));
        assert!(!has_word("is_unsafe", "unsafe"));
    }
}
