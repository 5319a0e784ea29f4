//! Python.

use tree_sitter::Node;

use super::{Grammar, children, field, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, NAME_BYTES, Scope};

/// The most names of one import statement; the rest is ignored.
const MOST_NAMES: usize = 4096;

pub(super) struct Python;

impl Grammar for Python {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_python::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        match node.kind() {
            "function_definition" => {
                let kind = if scopes.is_in_type() { "method" } else { "function" };
                Some(DefinitionNode::new(kind, field(node, "name", text)?, node).holding(Scope::Function))
            }
            "class_definition" => {
                Some(DefinitionNode::new("class", field(node, "name", text)?, node).holding(Scope::Type))
            }
            "assignment" if !scopes.is_in_function() => {
                let left = node.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
                let name = text_of(left, text);
                let is_constant =
                    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
                let kind = match (scopes.is_in_type(), is_constant) {
                    (true, _) => "attribute",
                    (false, true) => "constant",
                    (false, false) => "variable",
                };
                Some(DefinitionNode::new(kind, name, node))
            }
            "type_alias_statement" => Some(DefinitionNode::new("type", field(node, "left", text)?, node)),
            _ => None,
        }
    }

    /// The target is `package.module`, or `package.module:name` for a name in it; leading dots are relative.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        let mut add = |target: String, spelled: String| {
            imports.push(ImportNode { kind: "import", target, spelled });
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
                // Every name repeats the module, so a long one would make the imports quadratic in the text.
                if from.len() > NAME_BYTES {
                    return;
                }
                let mut names = Vec::new();
                for child in children(node).into_iter().filter(|child| child.id() != module.id()) {
                    match child.kind() {
                        "dotted_name" => names.push(squeeze(&text_of(child, text))),
                        "aliased_import" => names.extend(field(child, "name", text)),
                        "wildcard_import" => names.push("*".to_owned()),
                        _ => {}
                    }
                }
                for name in names.into_iter().take(MOST_NAMES) {
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
