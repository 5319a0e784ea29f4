//! Ruby.

use tree_sitter::Node;

use super::{Grammar, children, field, plain_string, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

pub(in crate::language) struct Ruby;

impl Grammar for Ruby {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_ruby::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        match node.kind() {
            "module" => container("module", node, text),
            "class" => container("class", node, text),
            "method" | "singleton_method" => {
                let name = field(node, "name", text)?;
                let kind = match (scopes.is_in_type(), name.as_str()) {
                    (true, "initialize") => "constructor",
                    (true, _) => "method",
                    (false, _) => "function",
                };
                Some(DefinitionNode::new(kind, name, node).holding(Scope::Function))
            }
            "alias" => Some(DefinitionNode::new("method", field(node, "name", text)?, node)),
            "assignment" if !scopes.is_in_function() => {
                let left = node.child_by_field_name("left").filter(|left| left.kind() == "constant")?;
                let value = node.child_by_field_name("right");
                let (kind, scope) = match value.and_then(|value| created(value, text)) {
                    Some(kind) => (kind, Scope::Type),
                    None => ("constant", Scope::Leaf),
                };
                let constant = DefinitionNode::new(kind, text_of(left, text), node).holding(scope);
                Some(DefinitionNode { body: value, ..constant })
            }
            // Each constant of `A, B = 1, 2` is a separate child.
            "constant" if !scopes.is_in_function() => {
                let parent = scopes.parent().filter(|parent| parent.kind() == "left_assignment_list")?;
                let constant = DefinitionNode::new("constant", text_of(node, text), node);
                Some(DefinitionNode { start: parent, ..constant })
            }
            // Each argument of `attr_reader :a, :b` is a separate child.
            "simple_symbol" | "string" if scopes.is_in_type() => {
                let call = scopes.grandparent().filter(|call| call.kind() == "call")?;
                if call.child_by_field_name("receiver").is_some() {
                    return None;
                }
                let arguments = call.child_by_field_name("arguments")?;
                let is_first = arguments.named_child(0)?.id() == node.id();
                // Do not copy the text: each argument examines it, and it may be long.
                let kind = match &text[call.child_by_field_name("method")?.byte_range()] {
                    b"attr_reader" | b"attr_writer" | b"attr_accessor" | b"cattr_accessor"
                    | b"mattr_accessor" => "attribute",
                    b"alias_method" | b"define_method" | b"scope" if is_first => "method",
                    _ => return None,
                };
                let name = plain_name(node, text)?;
                Some(DefinitionNode { start: call, ..DefinitionNode::new(kind, name, node) })
            }
            _ => None,
        }
    }

    /// The target is `require path`, `relative path`, or `load path`.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        if node.kind() != "call" || node.child_by_field_name("receiver").is_some() {
            return;
        }
        let Some(arguments) = node.child_by_field_name("arguments") else { return };
        let (kind, prefix, index) = match field(node, "method", text).as_deref() {
            Some("require") => ("import", "require", 0),
            Some("require_relative") => ("import", "relative", 0),
            Some("autoload") => ("import", "require", 1),
            Some("load") => ("include", "load", 0),
            _ => return,
        };
        let argument = arguments.named_child(index).filter(|argument| argument.kind() == "string");
        if let Some(path) = argument.and_then(|argument| plain_string(argument, text)) {
            imports.push(ImportNode { kind, target: format!("{prefix} {path}"), spelled: path });
        }
    }
}

/// Returns a module or class. `class A::B` is `B` of `A`.
fn container<'t>(kind: &'static str, node: Node<'t>, text: &[u8]) -> Option<DefinitionNode<'t>> {
    let name = node.child_by_field_name("name")?;
    let (scope, last) = match name.kind() {
        "scope_resolution" => (field(name, "scope", text), field(name, "name", text)?),
        _ => (None, text_of(name, text)),
    };
    Some(DefinitionNode::new(kind, last, node).holding(Scope::Type).in_container(scope))
}

/// Returns the kind of type that a call creates: `Struct.new(:a)`, `Class.new(Base)`.
fn created(value: Node<'_>, text: &[u8]) -> Option<&'static str> {
    let receiver = value.child_by_field_name("receiver").filter(|receiver| receiver.kind() == "constant")?;
    match (&text[receiver.byte_range()], field(value, "method", text)?.as_str()) {
        (b"Struct" | b"Class", "new") | (b"Data", "define") => Some("class"),
        (b"Module", "new") => Some("module"),
        _ => None,
    }
}

/// Returns the name in a symbol or in a string without interpolation.
fn plain_name(node: Node<'_>, text: &[u8]) -> Option<String> {
    match node.kind() {
        "simple_symbol" => Some(text_of(node, text).trim_start_matches(':').to_owned()),
        _ => plain_string(node, text).filter(|_| children(node).len() == 1),
    }
}
