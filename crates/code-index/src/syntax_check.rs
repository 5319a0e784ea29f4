//! Finds the first syntax error that a change of a file introduced.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tree_sitter::{Node, Tree};
use wap_core::{CancelFlag, SyntaxCheck, SyntaxError};

use crate::language::Language;
use crate::outline::syntax::Parsers;

/// The longest text that is parsed, in bytes.
const LONGEST_TEXT: usize = 1 << 20;

/// The time for parsing each of the two texts.
const PARSING_TIME: Duration = Duration::from_millis(250);

/// A check with the grammars of the index; see [`Language`] for the languages. PowerShell and Zig are not checked: their grammars
/// report errors in valid files.
///
/// # Example
///
/// ```
/// use code_index::TreeSyntaxCheck;
/// use wap_core::SyntaxCheck;
///
/// let check = TreeSyntaxCheck::default();
/// let error = check.first_new_error("a.rs", "fn a() {}\n", "fn a() {}\nfn b( {}\n").unwrap();
/// assert_eq!((error.line, error.language), (2, "rust"));
/// ```
#[derive(Default)]
pub struct TreeSyntaxCheck {
    parsers: Mutex<Parsers>,
}

impl fmt::Debug for TreeSyntaxCheck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TreeSyntaxCheck").finish_non_exhaustive()
    }
}

impl SyntaxCheck for TreeSyntaxCheck {
    fn first_new_error(&self, path: &str, before: &str, after: &str) -> Option<SyntaxError> {
        if before.len().max(after.len()) > LONGEST_TEXT || before == after {
            return None;
        }
        let language = Language::of_text(path, after.as_bytes()).filter(|one| one.grammar().is_exact())?;
        let mut parsers = self.parsers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parse = |text: &str| -> Option<Tree> {
            parsers.parse(language, text.as_bytes(), PARSING_TIME, &CancelFlag::new())
        };
        let tree = parse(after).filter(|tree| tree.root_node().has_error())?;
        parse(before).filter(|tree| !tree.root_node().has_error())?;
        let changed_from = first_difference(before, after);
        let offset = error_offset(&tree, changed_from).min(after.len());
        let (line, column) = position(after, after.floor_char_boundary(offset));
        Some(SyntaxError { line, column, language: language.name() })
    }
}

/// Returns the offset of the first byte that differs.
fn first_difference(before: &str, after: &str) -> usize {
    before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count()
}

/// Returns the offset of the first error that begins in or after the changed part, or the start of that part: the text before it
/// had no errors, even if the parser rejects a whole function that begins there.
fn error_offset(tree: &Tree, changed_from: usize) -> usize {
    let mut first = None;
    let mut cursor = tree.walk();
    // Visit nodes in the order of the text, and only those that contain an error.
    loop {
        let node = cursor.node();
        if is_error(node) && node.start_byte() >= changed_from {
            first = Some(node.start_byte());
            break;
        }
        if is_error(node) && node.end_byte() > changed_from {
            // The parser rejected a range around the whole change.
            break;
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return changed_from;
            }
        }
    }
    first.unwrap_or(changed_from)
}

fn is_error(node: Node<'_>) -> bool {
    node.is_error() || node.is_missing()
}

/// Returns the line and the column of an offset, 1-based.
fn position(text: &str, offset: usize) -> (u64, u64) {
    let above = &text[..offset];
    let line_start = above.rfind('\n').map_or(0, |feed| feed + 1);
    let line = above.bytes().filter(|byte| *byte == b'\n').count() + 1;
    (line as u64, above[line_start..].chars().count() as u64 + 1)
}
