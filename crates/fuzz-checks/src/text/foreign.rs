//! Edits in the formats of other programs.

use arbitrary::{Result, Unstructured};
use tagproto::{Dialect, Strictness, read_in};

use super::tags::check_reply;

/// The lines for building replies: those that open, divide and close a block in each format, and some in between.
const LINES: [&str; 36] = [
    "src/a.rs",
    "`src/a.rs`",
    "**src/a.rs**",
    "```rust",
    "```diff",
    "```",
    "````",
    "<<<<<<< SEARCH",
    "<<<<<<< SEARCH src/a.rs",
    "=======",
    ">>>>>>> REPLACE",
    "--- a/src/a.rs",
    "+++ b/src/a.rs",
    "--- /dev/null",
    "+++ /dev/null",
    "@@ -1,2 +1,3 @@",
    "@@",
    "@@ fn a()",
    "diff --git a/src/a.rs b/src/a.rs",
    "new file mode 100644",
    "*** Begin Patch",
    "*** Update File: src/a.rs",
    "*** Add File: src/b.rs",
    "*** Delete File: src/c.rs",
    "*** Move to: src/d.rs",
    "*** End of File",
    "*** End Patch",
    " kept",
    "-old",
    "+new",
    "+",
    "\\ No newline at end of file",
    "[EDIT_FILE path=\"src/a.rs\"]",
    "[/EDIT_FILE]",
    "",
    "prose",
];

/// Checks replies of lines in these formats, with the same promises as for any reply.
///
/// The bytes choose the lines; the remaining bytes are used as text.
pub fn foreign_formats(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    let Ok(text) = reply(&mut choices) else { return };
    for strictness in [Strictness::Strict, Strictness::Repair] {
        check_reply(&text, &read_in(&text, strictness, Dialect::Agentd));
    }
}

fn reply(choices: &mut Unstructured<'_>) -> Result<String> {
    let mut text = String::new();
    for _ in 0..choices.int_in_range(0..=40)? {
        let line = choices.choose(&LINES)?;
        match choices.int_in_range(0..=7)? {
            0 => text.push_str(&String::from_utf8_lossy(choices.bytes(3)?)),
            1 => text.push_str("  "),
            2 => text.push_str("> "),
            _ => {}
        }
        text.push_str(line);
        text.push_str(if choices.ratio(1, 16)? { "\r\n" } else { "\n" });
    }
    let rest = choices.len();
    text.push_str(&String::from_utf8_lossy(choices.bytes(rest)?));
    Ok(text)
}
