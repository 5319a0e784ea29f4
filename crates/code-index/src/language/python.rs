//! Python.

use tree_sitter::Node;

use super::{Grammar, children, field, text_of};
use crate::outline::{Found, FoundImport, Place, Scope};

pub(super) struct Python;

impl Grammar for Python {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_python::LANGUAGE.into()
    }

    fn definition<'t>(&self, node: Node<'t>, text: &'t [u8], place: &Place<'_, 't>) -> Option<Found<'t>> {
        match node.kind() {
            "function_definition" => {
                let kind = if place.is_in_type() { "method" } else { "function" };
                Some(Found::new(kind, field(node, "name", text)?, node).holding(Scope::Function))
            }
            "class_definition" => {
                Some(Found::new("class", field(node, "name", text)?, node).holding(Scope::Type))
            }
            "assignment" if !place.is_in_function() => {
                let left = node.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
                let name = text_of(left, text);
                let is_constant =
                    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
                let kind = match (place.is_in_type(), is_constant) {
                    (true, _) => "attribute",
                    (false, true) => "constant",
                    (false, false) => "variable",
                };
                Some(Found::new(kind, name, node))
            }
            "type_alias_statement" => Some(Found::new("type", field(node, "left", text)?, node)),
            _ => None,
        }
    }

    /// Targets are `package.module`, and `package.module:name` for a name out of it; a leading dot is one step up.
    fn imports(&self, node: Node<'_>, text: &[u8], _: &Place<'_, '_>, found: &mut Vec<FoundImport>) {
        let mut add = |target: String, spelled: String| {
            found.push(FoundImport { kind: "import", target, spelled });
        };
        match node.kind() {
            "import_statement" => {
                for child in children(node) {
                    let name = match child.kind() {
                        "aliased_import" => field(child, "name", text),
                        "dotted_name" => Some(text_of(child, text)),
                        _ => None,
                    };
                    if let Some(name) = name.map(|name| squeeze(&name)) {
                        add(name.clone(), format!("import {name}"));
                    }
                }
            }
            "import_from_statement" => {
                let Some(module) = node.child_by_field_name("module_name") else { return };
                let from = squeeze(&text_of(module, text));
                let mut names = Vec::new();
                for child in children(node).into_iter().filter(|child| child.id() != module.id()) {
                    match child.kind() {
                        "dotted_name" => names.push(squeeze(&text_of(child, text))),
                        "aliased_import" => names.extend(field(child, "name", text)),
                        "wildcard_import" => names.push("*".to_owned()),
                        _ => {}
                    }
                }
                for name in names {
                    add(format!("{from}:{name}"), format!("from {from} import {name}"));
                }
            }
            _ => {}
        }
    }
}

fn squeeze(name: &str) -> String {
    name.chars().filter(|character| !character.is_whitespace() && *character != '\\').collect()
}
