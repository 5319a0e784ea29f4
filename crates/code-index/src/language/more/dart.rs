//! Dart.

use tree_sitter::Node;

use super::{Grammar, child, children, field, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

/// The number of bytes that are searched for the modifiers of a declaration.
const MODIFIER_BYTES: usize = 64;

pub(in crate::language) struct Dart;

impl Grammar for Dart {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_dart::LANGUAGE.into()
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
            "class_declaration" => named("class", Scope::Type),
            "mixin_declaration" => named("mixin", Scope::Type),
            "extension_declaration" => named("extension", Scope::Type),
            "extension_type_declaration" => named("type", Scope::Type),
            "enum_declaration" => named("enum", Scope::Type),
            "enum_entry" => named("constant", Scope::Leaf),
            "type_alias" => {
                let name = child(node, &["type_identifier"])?;
                Some(DefinitionNode::new("type", text_of(name, text), node))
            }
            // Each of `int a, b = 1` is a separate child.
            "initialized_identifier" | "static_final_declaration" => {
                let declaration = scopes.grandparent().filter(|node| node.kind().ends_with("declaration"))?;
                let start = declaration.start_byte();
                // The modifiers come first. They are scanned for every name of a long list, so bound them.
                let words = &text[start..scopes.parent()?.start_byte().min(start + MODIFIER_BYTES)];
                let has = |word: &[u8]| words.split(u8::is_ascii_whitespace).any(|one| one == word);
                let kind = match (scopes.is_in_type(), has(b"const") || has(b"final")) {
                    (true, _) => "field",
                    (false, true) => "constant",
                    (false, false) => "variable",
                };
                let value = node.child_by_field_name("value");
                Some(DefinitionNode { start: declaration, body: value, ..named(kind, Scope::Leaf)? })
            }
            kind if kind.ends_with("_declaration") || kind == "declaration" => callable(node, text, scopes),
            _ => None,
        }
    }

    /// The target is the URI of a library or of a part.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        let kind = match node.kind() {
            "import_or_export" => "import",
            "part_directive" | "part_of_directive" => "module",
            _ => return,
        };
        // Take the first string: strings for other platforms may follow.
        let words = text_of(node, text);
        let mut parts = words.splitn(3, ['\'', '"']).skip(1);
        if let (Some(uri), Some(_)) = (parts.next(), parts.next()) {
            imports.push(ImportNode { kind, target: uri.to_owned(), spelled: uri.to_owned() });
        }
    }
}

/// Returns the function, method, accessor or constructor of a declaration.
fn callable<'t>(node: Node<'t>, text: &[u8], scopes: &EnclosingScopes<'_, '_>) -> Option<DefinitionNode<'t>> {
    let is_signature = |child: &Node<'_>| child.kind().ends_with("_signature");
    let mut signature = children(node).into_iter().find(is_signature)?;
    if signature.kind() == "method_signature" {
        signature = children(signature).into_iter().find(is_signature)?;
    }
    let (kind, name) = match signature.kind() {
        "function_signature" if scopes.is_in_type() => ("method", field(signature, "name", text)?),
        "function_signature" => ("function", field(signature, "name", text)?),
        "getter_signature" | "setter_signature" => ("property", field(signature, "name", text)?),
        "operator_signature" => ("method", field(signature, "operator", text)?),
        _ => {
            let mut cursor = signature.walk();
            let names = signature.children_by_field_name("name", &mut cursor);
            let names: Vec<String> =
                names.filter(Node::is_named).take(2).map(|name| text_of(name, text)).collect();
            ("constructor", Some(names.join(".")).filter(|name| !name.is_empty())?)
        }
    };
    let body = child(node, &["function_body"]);
    Some(DefinitionNode { body, ..DefinitionNode::new(kind, name, node).holding(Scope::Function) })
}
