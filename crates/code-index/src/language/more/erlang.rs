//! Erlang.

use tree_sitter::Node;

use super::{Grammar, field, text_of, unquoted};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

pub(in crate::language) struct Erlang;

impl Grammar for Erlang {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_erlang::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        match node.kind() {
            "module_attribute" => Some(DefinitionNode::new("module", atom(node, "name", text)?, node)),
            // Each clause of a function is listed: they may be far apart.
            "fun_decl" => {
                let clause = node.child_by_field_name("clause")?;
                let function = DefinitionNode::new("function", atom(clause, "name", text)?, node);
                Some(DefinitionNode {
                    body: clause.child_by_field_name("body"),
                    ..function.holding(Scope::Function)
                })
            }
            "pp_define" => {
                let name = node.child_by_field_name("lhs").and_then(|lhs| atom(lhs, "name", text))?;
                let value = node.child_by_field_name("replacement");
                Some(DefinitionNode { body: value, ..DefinitionNode::new("macro", name, node) })
            }
            "record_decl" => {
                Some(DefinitionNode::new("record", atom(node, "name", text)?, node).holding(Scope::Type))
            }
            "record_field" if scopes.parent().is_some_and(|parent| parent.kind() == "record_decl") => {
                Some(DefinitionNode::new("field", atom(node, "name", text)?, node))
            }
            "type_alias" | "opaque" | "nominal" => {
                let name = node.child_by_field_name("name").and_then(|name| atom(name, "name", text))?;
                let shape = node.child_by_field_name("ty");
                Some(DefinitionNode { body: shape, ..DefinitionNode::new("type", name, node) })
            }
            "callback" => Some(DefinitionNode::new("callback", atom(node, "fun", text)?, node)),
            _ => None,
        }
    }

    /// The target is `module name`, `header path`, or `library path` for a header of an application.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        let (kind, prefix, name) = match node.kind() {
            "pp_include" => ("include", "header", node.child_by_field_name("file")),
            "pp_include_lib" => ("include", "library", node.child_by_field_name("file")),
            "behaviour_attribute" => ("import", "module", node.child_by_field_name("name")),
            "import_attribute" => ("import", "module", node.child_by_field_name("module")),
            _ => return,
        };
        if let Some(name) = name.map(|name| unquoted(name, text)) {
            imports.push(ImportNode { kind, target: format!("{prefix} {name}"), spelled: name });
        }
    }
}

/// Returns the atom or variable in a field, without quotes.
fn atom(node: Node<'_>, name: &str, text: &[u8]) -> Option<String> {
    let name = node.child_by_field_name(name)?;
    match name.kind() {
        "atom" => Some(unquoted(name, text)),
        "var" => Some(text_of(name, text)),
        _ => field(name, "name", text),
    }
}
