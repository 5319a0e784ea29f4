//! The lines that git quotes after the ranges of a hunk header, in command output.

use std::borrow::Cow;

use memchr::memmem;

use crate::Secrets;
use crate::surroundings::{CUT, without_cut_end};

/// The minimum length of a line that git may have cut: it quotes at most 80 bytes, without trailing whitespace.
const LEAST_CUT_BYTES: usize = 72;

/// The mark around the ranges of a hunk.
const MARK: &str = "@@";

/// Returns a text without possible beginnings of secrets where git has cut hunk contexts. The number of lines stays the
/// same.
pub(crate) fn without_cut_contexts<'t>(secrets: &Secrets, text: &'t str) -> Cow<'t, str> {
    let (mut kept, mut done) = (String::new(), 0);
    let mut next = 0;
    for at in memmem::find_iter(text.as_bytes(), MARK) {
        // The rest of a line that was examined.
        if at < next {
            continue;
        }
        let start = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |newline| at + newline);
        next = end;
        let Some(context) = context(&text[start..end]) else { continue };
        let context = &text[start + context..end];
        if context.len() < LEAST_CUT_BYTES {
            continue;
        }
        let visible = without_cut_end(secrets, context);
        if visible.len() < context.len() {
            kept.push_str(&text[done..end - context.len() + visible.len()]);
            kept.push(CUT);
            done = end;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[done..]);
    Cow::Owned(kept)
}

/// Returns the start of the context in a hunk header, which may be coloured; `None` for other lines.
fn context(line: &str) -> Option<usize> {
    let rest = without_colours(line);
    let mark = &rest[..rest.len() - rest.trim_start_matches('@').len()];
    let ranges = rest[mark.len()..].strip_prefix(" -").filter(|_| mark.len() >= MARK.len())?;
    let end = ranges.find(&format!(" {mark}"))?;
    let is_range = |byte: u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'+' | b',');
    let context = without_colours(&ranges[end + 1 + mark.len()..]);
    ranges[..end].bytes().all(is_range).then(|| line.len() - context.trim_start_matches(' ').len())
}

/// Returns a text without leading colours and spaces.
fn without_colours(text: &str) -> &str {
    let mut rest = text;
    while let Some(sequence) = rest.trim_start_matches(' ').strip_prefix("\u{1b}[") {
        let parameters =
            sequence.trim_start_matches(|character: char| character.is_ascii_digit() || character == ';');
        let Some(rest_of_line) = parameters.strip_prefix('m') else { break };
        rest = rest_of_line;
    }
    rest
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{MemoryStore, StreamMask};

    /// A line as git truncates it, and the remaining part of its value.
    const CONTEXT: &str = "def connect(host, port, timeout=30, retries=5, password=\"kX7qzW+m2Lr9-correc";

    #[test]
    fn a_value_that_git_has_cut_in_the_head_of_a_hunk_is_not_shown() {
        let secrets = Secrets::open(MemoryStore::default()).unwrap();
        let heads = [
            "@@ -7,5 +7,6 @@ ",
            "@@ -7 +7 @@ ",
            "@@@ -1,3 -1,3 +1,7 @@@ ",
            "\u{1b}[36m@@ -7,5 +7,6 @@\u{1b}[m \u{1b}[33m",
        ];
        for head in heads {
            for (before, after) in [("", ""), ("+a\n", "\n b\n")] {
                let text = format!("{before}{head}{CONTEXT}{after}");
                let output = without_cut_contexts(&secrets, &text);
                assert!(!output.contains("kX7q"), "{text}: {output}");
                assert!(output.starts_with(&format!("{before}{head}def connect(host")), "{output}");
                assert!(output.ends_with(&format!("…{after}")), "{output}");
            }
        }
    }

    #[test]
    fn a_stream_shows_no_more_of_it_wherever_it_is_divided() {
        let secrets = Arc::new(Secrets::open(MemoryStore::default()).unwrap());
        let text = format!(" a\n@@ -7,5 +7,6 @@ {CONTEXT}\n b\n");
        for cut in 0..=text.len() {
            let mut stream = StreamMask::new(&secrets);
            let pieces = [&text.as_bytes()[..cut], &text.as_bytes()[cut..]].map(|piece| stream.push(piece));
            let output = pieces.concat() + &stream.finish();
            assert!(output.contains("password=") && !output.contains("kX7q"), "{cut}: {output}");
            assert_eq!(output.lines().count(), 3, "{output}");
        }
    }

    #[test]
    fn other_lines_stay_as_they_are() {
        let secrets = Secrets::open(MemoryStore::default()).unwrap();
        let short = "@@ -7,5 +7,6 @@ fn a_function_with_a_long_name_of_one_word()";
        let others =
            [format!("+@@ -7,5 +7,6 @@ {CONTEXT}"), format!("@@ {CONTEXT}"), format!("@ -7 +7 @ {CONTEXT}")];
        for text in others.iter().map(String::as_str).chain([short, CONTEXT, "@@", ""]) {
            assert_eq!(without_cut_contexts(&secrets, text), text);
        }
    }
}
