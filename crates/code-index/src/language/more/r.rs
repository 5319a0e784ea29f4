//! R.

use tree_sitter::Node;

use super::{Grammar, field, is_constant_name, plain_string, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

pub(in crate::language) struct R;

impl Grammar for R {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_r::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        match node.kind() {
            "binary_operator" => assigned(node, text, scopes),
            "call" => created(node, text),
            // The members of a class: `public = list(name = value)`.
            "argument" if scopes.is_in_type() => {
                scopes.grandparent().filter(|list| called(*list, text) == Some(b"list"))?;
                let name = field(node, "name", text)?;
                let value = node.child_by_field_name("value");
                let function = value.filter(|value| value.kind() == "function_definition");
                let kind = if function.is_some() { "method" } else { "field" };
                let body = function.and_then(|function| function.child_by_field_name("body"));
                let member = DefinitionNode::new(kind, trimmed(&name), node);
                // The scope of a function, because a list within a field is a value.
                Some(DefinitionNode { body: body.or(value), ..member.holding(Scope::Function) })
            }
            // The variables of a function without a name are local to it.
            "function_definition" if !scopes.is_in_function() => {
                let inner = DefinitionNode::new("function", "(anonymous)".to_owned(), node);
                Some(DefinitionNode { kind: None, ..inner.holding(Scope::Function) })
            }
            _ => None,
        }
    }

    /// The target is `own path`.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        if !matches!(called(node, text), Some(b"source" | b"sys.source")) {
            return;
        }
        if let Some(path) = argument(node, 0).and_then(|argument| plain_string(argument, text)) {
            imports.push(ImportNode { kind: "include", target: format!("own {path}"), spelled: path });
        }
    }
}

/// Returns the function or variable that `name <- value`, `name = value` or `value -> name` defines.
fn assigned<'t>(node: Node<'t>, text: &[u8], scopes: &EnclosingScopes<'_, '_>) -> Option<DefinitionNode<'t>> {
    let (name, value) = match node.child_by_field_name("operator")?.kind() {
        "<-" | "<<-" | "=" | ":=" => ("lhs", "rhs"),
        "->" | "->>" => ("rhs", "lhs"),
        _ => return None,
    };
    let (name, value) = (node.child_by_field_name(name)?, node.child_by_field_name(value)?);
    let name = match name.kind() {
        "identifier" => trimmed(&text_of(name, text)),
        "string" => plain_string(name, text)?,
        _ => return None,
    };
    if value.kind() == "function_definition" {
        let function = DefinitionNode::new("function", name, node).holding(Scope::Function);
        return Some(DefinitionNode { body: value.child_by_field_name("body"), ..function });
    }
    // A class creates its definition itself.
    if scopes.is_in_function() || created(value, text).is_some() {
        return None;
    }
    let kind = if is_constant_name(&name) { "constant" } else { "variable" };
    Some(DefinitionNode { body: Some(value), ..DefinitionNode::new(kind, name, node) })
}

/// Returns the class, generic function or method that a call creates.
fn created<'t>(node: Node<'t>, text: &[u8]) -> Option<DefinitionNode<'t>> {
    let (kind, scope) = match called(node, text)? {
        b"setClass" => ("class", Scope::Leaf),
        b"setRefClass" | b"R6Class" => ("class", Scope::Type),
        b"setGeneric" => ("function", Scope::Function),
        b"setMethod" => ("method", Scope::Function),
        _ => return None,
    };
    let name = plain_string(argument(node, 0)?, text)?;
    let container = (kind == "method").then(|| signature(node, text)).flatten();
    Some(DefinitionNode::new(kind, name, node).holding(scope).in_container(container))
}

/// Returns the first class in the signature of a method: `"Money"` or `signature(x = "Money")`.
fn signature(node: Node<'_>, text: &[u8]) -> Option<String> {
    let classes = argument(node, 1)?;
    plain_string(classes, text).or_else(|| plain_string(argument(classes, 0)?, text))
}

/// Returns the name of the called function, without its package.
fn called<'x>(node: Node<'_>, text: &'x [u8]) -> Option<&'x [u8]> {
    if node.kind() != "call" {
        return None;
    }
    let function = node.child_by_field_name("function")?;
    let name = match function.kind() {
        "namespace_operator" => function.child_by_field_name("rhs")?,
        _ => function,
    };
    Some(&text[name.byte_range()])
}

/// Returns the value of an argument of a call.
fn argument(node: Node<'_>, index: usize) -> Option<Node<'_>> {
    let arguments = node.child_by_field_name("arguments")?;
    let mut cursor = arguments.walk();
    let mut values = arguments.children_by_field_name("argument", &mut cursor);
    values.nth(index)?.child_by_field_name("value")
}

/// Returns a name without the backticks around it.
fn trimmed(name: &str) -> String {
    name.trim_matches('`').to_owned()
}
