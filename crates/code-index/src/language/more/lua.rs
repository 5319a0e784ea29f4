//! Lua.

use tree_sitter::Node;

use super::{Grammar, child, field, is_constant_name, plain_string, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

/// The most names of one assignment whose values are examined.
const MOST_VALUES: usize = 16;

pub(in crate::language) struct Lua;

impl Grammar for Lua {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_lua::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        match node.kind() {
            "function_declaration" => {
                let name = node.child_by_field_name("name")?;
                let kind = if name.kind() == "method_index_expression" { "method" } else { "function" };
                let (name, container) = split(name, text)?;
                Some(DefinitionNode::new(kind, name, node).holding(Scope::Function).in_container(container))
            }
            "assignment_statement" if !scopes.is_in_function() => {
                let list = child(node, &["variable_list"])?;
                let mut names =
                    list.children_by_field_name("name", &mut list.walk()).take(2).collect::<Vec<_>>();
                let name = names.pop().filter(|_| names.is_empty())?;
                let value = value_at(node, 0);
                assigned(name, value, node, text)
            }
            // Each name of `a, b = 1, 2` is a separate child.
            "identifier" | "dot_index_expression" if !scopes.is_in_function() => {
                let list = scopes.parent().filter(|parent| parent.kind() == "variable_list")?;
                let statement =
                    scopes.grandparent().filter(|parent| parent.kind() == "assignment_statement")?;
                let mut cursor = list.walk();
                // Comments count, too: skipping many of them for each name would be quadratic in the text.
                let first = list.named_children(&mut cursor).take(MOST_VALUES);
                let names: Vec<_> =
                    first.filter(|child| !matches!(child.kind(), "comment" | "attribute")).collect();
                if names.len() < 2 {
                    return None;
                }
                let index = names.iter().position(|name| name.id() == node.id());
                let value = index.and_then(|index| value_at(statement, index));
                let definition = assigned(node, value, node, text)?;
                Some(DefinitionNode { start: statement, scope: Scope::Leaf, ..definition })
            }
            "field" if !scopes.is_in_function() => {
                // Only fields of a table that is directly assigned or returned.
                scopes.grandparent().filter(|list| list.kind() == "expression_list")?;
                let name = node.child_by_field_name("name")?;
                let name =
                    if name.kind() == "string" { plain_string(name, text)? } else { text_of(name, text) };
                let value = node.child_by_field_name("value")?;
                match (value.kind(), scopes.is_in_type()) {
                    ("function_definition", _) => {
                        let body = value.child_by_field_name("body");
                        let function = DefinitionNode::new("function", name, node).holding(Scope::Function);
                        Some(DefinitionNode { body, ..function })
                    }
                    (_, true) => {
                        Some(DefinitionNode { body: Some(value), ..DefinitionNode::new("field", name, node) })
                    }
                    _ => None,
                }
            }
            // The variables of a function without a name are local to it.
            "function_definition" if !scopes.is_in_function() => {
                let inner = DefinitionNode::new("function", "(anonymous)".to_owned(), node);
                Some(DefinitionNode { kind: None, ..inner.holding(Scope::Function) })
            }
            _ => None,
        }
    }

    /// The target is `module name`, or `own path` for a file.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        let Some(called) = loads(node, text) else { return };
        let argument = node.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(0));
        let Some(path) = argument.and_then(|argument| plain_string(argument, text)) else { return };
        let (kind, prefix) = if called == b"require" { ("import", "module") } else { ("include", "own") };
        imports.push(ImportNode { kind, target: format!("{prefix} {path}"), spelled: path });
    }
}

/// Returns the definition of a name to which a value is assigned, unless the value is another module.
fn assigned<'t>(
    name: Node<'t>,
    value: Option<Node<'t>>,
    whole: Node<'t>,
    text: &[u8],
) -> Option<DefinitionNode<'t>> {
    if value.is_some_and(|value| loads(value, text).is_some()) {
        return None;
    }
    let (name, container) = split(name, text)?;
    let kind = match (&container, is_constant_name(&name)) {
        (_, true) => "constant",
        (Some(_), false) => "field",
        (None, false) => "variable",
    };
    let definition = match value.map(|value| value.kind()) {
        Some("function_definition") => {
            let body = value.and_then(|value| value.child_by_field_name("body"));
            DefinitionNode { body, ..DefinitionNode::new("function", name, whole).holding(Scope::Function) }
        }
        Some("table_constructor") => {
            DefinitionNode { body: value, ..DefinitionNode::new(kind, name, whole).holding(Scope::Type) }
        }
        _ => DefinitionNode { body: value, ..DefinitionNode::new(kind, name, whole) },
    };
    Some(definition.in_container(container))
}

/// Returns the last name of `a.b.c` or `a.b:c`, and the part before it.
fn split(name: Node<'_>, text: &[u8]) -> Option<(String, Option<String>)> {
    match name.kind() {
        "identifier" => Some((text_of(name, text), None)),
        "dot_index_expression" => Some((field(name, "field", text)?, field(name, "table", text))),
        "method_index_expression" => Some((field(name, "method", text)?, field(name, "table", text))),
        _ => None,
    }
}

/// Returns a value of an assignment.
fn value_at(statement: Node<'_>, index: usize) -> Option<Node<'_>> {
    let list = child(statement, &["expression_list"])?;
    list.named_child(u32::try_from(index).ok()?)
}

/// Returns the name of the function by which a call loads another file.
fn loads<'x>(node: Node<'_>, text: &'x [u8]) -> Option<&'x [u8]> {
    if node.kind() != "function_call" {
        return None;
    }
    let called = &text[node.child_by_field_name("name")?.byte_range()];
    matches!(called, b"require" | b"dofile" | b"loadfile").then_some(called)
}
