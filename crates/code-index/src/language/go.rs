//! Go.

use tree_sitter::Node;

use super::{Grammar, children, field, text_of, unquoted};
use crate::outline::{Found, FoundImport, Place, Scope};

pub(super) struct Go;

impl Grammar for Go {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_go::LANGUAGE.into()
    }

    fn definition<'t>(&self, node: Node<'t>, text: &'t [u8], place: &Place<'_, 't>) -> Option<Found<'t>> {
        let named = |kind, scope| Some(Found::new(kind, field(node, "name", text)?, node).holding(scope));
        match node.kind() {
            "function_declaration" => named("function", Scope::Function),
            "method_declaration" => {
                let receiver = node.child_by_field_name("receiver").map(|receiver| text_of(receiver, text));
                Some(
                    named("method", Scope::Function)?
                        .in_container(receiver.as_deref().and_then(receiver_type)),
                )
            }
            "method_elem" if place.is_in_type() => named("method", Scope::Leaf),
            "type_alias" => named("type", Scope::Leaf),
            "type_spec" => {
                let shape = node.child_by_field_name("type");
                let mut found = named("type", Scope::Leaf)?;
                match shape.map(|shape| shape.kind()) {
                    Some("struct_type") => found.kind = Some("struct"),
                    Some("interface_type") => (found.kind, found.scope) = (Some("interface"), Scope::Type),
                    _ => return Some(found),
                }
                found.body = shape.and_then(|shape| shape.child(1));
                Some(found)
            }
            // Each name of `a, b = 1, 2` is a child of its own.
            "identifier" if !place.is_in_function() => {
                let parent = place.parent()?;
                let kind = match parent.kind() {
                    "const_spec" => "constant",
                    "var_spec" => "variable",
                    _ => return None,
                };
                let is_name = place.field() == Some("name");
                let whole =
                    Found { body: None, start: parent, ..Found::new(kind, text_of(node, text), node) };
                is_name.then_some(whole)
            }
            _ => None,
        }
    }

    fn imports(&self, node: Node<'_>, text: &[u8], _: &Place<'_, '_>, found: &mut Vec<FoundImport>) {
        if node.kind() == "import_spec"
            && let Some(path) = node.child_by_field_name("path")
        {
            let target = unquoted(path, text);
            found.push(FoundImport { kind: "import", spelled: target.clone(), target });
        }
    }

    fn declared(&self, node: Node<'_>, text: &[u8], _: &Place<'_, '_>) -> Option<String> {
        (node.kind() == "package_clause").then(|| children(node).first().map(|name| text_of(*name, text)))?
    }
}

/// The type in `(s *Store[T])`.
fn receiver_type(receiver: &str) -> Option<String> {
    let inner = receiver.trim_start_matches('(').trim_end_matches(')').split('[').next()?;
    let name = inner.split_whitespace().last()?.trim_start_matches('*');
    (!name.is_empty()).then(|| name.to_owned())
}
