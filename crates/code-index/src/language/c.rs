//! C, and the parts that C++ shares with it.

use tree_sitter::Node;

use super::{Grammar, children, field, text_of, unquoted};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

pub(super) struct C;

impl Grammar for C {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_c::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        definition(node, text, scopes)
    }

    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        include(node, text, imports);
    }
}

pub(super) fn definition<'t>(
    node: Node<'t>,
    text: &'t [u8],
    scopes: &EnclosingScopes<'_, 't>,
) -> Option<DefinitionNode<'t>> {
    let named =
        |kind, scope| Some(DefinitionNode::new(kind, field(node, "name", text)?, node).holding(scope));
    let with_body = |kind, scope| named(kind, scope).filter(|definition| definition.body.is_some());
    match node.kind() {
        "function_definition" => {
            let (name, container) = declared_name(node.child_by_field_name("declarator")?, text)?;
            let kind = if container.is_some() || scopes.is_in_type() { "method" } else { "function" };
            Some(DefinitionNode::new(kind, name, node).holding(Scope::Function).in_container(container))
        }
        "struct_specifier" => with_body("struct", Scope::Type),
        "union_specifier" => with_body("union", Scope::Type),
        "enum_specifier" => with_body("enum", Scope::Leaf),
        "enumerator" => named("constant", Scope::Leaf),
        "preproc_def" | "preproc_function_def" => {
            let value = node.child_by_field_name("value");
            Some(DefinitionNode { body: value, ..named("macro", Scope::Leaf)? })
        }
        "type_definition" => {
            let (name, _) = declared_name(node.child_by_field_name("declarator")?, text)?;
            let shape = node.child_by_field_name("type").and_then(|shape| shape.child_by_field_name("body"));
            Some(DefinitionNode { body: shape, ..DefinitionNode::new("type", name, node) })
        }
        // Declarations in a function are local. C++ reports the fields of a type itself.
        "declaration" if !scopes.is_in_function() => {
            let declarator = node.child_by_field_name("declarator")?;
            let (name, container) = declared_name(declarator, text)?;
            let is_function = is_function(declarator);
            let kind = match (is_function, scopes.is_in_type()) {
                (true, true) => "method",
                (true, false) => "function",
                (false, _) => "variable",
            };
            let value = declarator.child_by_field_name("value");
            Some(DefinitionNode {
                body: value,
                ..DefinitionNode::new(kind, name, node).in_container(container)
            })
        }
        _ => None,
    }
}

/// Returns the name in a declarator and its qualifier: `*Store::open(int)` is `open` of `Store`.
pub(super) fn declared_name(declarator: Node<'_>, text: &[u8]) -> Option<(String, Option<String>)> {
    let mut node = declarator;
    let mut container: Option<String> = None;
    for _ in 0..64 {
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "destructor_name" | "operator_name"
            | "operator_cast" | "primitive_type" => {
                return Some((text_of(node, text), container));
            }
            "qualified_identifier" => {
                let scope = field(node, "scope", text)
                    .map(|scope| scope.split('<').next().unwrap_or_default().to_owned());
                container = match (container, scope) {
                    (Some(outer), Some(scope)) => Some(format!("{outer}::{scope}")),
                    (outer, scope) => outer.or(scope),
                };
                node = node.child_by_field_name("name")?;
            }
            "template_function" | "template_type" => node = node.child_by_field_name("name")?,
            _ => {
                let inner = node.child_by_field_name("declarator").or_else(|| {
                    children(node).into_iter().find(|child| {
                        child.kind().ends_with("declarator") || child.kind().ends_with("identifier")
                    })
                });
                node = inner?;
            }
        }
    }
    None
}

/// Returns true if a declarator declares a function.
pub(super) fn is_function(declarator: Node<'_>) -> bool {
    let mut node = declarator;
    for _ in 0..64 {
        match node.kind() {
            // `(*name)(…)` is a variable that points to a function.
            "function_declarator" => {
                return node
                    .child_by_field_name("declarator")
                    .is_some_and(|inner| inner.kind() != "parenthesized_declarator");
            }
            "pointer_declarator" | "reference_declarator" => {
                let inner =
                    node.child_by_field_name("declarator").or_else(|| children(node).into_iter().last());
                match inner {
                    Some(inner) => node = inner,
                    None => return false,
                }
            }
            _ => return false,
        }
    }
    false
}

/// Appends an include. The target is `local name` for `"name"` and `system name` for `<name>`.
pub(super) fn include(node: Node<'_>, text: &[u8], imports: &mut Vec<ImportNode>) {
    if node.kind() != "preproc_include" {
        return;
    }
    let Some(path) = node.child_by_field_name("path") else { return };
    let prefix = match path.kind() {
        "string_literal" => "local",
        "system_lib_string" => "system",
        _ => return,
    };
    let name = unquoted(path, text);
    let target = format!("{prefix} {name}");
    imports.push(ImportNode { kind: "include", target, spelled: text_of(path, text) });
}
