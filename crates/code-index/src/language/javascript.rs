//! JavaScript and TypeScript.

use tree_sitter::Node;

use super::{Grammar, children, field, text_of, unquoted};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

pub(super) enum Dialect {
    JavaScript,
    TypeScript,
    Tsx,
}

impl Grammar for Dialect {
    fn parser(&self) -> tree_sitter::Language {
        match self {
            Dialect::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Dialect::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Dialect::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        }
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        let named = |kind, scope| Some(DefinitionNode::new(kind, name(node, text)?, node).holding(scope));
        match node.kind() {
            "function_declaration" | "generator_function_declaration" | "function_signature" => {
                named("function", Scope::Function)
            }
            "class_declaration" | "abstract_class_declaration" => named("class", Scope::Type),
            "interface_declaration" => named("interface", Scope::Type),
            "type_alias_declaration" => named("type", Scope::Leaf),
            "enum_declaration" => named("enum", Scope::Leaf),
            "internal_module" | "module" => named("namespace", Scope::Namespace),
            "method_definition" | "method_signature" | "abstract_method_signature" if scopes.is_in_type() => {
                named("method", Scope::Function)
            }
            "public_field_definition" | "field_definition" if scopes.is_in_type() => {
                let field_name = name(node, text).or_else(|| field(node, "property", text))?;
                let kind = if is_function(node) { "method" } else { "property" };
                Some(DefinitionNode { name: field_name, ..DefinitionNode::new(kind, String::new(), node) })
            }
            "variable_declarator" if !scopes.is_in_function() && !scopes.is_in_type() => {
                let name = node.child_by_field_name("name").filter(|name| name.kind() == "identifier")?;
                let declaration = scopes.parent()?;
                let is_constant = text[declaration.byte_range()].starts_with(b"const");
                let (kind, scope) = match (is_function(node), is_constant) {
                    (true, _) => ("function", Scope::Function),
                    (false, true) => ("constant", Scope::Leaf),
                    (false, false) => ("variable", Scope::Leaf),
                };
                // A declaration of one name starts at its keyword.
                let is_alone = declaration.named_child_count() == 1;
                let start = if is_alone { declaration } else { node };
                let value = node.child_by_field_name("value");
                let body = if is_function(node) {
                    value.and_then(|value| value.child_by_field_name("body"))
                } else {
                    value
                };
                Some(DefinitionNode {
                    start,
                    body,
                    ..DefinitionNode::new(kind, text_of(name, text), node).holding(scope)
                })
            }
            // Declarations in a function expression are local to it.
            "arrow_function" | "function_expression" | "statement_block" if !scopes.is_in_function() => {
                let is_nested = scopes.parent().is_some_and(|parent| {
                    !matches!(parent.kind(), "program" | "variable_declarator" | "internal_module" | "module")
                });
                let inner =
                    DefinitionNode::new("function", "(anonymous)".to_owned(), node).holding(Scope::Function);
                is_nested.then_some(DefinitionNode { kind: None, ..inner })
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
        let source = match node.kind() {
            "import_statement" | "export_statement" | "import_require_clause" => {
                node.child_by_field_name("source")
            }
            "call_expression" => {
                let function = node.child_by_field_name("function");
                let called = function.filter(|function| {
                    function.kind() == "import"
                        || (function.kind() == "identifier" && &text[function.byte_range()] == b"require")
                });
                called.and_then(|_| node.child_by_field_name("arguments")?.named_child(0))
            }
            _ => None,
        };
        let Some(source) = source.filter(|source| source.kind() == "string") else { return };
        let target = unquoted(source, text);
        imports.push(ImportNode { kind: "import", spelled: target.clone(), target });
    }
}

fn name(node: Node<'_>, text: &[u8]) -> Option<String> {
    let name = node.child_by_field_name("name")?;
    Some(if name.kind() == "string" { unquoted(name, text) } else { text_of(name, text) })
}

fn is_function(node: Node<'_>) -> bool {
    let value = node.child_by_field_name("value");
    value.is_some_and(|value| {
        matches!(value.kind(), "arrow_function" | "function_expression" | "generator_function")
            || (value.kind() == "parenthesized_expression"
                && children(value).first().is_some_and(|inner| inner.kind() == "arrow_function"))
    })
}
