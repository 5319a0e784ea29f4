//! The names under which an edit in the format of another program creates a file.

use tagproto::{Block, Dialect, Item, Strictness, read_in};

/// Characters and words around a name in a reply, which are not part of it.
const BEFORE: [&str; 31] = [
    "", "`", "``", "\"", "'", "“", "„", "‘", "«", "‹", "<", "(", "[", "{", "*", "**", "•", "- ", "> ", ">",
    "📄", "📄 ", "=== ", "===", "<path>", "<file>", "<b>", "// ", "/*", "++", "https://",
];
const AFTER: [&str; 34] = [
    "",
    "`",
    "``",
    "\"",
    "'",
    "”",
    "“",
    "’",
    "»",
    "›",
    ">",
    ")",
    "]",
    "}",
    "*",
    "**",
    ",",
    ";",
    ":",
    ".",
    "…",
    "|",
    " ===",
    "===",
    "</path>",
    "</file>",
    "</b>",
    "*/",
    "](src/new.js)",
    "](new.js)",
    " (new)",
    "(new)",
    " # created",
    " — created",
];

#[test]
fn no_character_around_a_name_becomes_part_of_it() {
    let mut made = 0;
    for name in BEFORE.iter().flat_map(|before| AFTER.map(|after| format!("{before}src/new.js{after}"))) {
        let replies = [
            format!("{name}\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n"),
            format!("```js\n{name}\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n```\n"),
            format!("<file path=\"{name}\">\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n"),
            format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\n"),
            format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+x\n"),
            format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n"),
        ];
        for reply in replies {
            let read = read_in(&reply, Strictness::Repair, Dialect::Agentd);
            for item in &read.items {
                let Item::Block(block) = item else { continue };
                let Block::CreateFile { path, .. } = &block.value else { panic!("{reply}") };
                assert_eq!(path, "src/new.js", "{reply}");
                made += 1;
            }
        }
    }
    assert!(made > 100, "{made}");
}
