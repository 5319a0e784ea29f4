//! C#.

use tree_sitter::Node;

use super::{Grammar, field, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

pub(super) struct CSharp;

impl Grammar for CSharp {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_c_sharp::LANGUAGE.into()
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
            "namespace_declaration" => named("namespace", Scope::Namespace),
            "class_declaration" => named("class", Scope::Type),
            "interface_declaration" => named("interface", Scope::Type),
            "struct_declaration" => named("struct", Scope::Type),
            "record_declaration" => named("record", Scope::Type),
            "enum_declaration" => named("enum", Scope::Type),
            "enum_member_declaration" => named("constant", Scope::Leaf),
            "delegate_declaration" => named("delegate", Scope::Leaf),
            "method_declaration" => named("method", Scope::Function),
            "constructor_declaration" => named("constructor", Scope::Function),
            "destructor_declaration" => named("destructor", Scope::Function),
            "local_function_statement" => named("function", Scope::Function),
            "property_declaration" => {
                let accessors =
                    node.child_by_field_name("accessors").or_else(|| node.child_by_field_name("value"));
                Some(DefinitionNode { body: accessors, ..named("property", Scope::Function)? })
            }
            "event_declaration" => named("event", Scope::Leaf),
            "variable_declarator" if scopes.is_in_type() => {
                let declaration = scopes.grandparent()?;
                let kind = match declaration.kind() {
                    "field_declaration" => "field",
                    "event_field_declaration" => "event",
                    _ => return None,
                };
                Some(DefinitionNode {
                    start: declaration,
                    ..DefinitionNode::new(kind, field(node, "name", text)?, node)
                })
            }
            _ => None,
        }
    }

    /// The target is `A.B`, or `type A.B.C` for a name that can only be a type.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        if node.kind() != "using_directive" {
            return;
        }
        let words = text_of(node, text);
        let words = words.trim_end_matches(';').trim();
        let words = words.strip_prefix("global ").unwrap_or(words).trim_start();
        let words = words.strip_prefix("using").unwrap_or(words).trim_start();
        let (is_static, words) = match words.strip_prefix("static ") {
            Some(rest) => (true, rest),
            None => (false, words),
        };
        let (is_alias, name) = match words.split_once('=') {
            Some((_, name)) => (true, name),
            None => (false, words),
        };
        let name = name.split('<').next().unwrap_or_default();
        let name: String = name.chars().filter(|character| !character.is_whitespace()).collect();
        let name = name.strip_prefix("global::").unwrap_or(&name).to_owned();
        let target = if is_static || is_alias { format!("type {name}") } else { name.clone() };
        imports.push(ImportNode { kind: "import", target, spelled: name });
    }

    fn declared(&self, node: Node<'_>, text: &[u8], scopes: &EnclosingScopes<'_, '_>) -> Option<String> {
        match node.kind() {
            "file_scoped_namespace_declaration" => field(node, "name", text),
            "namespace_declaration" => Some(whole_name(field(node, "name", text)?, scopes)),
            _ => None,
        }
    }
}

/// Returns the full name of a namespace, including the enclosing ones.
fn whole_name(name: String, scopes: &EnclosingScopes<'_, '_>) -> String {
    let outer: Vec<&str> = scopes.namespaces().collect();
    if outer.is_empty() { name } else { format!("{}.{name}", outer.join(".")) }
}
