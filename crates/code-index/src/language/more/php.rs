//! PHP.

use tree_sitter::Node;

use super::{Grammar, child, children, field, plain_string, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, NAME_BYTES, Scope};

/// The most names of one `use` with a group; the rest is ignored.
const MOST_NAMES: usize = 4096;

/// The longest expression in bytes that is read as a folder.
const FOLDER_BYTES: usize = 64;

pub(in crate::language) struct Php;

impl Grammar for Php {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_php::LANGUAGE_PHP.into()
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
            // A namespace without braces holds the rest of the file.
            "namespace_definition" => {
                named("namespace", Scope::Namespace).filter(|namespace| namespace.body.is_some())
            }
            "class_declaration" => named("class", Scope::Type),
            "interface_declaration" => named("interface", Scope::Type),
            "trait_declaration" => named("trait", Scope::Type),
            "enum_declaration" => named("enum", Scope::Type),
            "enum_case" => named("constant", Scope::Leaf),
            "function_definition" => named("function", Scope::Function),
            "method_declaration" => {
                let method = named("method", Scope::Function)?;
                let kind = if method.name == "__construct" { "constructor" } else { "method" };
                Some(DefinitionNode { kind: Some(kind), ..method })
            }
            "anonymous_class" => {
                let class = DefinitionNode::new("class", "(anonymous)".to_owned(), node);
                Some(DefinitionNode { kind: None, ..class.holding(Scope::Type) })
            }
            "property_promotion_parameter" => {
                Some(named_variable(node, text)?.in_container(scopes.type_name().map(str::to_owned)))
            }
            // Each of `private $a, $b` and of `const A = 1, B = 2` is a separate child.
            "property_element" => {
                Some(DefinitionNode { start: scopes.parent()?, ..named_variable(node, text)? })
            }
            "const_element" => {
                let name = children(node).into_iter().next()?;
                let constant = DefinitionNode::new("constant", text_of(name, text), node);
                Some(DefinitionNode { start: scopes.parent()?, ..constant })
            }
            "function_call_expression"
                if &text[node.child_by_field_name("function")?.byte_range()] == b"define" =>
            {
                let argument = node.child_by_field_name("arguments")?.named_child(0)?.named_child(0)?;
                Some(DefinitionNode::new("constant", plain_string(argument, text)?, node))
            }
            _ => None,
        }
    }

    /// The target is `A\B`, or `beside path` and `file path` for a file.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        match node.kind() {
            "namespace_use_declaration" => {
                let prefix = child(node, &["namespace_name"]);
                let prefix = prefix.map(|prefix| format!("{}\\", text_of(prefix, text))).unwrap_or_default();
                // Every name of a group repeats the prefix, so a long one would make the imports quadratic in the text.
                if prefix.len() > NAME_BYTES {
                    return;
                }
                let group = node.child_by_field_name("body").unwrap_or(node);
                let clauses =
                    children(group).into_iter().filter(|child| child.kind() == "namespace_use_clause");
                for clause in clauses.take(MOST_NAMES) {
                    let is_name = |child: &Node<'_>| matches!(child.kind(), "name" | "qualified_name");
                    let Some(name) = children(clause).into_iter().find(is_name) else { continue };
                    let target = format!("{prefix}{}", text_of(name, text).trim_start_matches('\\'));
                    imports.push(ImportNode { kind: "import", spelled: target.clone(), target });
                }
            }
            "include_expression"
            | "include_once_expression"
            | "require_expression"
            | "require_once_expression" => {
                let argument = children(node).into_iter().next().map(|argument| match argument.kind() {
                    "parenthesized_expression" => argument.named_child(0).unwrap_or(argument),
                    _ => argument,
                });
                if let Some((target, path)) = argument.and_then(|argument| included(argument, text)) {
                    imports.push(ImportNode { kind: "include", target, spelled: path });
                }
            }
            _ => {}
        }
    }

    fn declared(&self, node: Node<'_>, text: &[u8], _: &EnclosingScopes<'_, '_>) -> Option<String> {
        (node.kind() == "namespace_definition").then(|| field(node, "name", text))?
    }
}

/// Returns the property with the name of a node, without its `$`.
fn named_variable<'t>(node: Node<'t>, text: &[u8]) -> Option<DefinitionNode<'t>> {
    let name = field(node, "name", text)?;
    Some(DefinitionNode::new("property", name.trim_start_matches('$').to_owned(), node))
}

/// Returns the target and the spelling of an included file: `'path'`, `__DIR__ . '/path'`, or
/// `dirname(__DIR__) . '/path'`.
fn included(argument: Node<'_>, text: &[u8]) -> Option<(String, String)> {
    if argument.kind() != "binary_expression" {
        let path = plain_string(argument, text)?;
        return Some((format!("file {path}"), path));
    }
    let left = argument.child_by_field_name("left").filter(|left| left.byte_range().len() <= FOLDER_BYTES)?;
    let up = match text_of(left, text).replace(char::is_whitespace, "").as_str() {
        "__DIR__" | "dirname(__FILE__)" => "",
        "dirname(__DIR__)" | "dirname(__FILE__,2)" => "/..",
        "dirname(__DIR__,2)" | "dirname(dirname(__DIR__))" => "/../..",
        _ => return None,
    };
    // `__DIR__ . 'a'` names a sibling of the folder.
    let path =
        plain_string(argument.child_by_field_name("right")?, text).filter(|path| path.starts_with('/'))?;
    Some((format!("beside .{up}{path}"), path))
}
