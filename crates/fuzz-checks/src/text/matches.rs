//! Matching by text, compared with a search that tries every line.

use arbitrary::{Result, Unstructured};
use text_edit::{EditLimits, MatchRule, NoMatch, Numbering, Operation, SearchText, Source, apply, find_text};

use super::short_lines;

/// Checks that whole lines are found exactly if a plain comparison of every position finds them once, that they are refused if it
/// finds them more than once, and that replacing them changes no other byte.
pub fn text_matches(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    let Ok((text, search, replacement)) = case(&mut choices) else { return };
    check_lines(&text, &search);
    check_anywhere(&text, &search);
    check_replacing(&text, &search, &replacement);
}

fn case(choices: &mut Unstructured<'_>) -> Result<(String, String, String)> {
    let text = short_lines(choices, 24)?;
    let search = if choices.ratio(2, 3)? && !text.is_empty() {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let start = choices.choose_index(lines.len())?;
        let end = choices.int_in_range(start..=lines.len() - 1)?;
        lines[start..=end].concat()
    } else {
        short_lines(choices, 4)?
    };
    Ok((text, search, short_lines(choices, 4)?))
}

/// Returns the lines of a text without their endings; a last line without an ending counts.
fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line)).map(bare).collect()
}

fn bare(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

fn check_lines(text: &str, search: &str) {
    let source = Source::parse(text.as_bytes()).expect("a text");
    let matched = find_text(&source, &SearchText::of_lines(search), &MatchRule::ALL, None);
    let (lines, wanted) = (lines_of(text), search_lines(search));
    let starts: Vec<usize> = (0..lines.len())
        .filter(|start| lines.get(*start..start + wanted.len()) == Some(wanted.as_slice()))
        .collect();
    match (starts.as_slice(), &matched) {
        (_, Err(NoMatch::Empty)) => assert!(wanted.concat().trim().is_empty(), "{search:?} is not empty"),
        ([start], matched) => {
            let matched = matched.as_ref().unwrap_or_else(|error| panic!("{search:?} in {text:?}: {error}"));
            assert_eq!(matched.lines, start + 1..=start + wanted.len(), "{search:?} in {text:?}");
        }
        ([], Ok(matched)) => assert!(!matched.rules.is_empty(), "{search:?} is not in {text:?}: {matched:?}"),
        ([], Err(_)) => {}
        (many, matched) => {
            let Err(NoMatch::Occurs { line_numbers, .. }) = matched else {
                panic!("{search:?} occurs {} times in {text:?}: {matched:?}", many.len())
            };
            assert_eq!(line_numbers.first(), Some(&(many[0] + 1)));
        }
    }
}

/// Returns the lines of a search text; unlike in a file, a single line feed at its end adds no line.
fn search_lines(search: &str) -> Vec<&str> {
    let search = search.strip_suffix('\n').unwrap_or(search);
    bare(search).split('\n').map(bare).collect()
}

fn check_anywhere(text: &str, search: &str) {
    let source = Source::parse(text.as_bytes()).expect("a text");
    let Ok(matched) = find_text(&source, &SearchText::anywhere(search), &[], None) else { return };
    let passage = source.lines_text(matched.lines.clone()).expect("lines of the text").replace("\r\n", "\n");
    let search = search.replace("\r\n", "\n");
    let passage = format!("{passage}\n");
    assert!(passage.contains(&search), "{search:?} is not in {passage:?}");
    let plain = text.replace("\r\n", "\n");
    let count =
        (0..plain.len()).filter(|at| plain.get(*at..).is_some_and(|rest| rest.starts_with(&search))).count();
    assert!(
        count <= 1,
        "{search:?} occurs {count} times in {text:?}, and line {:?} was taken",
        matched.lines
    );
}

fn check_replacing(text: &str, search: &str, replacement: &str) {
    let operation = Operation::ReplaceText {
        search: SearchText::of_lines(search),
        replacement: replacement.to_owned(),
        expected: 1,
        within: None,
    };
    let Ok(edited) = apply(text.as_bytes(), &[operation], Numbering::Original, &EditLimits::default()) else {
        return;
    };
    let [outcome] = edited.texts.as_slice() else { panic!("one text, not {:?}", edited.texts) };
    if outcome.already_applied {
        assert_eq!(edited.bytes, text.as_bytes(), "nothing was to be done");
        return;
    }
    let [lines] = outcome.lines.as_slice() else { panic!("one passage, not {:?}", outcome.lines) };
    let source = Source::parse(text.as_bytes()).expect("a text");
    let span = source.lines_span(lines.clone()).expect("lines of the text");
    let (mut before, after) = (&text.as_bytes()[..span.start], &text.as_bytes()[span.end..]);
    if after.is_empty() {
        // If a last line without an ending is removed, the previous one loses its ending.
        before = before.strip_suffix(b"\n").unwrap_or(before);
        before = before.strip_suffix(b"\r").unwrap_or(before);
    }
    let is_kept = edited.bytes.starts_with(before) && edited.bytes.ends_with(after);
    assert!(
        is_kept,
        "{search:?} by {replacement:?} in {text:?}: {:?}",
        String::from_utf8_lossy(&edited.bytes)
    );
}
