//! C++.

use tree_sitter::Node;

use super::{Grammar, c, field};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

pub(super) struct Cpp;

impl Grammar for Cpp {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_cpp::LANGUAGE.into()
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
            "class_specifier" => named("class", Scope::Type).filter(|definition| definition.body.is_some()),
            "namespace_definition" => named("namespace", Scope::Namespace),
            "alias_declaration" => named("type", Scope::Leaf),
            "concept_definition" => named("concept", Scope::Leaf),
            "field_declaration" => {
                let declarator = node.child_by_field_name("declarator")?;
                let (name, _) = c::declared_name(declarator, text)?;
                let kind = if c::is_function(declarator) { "method" } else { "field" };
                Some(DefinitionNode::new(kind, name, node))
            }
            _ => c::definition(node, text, scopes),
        }
    }

    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        c::include(node, text, imports);
    }
}
