//! Bash, and similar shells.

use tree_sitter::Node;

use super::{Grammar, children, field, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, NAME_BYTES, Scope};

/// The most words of a declaration that are searched for `-r`.
const MOST_FLAGS: u32 = 8;

pub(in crate::language) struct Bash;

impl Grammar for Bash {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_bash::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        match node.kind() {
            "function_definition" => Some(
                DefinitionNode::new("function", field(node, "name", text)?, node).holding(Scope::Function),
            ),
            "variable_assignment" if !scopes.is_in_function() => {
                let name = node.child_by_field_name("name").filter(|name| name.kind() == "variable_name")?;
                let parent = scopes.parent()?;
                let is_appended = text.get(name.end_byte()) == Some(&b'+');
                // `NAME=value command` sets it for the command only.
                if is_appended || matches!(parent.kind(), "command" | "command_substitution") {
                    return None;
                }
                let (kind, start) = match parent.kind() {
                    "declaration_command" if is_read_only(parent, text) => ("constant", parent),
                    "declaration_command" => ("variable", parent),
                    _ => ("variable", node),
                };
                let value = node.child_by_field_name("value");
                let definition = DefinitionNode::new(kind, text_of(name, text), node);
                Some(DefinitionNode { start, body: value, ..definition })
            }
            "word" | "concatenation" if scopes.field() == Some("argument") => {
                let command = scopes.parent().filter(|command| command.kind() == "command")?;
                if scopes.is_in_function()
                    || &text[command.child_by_field_name("name")?.byte_range()] != b"alias"
                {
                    return None;
                }
                let argument = &text[node.byte_range()];
                let length = argument.iter().take(NAME_BYTES).position(|byte| *byte == b'=')?;
                let name = String::from_utf8_lossy(&argument[..length]).into_owned();
                Some(DefinitionNode { start: command, ..DefinitionNode::new("alias", name, node) })
            }
            _ => None,
        }
    }

    /// The target is `own path` for a path from the script's folder, `file path`, `some path` for a path from a folder in a
    /// variable, or `helper path` for a file that a bats test loads.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        _: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    ) {
        if node.kind() != "command" {
            return;
        }
        let name = node.child_by_field_name("name").map(|name| &text[name.byte_range()]);
        let is_helper = name == Some(b"load");
        if !is_helper && !matches!(name, Some(b"source" | b".")) {
            return;
        }
        // A longer argument is left out, and may contain others.
        let argument =
            node.child_by_field_name("argument").filter(|one| one.byte_range().len() <= NAME_BYTES);
        let Some(argument) = argument else { return };
        if let Some(target) = sourced(argument, text) {
            let target = match target.strip_prefix("file ") {
                Some(path) if is_helper => format!("helper {path}"),
                _ => target,
            };
            imports.push(ImportNode { kind: "include", target, spelled: text_of(argument, text) });
        }
    }
}

fn is_read_only(declaration: Node<'_>, text: &[u8]) -> bool {
    let has_flag = || {
        let words = (0..MOST_FLAGS).map_while(|index| declaration.named_child(index));
        words.take_while(|word| word.kind() == "word").any(|word| {
            let word = &text[word.byte_range()];
            word.starts_with(b"-") && word.contains(&b'r')
        })
    };
    text[declaration.byte_range()].starts_with(b"readonly") || has_flag()
}

/// Returns the target of `source ARGUMENT`.
fn sourced(argument: Node<'_>, text: &[u8]) -> Option<String> {
    let whole = text_of(argument, text);
    match argument.kind() {
        "word" | "raw_string" => return Some(format!("file {}", whole.trim_matches('\''))),
        "string" | "concatenation" => {}
        _ => return None,
    }
    let parts = children(argument);
    match parts.as_slice() {
        [only] if only.kind() == "string_content" => Some(format!("file {}", text_of(*only, text))),
        [folder, .., path] if matches!(path.kind(), "string_content" | "word") => {
            let is_own = parts.len() == 2;
            let folder = &text_of(*folder, text);
            let path = text_of(*path, text);
            let prefix = if is_own && (folder.contains("BASH_SOURCE") || folder.contains("$0")) {
                "own"
            } else {
                "some"
            };
            let is_folder = folder.trim_start_matches('"').starts_with('$') && path.starts_with('/');
            is_folder.then(|| format!("{prefix} {}", path.trim_start_matches('/')))
        }
        _ => None,
    }
}
