//! Elixir.

use tree_sitter::Node;

use super::{Grammar, child, children, field, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, NAME_BYTES, Scope};

/// The most names of one `alias` with a group; the rest is ignored.
const MOST_NAMES: usize = 4096;

/// Module attributes that annotate the next definition or are for the compiler.
const ANNOTATIONS: [&str; 22] = [
    "after_compile",
    "before_compile",
    "behaviour",
    "compile",
    "deprecated",
    "derive",
    "dialyzer",
    "doc",
    "enforce_keys",
    "external_resource",
    "fallback_to_any",
    "impl",
    "moduledoc",
    "moduletag",
    "on_load",
    "optional_callbacks",
    "since",
    "spec",
    "tag",
    "describetag",
    "typedoc",
    "vsn",
];

pub(in crate::language) struct Elixir;

impl Grammar for Elixir {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_elixir::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        match node.kind() {
            "call" => called(node, text, scopes),
            "unary_operator" if text.get(node.start_byte()) == Some(&b'@') && !scopes.is_in_function() => {
                attribute(node, text)
            }
            _ => None,
        }
    }

    /// The target is the name of a module.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        if node.kind() != "call" {
            return;
        }
        let target = node.child_by_field_name("target").map(|target| &text[target.byte_range()]);
        if !matches!(target, Some(b"alias" | b"import" | b"use" | b"require" | b"defimpl" | b"behaviour")) {
            return;
        }
        let Some(arguments) = arguments(node) else { return };
        let mut add = |name: String| {
            imports.push(ImportNode { kind: "import", spelled: name.clone(), target: name });
        };
        match arguments.named_child(0) {
            Some(name) if name.kind() == "alias" => add(text_of(name, text)),
            // `alias A.{B, C}`
            Some(group) if group.kind() == "dot" => {
                let part = |name: &str| group.child_by_field_name(name);
                let (Some(left), Some(right)) = (part("left"), part("right")) else { return };
                // Every name repeats the prefix, so a long one would make the imports quadratic in the text.
                if left.byte_range().len() > NAME_BYTES || right.kind() != "tuple" {
                    return;
                }
                let left = text_of(left, text);
                let names = children(right).into_iter().filter(|name| name.kind() == "alias");
                names.take(MOST_NAMES).for_each(|name| add(format!("{left}.{}", text_of(name, text))));
            }
            _ => {}
        }
        if target == Some(b"defimpl")
            && let Some(name) = implementing(arguments, text)
        {
            add(name);
        }
    }

    fn declared(&self, node: Node<'_>, text: &[u8], scopes: &EnclosingScopes<'_, '_>) -> Option<String> {
        if node.kind() != "call" || scopes.scope().is_some() {
            return None;
        }
        let target = node.child_by_field_name("target")?;
        matches!(&text[target.byte_range()], b"defmodule" | b"defprotocol").then_some(())?;
        let name = arguments(node)?.named_child(0).filter(|name| name.kind() == "alias")?;
        Some(text_of(name, text))
    }
}

/// Returns the definition of a call such as `def name(…) do … end`.
fn called<'t>(node: Node<'t>, text: &[u8], scopes: &EnclosingScopes<'_, '_>) -> Option<DefinitionNode<'t>> {
    let target = node.child_by_field_name("target").filter(|target| target.kind() == "identifier")?;
    let arguments = arguments(node)?;
    let first = arguments.named_child(0)?;
    let body = child(node, &["do_block"]);
    let definition = match &text[target.byte_range()] {
        b"defmodule" => module("module", first, node, text)?,
        b"defprotocol" => module("protocol", first, node, text)?,
        b"defimpl" => {
            let protocol = || Some(text_of(first, text)).filter(|_| first.kind() == "alias");
            let name = implementing(arguments, text).or_else(protocol)?;
            let name = name.rsplit('.').next().unwrap_or_default().to_owned();
            DefinitionNode { kind: None, ..DefinitionNode::new("module", name, node).holding(Scope::Type) }
        }
        // Each clause of a function is listed: they may be far apart.
        b"def" | b"defp" | b"defdelegate" | b"defn" | b"defnp" => function("function", first, node, text)?,
        b"defmacro" | b"defmacrop" | b"defguard" | b"defguardp" => function("macro", first, node, text)?,
        b"defstruct" => DefinitionNode::new("struct", scopes.type_name()?.to_owned(), node),
        b"defexception" => DefinitionNode::new("exception", scopes.type_name()?.to_owned(), node),
        _ => return None,
    };
    let after = children(arguments).into_iter().nth(1).filter(|_| definition.kind.is_some());
    let is_function = definition.scope == Scope::Function;
    // `def name, do: value`
    Some(DefinitionNode { body: body.or(after.filter(|_| is_function)), ..definition })
}

/// Returns a module. `A.B` is `B` of `A`.
fn module<'t>(kind: &'static str, name: Node<'_>, node: Node<'t>, text: &[u8]) -> Option<DefinitionNode<'t>> {
    if name.kind() != "alias" {
        return None;
    }
    let name = text_of(name, text);
    let (container, last) = match name.rsplit_once('.') {
        Some((container, last)) => (Some(container.to_owned()), last.to_owned()),
        None => (None, name),
    };
    Some(DefinitionNode::new(kind, last, node).holding(Scope::Type).in_container(container))
}

/// Returns the function whose head is `name`, `name(…)`, `left + right` or one of them with a guard.
fn function<'t>(
    kind: &'static str,
    head: Node<'_>,
    node: Node<'t>,
    text: &[u8],
) -> Option<DefinitionNode<'t>> {
    let name = head_name(head, text)?;
    Some(DefinitionNode::new(kind, name, node).holding(Scope::Function))
}

fn head_name(head: Node<'_>, text: &[u8]) -> Option<String> {
    let mut head = head;
    loop {
        match head.kind() {
            "identifier" => return Some(text_of(head, text)),
            "call" => {
                let target = head.child_by_field_name("target");
                return target
                    .filter(|target| target.kind() == "identifier")
                    .map(|target| text_of(target, text));
            }
            "binary_operator" | "unary_operator" => {
                let operator = field(head, "operator", text)?;
                match (operator.as_str(), head.child_by_field_name("left")) {
                    ("when" | "::", Some(left)) => head = left,
                    _ => return Some(operator),
                }
            }
            _ => return None,
        }
    }
}

/// Returns the type, callback or constant that `@name value` defines.
fn attribute<'t>(node: Node<'t>, text: &[u8]) -> Option<DefinitionNode<'t>> {
    // A use of an attribute has no value.
    let call = node.child_by_field_name("operand").filter(|operand| operand.kind() == "call")?;
    let name = field(call, "target", text)?;
    let value = arguments(call)?.named_child(0)?;
    let (kind, name) = match name.as_str() {
        "type" | "typep" | "opaque" => ("type", head_name(value, text)?),
        "callback" | "macrocallback" => ("callback", head_name(value, text)?),
        name if ANNOTATIONS.contains(&name) => return None,
        _ => {
            return Some(DefinitionNode {
                body: Some(value),
                ..DefinitionNode::new("attribute", name, node)
            });
        }
    };
    Some(DefinitionNode::new(kind, name, node))
}

/// Returns the type in `defimpl Protocol, for: Type`.
fn implementing(arguments: Node<'_>, text: &[u8]) -> Option<String> {
    let keywords = child(arguments, &["keywords"])?;
    let pair = children(keywords)
        .into_iter()
        .find(|pair| field(*pair, "key", text).is_some_and(|key| key.trim_end() == "for:"))?;
    let name = pair.child_by_field_name("value").filter(|name| name.kind() == "alias")?;
    Some(text_of(name, text))
}

fn arguments(node: Node<'_>) -> Option<Node<'_>> {
    child(node, &["arguments"])
}
