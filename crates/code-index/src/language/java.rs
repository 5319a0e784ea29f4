//! Java.

use tree_sitter::Node;

use super::{Grammar, children, field, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

pub(super) struct Java;

impl Grammar for Java {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_java::LANGUAGE.into()
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
            "interface_declaration" => named("interface", Scope::Type),
            "enum_declaration" => named("enum", Scope::Type),
            "record_declaration" => named("record", Scope::Type),
            "annotation_type_declaration" => named("annotation", Scope::Type),
            "method_declaration" | "annotation_type_element_declaration" => named("method", Scope::Function),
            "constructor_declaration" | "compact_constructor_declaration" => {
                named("constructor", Scope::Function)
            }
            // A component of a record is a field of it.
            "formal_parameter"
                if scopes.grandparent().is_some_and(|node| node.kind() == "record_declaration") =>
            {
                named("field", Scope::Leaf)
            }
            "enum_constant" => named("constant", Scope::Leaf),
            "variable_declarator" if scopes.is_in_type() => {
                let declaration = scopes.parent()?;
                let kind = match declaration.kind() {
                    "field_declaration" => "field",
                    "constant_declaration" => "constant",
                    _ => return None,
                };
                let value = node.child_by_field_name("value");
                Some(DefinitionNode {
                    start: declaration,
                    body: value,
                    ..DefinitionNode::new(kind, field(node, "name", text)?, node)
                })
            }
            _ => None,
        }
    }

    /// The target is `a.b.C`, `a.b.*`, or `static a.b.C.member`.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        if node.kind() != "import_declaration" {
            return;
        }
        let words = text_of(node, text);
        let words = words.trim_end_matches(';').trim_start_matches("import").trim();
        let (prefix, path) = match words.strip_prefix("static ") {
            Some(path) => ("static ", path),
            None => ("", words),
        };
        let path: String = path.chars().filter(|character| !character.is_whitespace()).collect();
        let target = format!("{prefix}{path}");
        imports.push(ImportNode { kind: "import", spelled: target.clone(), target });
    }

    fn declared(&self, node: Node<'_>, text: &[u8], _: &EnclosingScopes<'_, '_>) -> Option<String> {
        let is_package = node.kind() == "package_declaration";
        let name = |node| children(node).into_iter().find(|child| child.kind().ends_with("identifier"));
        is_package.then(|| name(node).map(|name| text_of(name, text)))?
    }
}
