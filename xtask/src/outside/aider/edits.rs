//! Edits as both programs read them out of a reply: one form for the comparison.

use serde_json::Value;
use tagproto::{Block, Dialect, ForeignFault, HunkFault, Item, ParseErrorKind, Strictness, read_in};

/// One edit: the lines to find in a file, and the lines to put there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// The path as it is written.
    pub(super) path: String,
    /// The lines to find; empty for a new file.
    pub(super) search: String,
    /// The new lines.
    pub(super) replacement: String,
}

/// The edits of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadEdits {
    /// Those that can be carried out.
    pub(super) edits: Vec<Edit>,
    /// The reasons for which others are refused, without any text of the reply.
    pub(super) refusals: Vec<&'static str>,
}

/// Reads a reply as a session does.
pub(super) fn ours(reply: &str) -> ReadEdits {
    let reply = read_in(reply, Strictness::Repair, Dialect::Agentd);
    let mut read = ReadEdits::default();
    read.refusals.extend(reply.refused.map(|_| "the paste as a whole is damaged"));
    for item in reply.items {
        let block = match item {
            Item::Block(block) => block.value,
            Item::Error(error) => {
                read.refusals.push(refusal(&error.kind));
                continue;
            }
        };
        match block {
            Block::CreateFile { path, body, .. } => {
                let replacement = body.lines().map(|line| format!("{line}\n")).collect();
                read.edits.push(Edit { path: path.into_owned(), search: String::new(), replacement });
            }
            Block::EditText { path, hunks, .. } => read.edits.extend(hunks.into_iter().map(|hunk| Edit {
                path: path.clone().into_owned(),
                search: hunk.search,
                replacement: hunk.replacement,
            })),
            Block::DeleteFile { path, .. } => {
                let path = path.into_owned();
                read.edits.push(Edit { path, search: "deleted".to_owned(), replacement: String::new() });
            }
            _ => {}
        }
    }
    read
}

/// Names the kind of a fault.
fn refusal(kind: &ParseErrorKind) -> &'static str {
    let ParseErrorKind::Foreign(fault) = kind else { return "a malformed block of ours" };
    match fault {
        ForeignFault::Hunk { fault: HunkFault::NotWhole, .. } => "a hunk is not whole",
        ForeignFault::Hunk { fault: HunkFault::DividedTwice, .. } => "a hunk is divided twice",
        ForeignFault::Hunk { .. } => "text outside of a hunk's marks",
        ForeignFault::NoPath { .. } | ForeignFault::UnchangedFile { .. } => "a hunk without a file",
        ForeignFault::NoContext { .. } => "a hunk without a line of the file",
        ForeignFault::NoEnd => "a patch without its end",
        ForeignFault::Line { .. } => "a line without meaning",
        ForeignFault::Rename { .. } => "a file gets another name",
        ForeignFault::Binary { .. } => "a binary patch",
        ForeignFault::OmittedCode { .. } => "code is left out",
        ForeignFault::Empty { .. } => "a patch without a change",
        _ => "another fault of a hunk",
    }
}

/// Reads what aider's reader of SEARCH/REPLACE blocks has returned. Shell commands, which have no path, are left out.
pub(super) fn of_blocks(result: &[Value]) -> Vec<Edit> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let edit = |block: &Value| {
        let path = block[0].as_str()?.to_owned();
        Some(Edit { path, search: text(&block[1]), replacement: text(&block[2]) })
    };
    result.iter().filter_map(edit).collect()
}

/// Reads what aider's reader of unified diffs has returned: lines with a sign in front of each.
pub(super) fn of_diffs(result: &[Value]) -> Vec<Edit> {
    let edit = |hunk: &Value| {
        let lines: Vec<&str> = hunk[1].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let side = |signs: [char; 2]| -> String {
            lines.iter().filter_map(|line| line.strip_prefix(signs)).collect()
        };
        let path = hunk[0].as_str().unwrap_or_default().to_owned();
        Edit { path, search: side([' ', '-']), replacement: side([' ', '+']) }
    };
    result.iter().map(edit).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Edit, of_blocks, of_diffs, ours};

    fn edit(path: &str, search: &str, replacement: &str) -> Edit {
        let [path, search, replacement] = [path, search, replacement].map(str::to_owned);
        Edit { path, search, replacement }
    }

    #[test]
    fn both_programs_have_the_same_form() {
        let reply = "a.py\n<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n\nb.py\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n";
        let blocks = [json!(["a.py", "one\n", "two\n"]), json!([null, "ls\n"]), json!(["b.py", "", "new\n"])];
        let expected = [edit("a.py", "one\n", "two\n"), edit("b.py", "", "new\n")];
        assert_eq!(of_blocks(&blocks), expected);
        assert_eq!(ours(reply).edits, expected);
        assert!(ours(reply).refusals.is_empty());
    }

    #[test]
    fn hunks_have_two_sides() {
        let hunks = [json!(["a.py", [" same\n", "-old\n", "+new\n"]])];
        let reply = "--- a.py\n+++ a.py\n@@ ... @@\n same\n-old\n+new\n";
        let expected = [edit("a.py", "same\nold\n", "same\nnew\n")];
        assert_eq!(of_diffs(&hunks), expected);
        assert_eq!(ours(reply).edits, expected);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let read = ours("a.py\n<<<<<<< SEARCH\none\n=======\ntwo\n");
        assert_eq!(read.edits, []);
        assert_eq!(read.refusals, ["a hunk is not whole"]);
    }
}
