//! C, and what C++ has of it.

use tree_sitter::Node;

use super::{Grammar, children, field, text_of, unquoted};
use crate::outline::{Found, FoundImport, Place, Scope};

pub(super) struct C;

impl Grammar for C {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_c::LANGUAGE.into()
    }

    fn definition<'t>(&self, node: Node<'t>, text: &'t [u8], place: &Place<'_, 't>) -> Option<Found<'t>> {
        definition(node, text, place)
    }

    fn imports(&self, node: Node<'_>, text: &[u8], _: &Place<'_, '_>, found: &mut Vec<FoundImport>) {
        include(node, text, found);
    }
}

pub(super) fn definition<'t>(node: Node<'t>, text: &'t [u8], place: &Place<'_, 't>) -> Option<Found<'t>> {
    let named = |kind, scope| Some(Found::new(kind, field(node, "name", text)?, node).holding(scope));
    let with_body = |kind, scope| named(kind, scope).filter(|found| found.body.is_some());
    match node.kind() {
        "function_definition" => {
            let (name, container) = declared_name(node.child_by_field_name("declarator")?, text)?;
            let kind = if container.is_some() || place.is_in_type() { "method" } else { "function" };
            Some(Found::new(kind, name, node).holding(Scope::Function).in_container(container))
        }
        "struct_specifier" => with_body("struct", Scope::Type),
        "union_specifier" => with_body("union", Scope::Type),
        "enum_specifier" => with_body("enum", Scope::Leaf),
        "enumerator" => named("constant", Scope::Leaf),
        "preproc_def" | "preproc_function_def" => {
            let value = node.child_by_field_name("value");
            Some(Found { body: value, ..named("macro", Scope::Leaf)? })
        }
        "type_definition" => {
            let (name, _) = declared_name(node.child_by_field_name("declarator")?, text)?;
            let shape = node.child_by_field_name("type").and_then(|shape| shape.child_by_field_name("body"));
            Some(Found { body: shape, ..Found::new("type", name, node) })
        }
        // What is declared in a function is nobody's business, and a type's fields are told by the type.
        "declaration" if !place.is_in_function() => {
            let declarator = node.child_by_field_name("declarator")?;
            let (name, container) = declared_name(declarator, text)?;
            let is_function = is_function(declarator);
            let kind = match (is_function, place.is_in_type()) {
                (true, true) => "method",
                (true, false) => "function",
                (false, _) => "variable",
            };
            let value = declarator.child_by_field_name("value");
            Some(Found { body: value, ..Found::new(kind, name, node).in_container(container) })
        }
        _ => None,
    }
}

/// The name in a declarator, and what it is qualified with: `*Store::open(int)` is `open` of `Store`.
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

/// Whether a declarator is that of a function.
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

/// Targets are `"name"` as `local name` and `<name>` as `system name`.
pub(super) fn include(node: Node<'_>, text: &[u8], found: &mut Vec<FoundImport>) {
    if node.kind() != "preproc_include" {
        return;
    }
    let Some(path) = node.child_by_field_name("path") else { return };
    let place = match path.kind() {
        "string_literal" => "local",
        "system_lib_string" => "system",
        _ => return,
    };
    let name = unquoted(path, text);
    let target = format!("{place} {name}");
    found.push(FoundImport { kind: "include", target, spelled: text_of(path, text) });
}
