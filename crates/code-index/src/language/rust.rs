//! Rust.

use tree_sitter::Node;

use super::{Grammar, children, field, text_of, unquoted};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, Scope};

/// The longest node that is scanned for relevant bytes; a longer one is always entered.
const SCANNED_BYTES: usize = 256;

/// The longest path before a `use` list; the names of a longer one are ignored.
const LONGEST_PREFIX_BYTES: usize = 4096;

/// The most attributes that are searched for a path.
const MOST_ATTRIBUTES: usize = 64;

pub(super) struct Rust;

impl Grammar for Rust {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_rust::LANGUAGE.into()
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
            "function_item" | "function_signature_item" => {
                named(if scopes.is_in_type() { "method" } else { "function" }, Scope::Function)
            }
            "struct_item" => named("struct", Scope::Leaf),
            "enum_item" => named("enum", Scope::Type),
            "enum_variant" => named("variant", Scope::Leaf),
            "union_item" => named("union", Scope::Leaf),
            "trait_item" => named("trait", Scope::Type),
            "type_item" | "associated_type" => named("type", Scope::Leaf),
            "const_item" => named("constant", Scope::Leaf),
            "static_item" => named("static", Scope::Leaf),
            "macro_definition" => named("macro", Scope::Leaf),
            "mod_item" if node.child_by_field_name("body").is_some() => named("module", Scope::Namespace),
            "impl_item" => {
                let name = type_name(node.child_by_field_name("type")?, text);
                Some(DefinitionNode {
                    kind: None,
                    ..DefinitionNode::new("impl", name, node).holding(Scope::Type)
                })
            }
            _ => None,
        }
    }

    fn holds(&self, node: Node<'_>, text: &[u8]) -> bool {
        // Every item contains one of these: variants are in braces, and included files in a macro call.
        let text = &text[node.byte_range()];
        text.len() > SCANNED_BYTES || memchr::memchr3(b'{', b';', b'!', text).is_some()
    }

    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        scopes: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        match node.kind() {
            "use_declaration" => {
                let Some(argument) = node.child_by_field_name("argument") else { return };
                let mut leaves = Vec::new();
                use_leaves(argument, String::new(), text, 0, &mut leaves);
                let namespaces: Vec<&str> = scopes.namespaces().collect();
                imports.extend(leaves.into_iter().map(|leaf| ImportNode {
                    kind: "import",
                    target: from_file(leaf.split(' ').next().unwrap_or(&leaf), &namespaces),
                    spelled: leaf,
                }));
            }
            "extern_crate_declaration" => {
                if let Some(name) = field(node, "name", text) {
                    let kind = "import";
                    imports.push(ImportNode { kind, target: name.clone(), spelled: name });
                }
            }
            "mod_item" if node.child_by_field_name("body").is_none() => {
                let Some(name) = field(node, "name", text) else { return };
                let folders: Vec<&str> = scopes.namespaces().collect();
                let target = match path_attribute(node, text) {
                    Some(path) => format!("path {path}"),
                    None => [folders.as_slice(), &[name.as_str()]].concat().join("/"),
                };
                let spelled = format!("mod {name}");
                imports.push(ImportNode { kind: "module", target, spelled });
            }
            "macro_invocation" => {
                let name = field(node, "macro", text).unwrap_or_default();
                if !matches!(name.as_str(), "include" | "include_str" | "include_bytes") {
                    return;
                }
                let Some(tokens) = children(node).into_iter().find(|child| child.kind() == "token_tree")
                else {
                    return;
                };
                let arguments = children(tokens);
                if let [argument] = arguments.as_slice()
                    && argument.kind() == "string_literal"
                {
                    let path = unquoted(*argument, text);
                    let target = format!("path {path}");
                    imports.push(ImportNode { kind: "include", target, spelled: path });
                }
            }
            _ => {}
        }
    }
}

/// Returns the name of the type of an `impl`, without its parameters.
fn type_name(node: Node<'_>, text: &[u8]) -> String {
    let mut node = node;
    for _ in 0..8 {
        let inner = match node.kind() {
            "generic_type" => node.child_by_field_name("type"),
            "scoped_type_identifier" => node.child_by_field_name("name"),
            "reference_type" | "pointer_type" => node.child_by_field_name("type"),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    text_of(node, text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the path of a `#[path = "…"]` before a module.
fn path_attribute(node: Node<'_>, text: &[u8]) -> Option<String> {
    let mut before = node.prev_named_sibling();
    // Finding a previous sibling takes time linear in their number.
    for _ in 0..MOST_ATTRIBUTES {
        let attribute = before.filter(|before| before.kind() == "attribute_item")?;
        let words = text_of(attribute, text);
        let inner = words.trim_start_matches("#[").trim_end_matches(']').trim();
        if let Some(value) =
            inner.strip_prefix("path").map(str::trim_start).and_then(|rest| rest.strip_prefix('='))
        {
            return Some(value.trim().trim_matches('"').to_owned());
        }
        before = attribute.prev_named_sibling();
    }
    None
}

/// Expands `a::{b, c::d as e}` into `a::b` and `a::c::d as e`.
fn use_leaves(node: Node<'_>, prefix: String, text: &[u8], depth: u32, leaves: &mut Vec<String>) {
    // Every name repeats its prefix, so depth, number and prefix are all bounded.
    if depth > 32 || leaves.len() > 4096 || prefix.len() > LONGEST_PREFIX_BYTES {
        return;
    }
    let join = |tail: &str| if prefix.is_empty() { tail.to_owned() } else { format!("{prefix}::{tail}") };
    match node.kind() {
        "scoped_use_list" => {
            let path = field(node, "path", text).map(|path| squeeze(&path));
            let prefix = path.map_or_else(|| prefix.clone(), |path| join(&path));
            if let Some(list) = node.child_by_field_name("list") {
                use_leaves(list, prefix, text, depth + 1, leaves);
            }
        }
        "use_list" => {
            for child in children(node) {
                use_leaves(child, prefix.clone(), text, depth + 1, leaves);
            }
        }
        "use_as_clause" => {
            if let Some(path) = field(node, "path", text) {
                let alias = field(node, "alias", text).unwrap_or_default();
                leaves.push(format!("{} as {alias}", join(&squeeze(&path))));
            }
        }
        "use_wildcard" => leaves.push(join(&squeeze(&text_of(node, text)))),
        "self" if !prefix.is_empty() => leaves.push(prefix),
        "line_comment" | "block_comment" => {}
        _ => leaves.push(join(&squeeze(&text_of(node, text)))),
    }
}

fn squeeze(path: &str) -> String {
    path.chars().filter(|character| !character.is_whitespace()).collect()
}

/// Rewrites a path relative to the file: removes the `super::` steps out of inline modules.
fn from_file(path: &str, namespaces: &[&str]) -> String {
    let mut around = namespaces.to_vec();
    let mut rest = path;
    let mut is_relative = false;
    loop {
        if let Some(next) = rest.strip_prefix("self::") {
            is_relative = true;
            rest = next;
        } else if let (Some(next), false) = (rest.strip_prefix("super::"), around.is_empty()) {
            is_relative = true;
            around.pop();
            rest = next;
        } else {
            break;
        }
    }
    match is_relative {
        true if rest.starts_with("super::") => rest.to_owned(),
        true => ["self"].into_iter().chain(around).chain([rest]).collect::<Vec<_>>().join("::"),
        false => rest.to_owned(),
    }
}
