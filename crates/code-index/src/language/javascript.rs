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
            "type_alias_declaration" => {
                let is_object =
                    node.child_by_field_name("value").is_some_and(|value| value.kind() == "object_type");
                named("type", if is_object { Scope::Type } else { Scope::Leaf })
            }
            "enum_declaration" => named("enum", Scope::Type),
            "enum_assignment" => named("constant", Scope::Leaf),
            "property_identifier" | "string"
                if scopes.parent().is_some_and(|parent| parent.kind() == "enum_body") =>
            {
                let name = if node.kind() == "string" { unquoted(node, text) } else { text_of(node, text) };
                Some(DefinitionNode::new("constant", name, node))
            }
            // A property of an object within a type is not a property of the type.
            "property_signature" if declares_type(scopes.grandparent()) => named("property", Scope::Leaf),
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
                let value = node.child_by_field_name("value");
                let (kind, scope) = match (of_value(value), is_constant) {
                    (Some(kind), _) => kind,
                    (None, true) => ("constant", Scope::Leaf),
                    (None, false) => ("variable", Scope::Leaf),
                };
                // A declaration of one name starts at its keyword.
                let is_alone = declaration.named_child_count() == 1;
                let start = if is_alone { declaration } else { node };
                let body = value.and_then(|value| value.child_by_field_name("body")).or(value);
                Some(DefinitionNode {
                    start,
                    body,
                    ..DefinitionNode::new(kind, text_of(name, text), node).holding(scope)
                })
            }
            "assignment_expression" if scopes.scope().is_none() => {
                let name = exported_name(node.child_by_field_name("left")?, text)?;
                let value = node.child_by_field_name("right");
                // A value exported under its own name is declared elsewhere.
                if value.is_some_and(|value| text_of(value, text) == name) {
                    return None;
                }
                let (kind, scope) = of_value(value).unwrap_or(("variable", Scope::Leaf));
                let body = value.and_then(|value| value.child_by_field_name("body")).or(value);
                Some(DefinitionNode { body, ..DefinitionNode::new(kind, name, node).holding(scope) })
            }
            // The class of a declaration has the declared name.
            "class"
                if !scopes.is_in_function()
                    && !matches!(
                        scopes.parent()?.kind(),
                        "variable_declarator" | "assignment_expression"
                    ) =>
            {
                let name = name(node, text).unwrap_or_else(|| "(anonymous)".to_owned());
                Some(DefinitionNode {
                    kind: None,
                    ..DefinitionNode::new("class", name, node).holding(Scope::Type)
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

/// Returns true for a node that declares a type with members.
fn declares_type(node: Option<Node<'_>>) -> bool {
    node.is_some_and(|node| matches!(node.kind(), "interface_declaration" | "type_alias_declaration"))
}

/// Returns `foo` for `exports.foo` and `module.exports.foo`.
fn exported_name(left: Node<'_>, text: &[u8]) -> Option<String> {
    let object = left.child_by_field_name("object").filter(|_| left.kind() == "member_expression")?;
    let is_exports = matches!(&text[object.byte_range()], b"exports" | b"module.exports");
    is_exports.then(|| field(left, "property", text))?
}

/// Returns the kind and scope of a name whose value is a function or a class.
fn of_value(value: Option<Node<'_>>) -> Option<(&'static str, Scope)> {
    match value? {
        value if value.kind() == "class" => Some(("class", Scope::Type)),
        value => is_function_value(value).then_some(("function", Scope::Function)),
    }
}

fn is_function(node: Node<'_>) -> bool {
    node.child_by_field_name("value").is_some_and(is_function_value)
}

fn is_function_value(value: Node<'_>) -> bool {
    matches!(value.kind(), "arrow_function" | "function_expression" | "generator_function")
        || (value.kind() == "parenthesized_expression"
            && children(value).first().is_some_and(|inner| inner.kind() == "arrow_function"))
}
