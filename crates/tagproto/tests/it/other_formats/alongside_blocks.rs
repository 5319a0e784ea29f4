//! Edits in other formats alongside blocks are errors, one for each edit.

use proptest::prelude::*;
use tagproto::{Dialect, Item, ParseErrorKind, Strictness, read_in};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Hunk,
    Diff,
    Patch,
    Read,
    /// A file whose text has edits.
    Create,
    /// A command without a blank line before it.
    Run,
    /// An edit in thinking.
    Thinking,
    Prose,
}

impl Piece {
    fn is_edit(self) -> bool {
        matches!(self, Piece::Hunk | Piece::Diff | Piece::Patch)
    }

    fn is_block(self) -> bool {
        matches!(self, Piece::Read | Piece::Create | Piece::Run)
    }

    /// Returns the text of the piece with a number: equal texts could be a repeated paste, and hunks of one file a single edit.
    fn text(self, number: usize) -> String {
        match self {
            Piece::Hunk => {
                format!(
                    "\nsrc/f{number}.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n"
                )
            }
            Piece::Diff => {
                format!(
                    "\n--- a/src/f{number}.py\n+++ b/src/f{number}.py\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"
                )
            }
            Piece::Patch => format!(
                "\n*** Begin Patch\n*** Update File: src/f{number}.py\n@@\n-one\n+ONE\n*** End Patch\n"
            ),
            Piece::Read => format!("\n[READ_FILE path=\"f{number}\"]\n"),
            Piece::Create => format!(
                "\n[CREATE_FILE path=\"f{number}.md\"]\n{}{}{}[/CREATE_FILE]\n",
                Piece::Hunk.text(number),
                Piece::Diff.text(number),
                "*** Begin Patch\n"
            ),
            Piece::Run => format!("[RUN_COMMAND]\nmake f{number}\n[/RUN_COMMAND]\n"),
            Piece::Thinking => format!("\n<think>\n{}</think>\n", Piece::Diff.text(number)),
            Piece::Prose => format!("\nThen I change number {number}:\n"),
        }
    }
}

fn piece() -> impl Strategy<Value = Piece> {
    prop::sample::select(vec![
        Piece::Hunk,
        Piece::Diff,
        Piece::Patch,
        Piece::Read,
        Piece::Create,
        Piece::Run,
        Piece::Thinking,
        Piece::Prose,
    ])
}

/// Returns the edits and blocks of a reply of these pieces, as read; `true` for a block or an edit that is carried out.
fn read(pieces: &[Piece]) -> Vec<(String, bool)> {
    let text: String = pieces.iter().enumerate().map(|(number, piece)| piece.text(number)).collect();
    let reply = read_in(&text, Strictness::Repair, Dialect::Agentd);
    assert_eq!(reply.refused, None, "{text}");
    let items = reply.items.into_iter().map(|item| match item {
        Item::Block(block) => {
            (format!("{} {}", block.value.kind(), block.value.path().unwrap_or_default()), true)
        }
        Item::Error(error) => match error.kind {
            ParseErrorKind::AlongsideBlocks { path } => {
                (format!("{} {}", error.command, path.unwrap_or_default()), false)
            }
            other => panic!("{other}\n{text}"),
        },
    });
    items.collect()
}

proptest! {
    #[test]
    fn every_edit_is_carried_out_or_is_a_separate_error(pieces in prop::collection::vec(piece(), 0..9)) {
        let has_blocks = pieces.iter().any(|piece| piece.is_block());
        let expected = pieces.iter().enumerate().filter_map(|(number, piece)| match piece {
            piece if piece.is_edit() => Some((format!("EDIT_FILE src/f{number}.py"), !has_blocks)),
            Piece::Read => Some((format!("READ_FILE f{number}"), true)),
            Piece::Create => Some((format!("CREATE_FILE f{number}.md"), true)),
            Piece::Run => Some(("RUN_COMMAND ".to_owned(), true)),
            _ => None,
        });
        prop_assert_eq!(read(&pieces), expected.collect::<Vec<_>>());
    }
}
