//! Zig.

use tree_sitter::Node;

use super::{Grammar, child, field, plain_string, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

pub(in crate::language) struct Zig;

impl Grammar for Zig {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_zig::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        match node.kind() {
            "function_declaration" => {
                let kind = if scopes.is_in_type() { "method" } else { "function" };
                Some(DefinitionNode::new(kind, field(node, "name", text)?, node).holding(Scope::Function))
            }
            "variable_declaration" => variable(node, text, scopes),
            "container_field" => {
                let is_constant = scopes.parent().is_some_and(|parent| parent.kind() == "enum_declaration");
                let kind = if is_constant { "constant" } else { "field" };
                Some(DefinitionNode::new(kind, field(node, "name", text)?, node))
            }
            "identifier"
                if scopes.parent().is_some_and(|parent| parent.kind() == "error_set_declaration") =>
            {
                Some(DefinitionNode::new("constant", text_of(node, text), node))
            }
            // A type without a name belongs to the function that returns it.
            "struct_declaration" | "union_declaration" | "enum_declaration" if !scopes.is_in_type() => {
                let name = scopes.name()?.to_owned();
                let holding = DefinitionNode::new("struct", name, node).holding(Scope::Type);
                Some(DefinitionNode { kind: None, ..holding })
            }
            "test_declaration" => {
                let name = child(node, &["string", "identifier"]);
                let kind = name.map(|_| "test");
                let name = match name {
                    Some(name) if name.kind() == "string" => plain_string(name, text)?,
                    Some(name) => text_of(name, text),
                    None => "test".to_owned(),
                };
                let test = DefinitionNode::new("test", name, node).holding(Scope::Function);
                Some(DefinitionNode { kind, body: child(node, &["block"]), ..test })
            }
            "comptime_declaration" => {
                let block = DefinitionNode::new("function", "comptime".to_owned(), node);
                Some(DefinitionNode { kind: None, ..block.holding(Scope::Function) })
            }
            _ => None,
        }
    }

    // The language still changes: the parser reports errors in some files for the newest compiler.
    fn is_exact(&self) -> bool {
        false
    }

    /// The target is the path of a file.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        let Some((kind, path)) = imported(node, text) else { return };
        // Any other name is a package of the build.
        if kind == "include" || path.ends_with(".zig") || path.ends_with(".zon") {
            imports.push(ImportNode { kind, target: path.clone(), spelled: path });
        }
    }
}

/// Returns what `const` or `var` declares: a type, a value, or nothing for another module.
fn variable<'t>(node: Node<'t>, text: &[u8], scopes: &EnclosingScopes<'_, '_>) -> Option<DefinitionNode<'t>> {
    let name = node.named_child(0).filter(|name| name.kind() == "identifier")?;
    let value = node.named_child_count().checked_sub(1).and_then(|last| node.named_child(last as u32))?;
    let (kind, scope) = match value.kind() {
        "struct_declaration" | "opaque_declaration" => ("struct", Scope::Type),
        "union_declaration" => ("union", Scope::Type),
        "enum_declaration" | "error_set_declaration" => ("enum", Scope::Type),
        _ if scopes.scope() == Some(Scope::Function) => return None,
        _ => {
            // `_ = value` is not a declaration.
            let words = &text[node.start_byte()..name.start_byte()];
            let is = |word: &[u8]| words.split(u8::is_ascii_whitespace).any(|one| one == word);
            match (is(b"const"), is(b"var")) {
                (true, _) => ("constant", Scope::Leaf),
                (false, true) => ("variable", Scope::Leaf),
                (false, false) => return None,
            }
        }
    };
    let mut inner = value;
    while inner.kind() == "field_expression" {
        inner = inner.child_by_field_name("object")?;
    }
    if imported(inner, text).is_some()
        || &text[inner.byte_range().start..][..8.min(inner.byte_range().len())] == b"@cImport"
    {
        return None;
    }
    let definition = DefinitionNode::new(kind, text_of(name, text), node).holding(scope);
    Some(DefinitionNode { body: Some(value).filter(|value| value.id() != name.id()), ..definition })
}

/// Returns the kind and the text of `@import("text")` or `@embedFile("text")`.
fn imported(node: Node<'_>, text: &[u8]) -> Option<(&'static str, String)> {
    if node.kind() != "builtin_function" {
        return None;
    }
    let kind = match &text[node.named_child(0)?.byte_range()] {
        b"@import" => "import",
        b"@embedFile" => "include",
        _ => return None,
    };
    Some((kind, plain_string(node.named_child(1)?.named_child(0)?, text)?))
}
