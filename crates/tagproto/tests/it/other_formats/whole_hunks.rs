//! A damaged change in another format is read whole or is refused.

use proptest::prelude::*;
use tagproto::{Block, Dialect, Item, Strictness, read_in};

/// A line of a hunk: its prefix and its text.
type Line = (char, String);

fn hunk() -> impl Strategy<Value = Vec<Line>> {
    let text = prop_oneof![4 => "[a-z({]{1,6}", 2 => "    [a-z]{1,4}", 1 => Just(String::new()), 1 => Just("```".to_owned())];
    let line = (prop::sample::select(vec![' ', ' ', '-', '+']), text);
    let change = ("[a-z]{1,4}", "[A-Z]{1,4}").prop_map(|(old, new)| vec![('-', old), ('+', new)]);
    (prop::collection::vec(line, 0..6), change, prop::collection::vec((Just(' '), "[a-z]{1,5}"), 0..3))
        .prop_map(|(before, change, after)| [before, change, after].concat())
}

fn side(lines: &[Line], other: char) -> String {
    lines.iter().filter(|(prefix, _)| *prefix != other).map(|(_, text)| format!("{text}\n")).collect()
}

/// Returns the hunks of a reply with a single block, or its error.
fn read(reply: &str) -> Result<Vec<(String, String)>, String> {
    match read_in(reply, Strictness::Repair, Dialect::Agentd).items.as_slice() {
        [Item::Block(block)] => match &block.value {
            Block::EditText { hunks, .. } => {
                Ok(hunks.iter().map(|hunk| (hunk.search.clone(), hunk.replacement.clone())).collect())
            }
            other => panic!("{other:?}"),
        },
        [Item::Error(error)] => Err(error.to_string()),
        items => panic!("{items:?}"),
    }
}

fn diff(header: &str, lines: &[String], after: &str) -> String {
    format!("Here:\n\n--- a/a.go\n+++ b/a.go\n{header}\n{}\n{after}", lines.join("\n"))
}

fn counted(lines: &[Line]) -> String {
    let count = |other: char| lines.iter().filter(|(prefix, _)| *prefix != other).count();
    format!("@@ -3,{} +3,{} @@", count('+'), count('-'))
}

/// Texts that may follow a diff; an empty text for the end of the reply.
const AFTER: [&str; 4] = ["", "\nThat is all.\n", "\n- I changed it.\n+ All tests pass.\n", "-- \n2.40.0\n"];

proptest! {
    /// A line that lost its prefix does not end a hunk: the lines after it would silently be left out.
    #[test]
    fn a_diff_whose_line_lost_its_prefix_is_read_whole_or_refused(
        lines in hunk(), lost in any::<prop::sample::Index>(), has_counts: bool, after in prop::sample::select(AFTER.to_vec()),
    ) {
        // Without counts, the lines of a list look like lines of the hunk.
        let mut has_counts = has_counts || after.contains("\n- ");
        let whole = (side(&lines, '+'), side(&lines, '-'));
        let context: Vec<usize> = (0..lines.len()).filter(|index| lines[*index].0 == ' ').collect();
        let mut written: Vec<String> = lines.iter().map(|(prefix, text)| format!("{prefix}{text}")).collect();
        if !context.is_empty() {
            let line = context[lost.index(context.len())];
            written[line] = lines[line].1.clone();
            // A line of the last context without its prefix looks like prose.
            let is_last = lines[line..].iter().all(|(prefix, _)| *prefix == ' ');
            has_counts |= is_last;
        }
        let header = if has_counts { counted(&lines) } else { "@@ ... @@".to_owned() };
        if let Ok(hunks) = read(&diff(&header, &written, after)) {
            // An indented line without its prefix is another line, which the file does not have.
            let is_indented = written.iter().zip(&lines).any(|(text, (prefix, line))| *prefix == ' ' && text == line && line.starts_with(' '));
            prop_assert!(is_indented || hunks == [whole], "{hunks:?}");
        }
    }

    /// No list, sentence or signature after a diff becomes a line of the file if the counts of the hunk are right.
    #[test]
    fn text_after_a_diff_does_not_belong_to_it(lines in hunk(), after in prop::sample::select(AFTER.to_vec())) {
        let whole = (side(&lines, '+'), side(&lines, '-'));
        let written: Vec<String> = lines.iter().map(|(prefix, text)| format!("{prefix}{text}")).collect();
        prop_assert_eq!(read(&diff(&counted(&lines), &written, after)), Ok(vec![whole]));
    }

    /// A second hunk is carried out on the file named by the line before it, or is refused.
    #[test]
    fn a_hunk_never_changes_another_file_than_the_one_named_before_it(
        before in "[-*#>( ]{0,2}[A-Za-z ]{0,9}[:`*( ]{0,2}", after in "[`*:,.)]{0,2}[a-z ]{0,9}", fence: bool,
    ) {
        let hunk = |old: &str, new: &str| format!("<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n");
        let fence = if fence { "```python\n" } else { "" };
        let reply = format!("src/a.py\n{}{before} src/b.py{after}\n{fence}{}", hunk("x", "y"), hunk("v", "w"));
        let items = read_in(&reply, Strictness::Repair, Dialect::Agentd).items;
        for item in &items {
            let Item::Block(block) = item else { continue };
            let Block::EditText { path, hunks, .. } = &block.value else { panic!("{block:?}") };
            let is_first = hunks.len() == 1 && hunks[0].search == "x\n" && path == "src/a.py";
            prop_assert!(is_first || path != "src/a.py", "{items:?}");
        }
    }
}
