//! Go.

use tree_sitter::Node;

use super::{Grammar, children, field, text_of, unquoted};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

pub(super) struct Go;

impl Grammar for Go {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_go::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        let named =
            |kind, scope| Some(DefinitionNode::new(kind, field(node, "name", text)?, node).holding(scope));
        match node.kind() {
            "function_declaration" => named("function", Scope::Function),
            "method_declaration" => {
                let receiver = node.child_by_field_name("receiver").map(|receiver| text_of(receiver, text));
                Some(
                    named("method", Scope::Function)?
                        .in_container(receiver.as_deref().and_then(receiver_type)),
                )
            }
            "method_elem" if scopes.is_in_type() => named("method", Scope::Leaf),
            "type_alias" => named("type", Scope::Leaf),
            "type_spec" => {
                let shape = node.child_by_field_name("type");
                let mut definition = named("type", Scope::Leaf)?;
                match shape.map(|shape| shape.kind()) {
                    Some("struct_type") => definition.kind = Some("struct"),
                    Some("interface_type") => {
                        (definition.kind, definition.scope) = (Some("interface"), Scope::Type)
                    }
                    _ => return Some(definition),
                }
                definition.body = shape.and_then(|shape| shape.child(1));
                Some(definition)
            }
            // Each name of `a, b = 1, 2` is a separate child.
            "identifier" if !scopes.is_in_function() => {
                let parent = scopes.parent()?;
                let kind = match parent.kind() {
                    "const_spec" => "constant",
                    "var_spec" => "variable",
                    _ => return None,
                };
                let is_name = scopes.field() == Some("name");
                let whole = DefinitionNode {
                    body: None,
                    start: parent,
                    ..DefinitionNode::new(kind, text_of(node, text), node)
                };
                is_name.then_some(whole)
            }
            _ => None,
        }
    }

    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        if node.kind() == "import_spec"
            && let Some(path) = node.child_by_field_name("path")
        {
            let target = unquoted(path, text);
            imports.push(ImportNode { kind: "import", spelled: target.clone(), target });
        }
    }

    fn declared(&self, node: Node<'_>, text: &[u8], _: &EnclosingScopes<'_, '_>) -> Option<String> {
        (node.kind() == "package_clause").then(|| children(node).first().map(|name| text_of(*name, text)))?
    }
}

/// Returns the type name in `(s *Store[T])`.
fn receiver_type(receiver: &str) -> Option<String> {
    let inner = receiver.trim_start_matches('(').trim_end_matches(')').split('[').next()?;
    let name = inner.split_whitespace().last()?.trim_start_matches('*');
    (!name.is_empty()).then(|| name.to_owned())
}
