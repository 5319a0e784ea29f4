//! The languages of the feature `more-languages`.

pub(super) mod bash;
pub(super) mod dart;
pub(super) mod elixir;
pub(super) mod erlang;
pub(super) mod lua;
pub(super) mod php;
pub(super) mod powershell;
pub(super) mod r;
pub(super) mod ruby;
pub(super) mod zig;

use tree_sitter::Node;

use super::{Grammar, children, field, text_of, unquoted};

/// Returns true for an upper-case name, which marks a constant in some languages. A single letter is an ordinary name, such as
/// that of a matrix or a module.
fn is_constant_name(name: &str) -> bool {
    name.len() > 1 && name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}

/// Returns the content of a string literal that consists of plain text: no interpolation, no escapes.
fn plain_string(node: Node<'_>, text: &[u8]) -> Option<String> {
    if !node.kind().contains("string") {
        return None;
    }
    let mut parts =
        children(node).into_iter().filter(|part| !matches!(part.kind(), "string_open" | "string_close"));
    let content = match parts.next() {
        // Some grammars have no node for the content.
        None => unquoted(node, text),
        Some(content) if content.kind().ends_with("content") && content.named_child_count() == 0 => {
            text_of(content, text)
        }
        Some(_) => return None,
    };
    parts.next().is_none().then_some(content)
}

/// Returns the first named child of one of these kinds.
fn child<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    children(node).into_iter().find(|child| kinds.contains(&child.kind()))
}
