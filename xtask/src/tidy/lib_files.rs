//! `lib.rs` is documentation, modules and exports.

use super::Finding;
use super::source_code::code_only;
use crate::Tree;

const CHECK: &str = "lib.rs";
const ALLOWED: [&str; 4] = ["mod ", "pub mod ", "pub(crate) mod ", "pub use "];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let libs = tree.sources().filter(|(path, _)| path.ends_with("/src/lib.rs"));
    libs.filter_map(|(path, text)| {
        let line = first_other_line(&code_only(text))?;
        Some(Finding::at(CHECK, path, line, "is for documentation, `mod` and `pub use` only"))
    })
    .collect()
}

/// The index of the first line with anything else than an attribute, a module or an export.
fn first_other_line(code: &str) -> Option<usize> {
    let code = without_attributes(code);
    let mut start = 0;
    for statement in code.split_inclusive(';') {
        let trimmed = statement.trim_start();
        let begins = start + statement.len() - trimmed.len();
        start += statement.len();
        let is_export = trimmed.starts_with("pub use ");
        let allowed = ALLOWED.iter().any(|word| trimmed.starts_with(word))
            && trimmed.ends_with(';')
            && (is_export || !trimmed.contains('{'));
        if !trimmed.is_empty() && !allowed {
            return Some(code[..begins].matches('\n').count());
        }
    }
    None
}

/// Blanks `#[…]` and `#![…]`; comments and texts are blank already.
fn without_attributes(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut depth = 0_usize;
    let mut characters = code.chars().peekable();
    while let Some(character) = characters.next() {
        let opens = depth == 0 && character == '#' && matches!(characters.peek(), Some('[' | '!'));
        match character {
            _ if opens => {
                // The mark and the bracket belong to the attribute; its end is where the brackets are even again.
                if characters.next_if_eq(&'!').is_some() {
                    out.push(' ');
                }
                characters.next();
                out.push_str("  ");
                depth = 1;
                continue;
            }
            '[' if depth > 0 => depth += 1,
            ']' if depth > 0 => depth -= 1,
            _ if depth == 0 => {
                out.push(character);
                continue;
            }
            _ => {}
        }
        out.push(if character == '\n' { '\n' } else { ' ' });
    }
    out
}
