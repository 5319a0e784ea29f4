//! PowerShell.

use tree_sitter::Node;

use super::{Grammar, child, children, text_of};
use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode, NAME_BYTES, Scope};

/// The number of bytes of a command that are searched for a path.
const COMMAND_BYTES: usize = 1024;

pub(in crate::language) struct PowerShell;

impl Grammar for PowerShell {
    fn parser(&self) -> tree_sitter::Language {
        tree_sitter_powershell::LANGUAGE.into()
    }

    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>> {
        let named = |kind, scope| {
            let name = child(node, &["simple_name", "function_name"])?;
            Some(DefinitionNode::new(kind, unscoped(&text_of(name, text)), node).holding(scope))
        };
        let body = || child(node, &["script_block"]);
        match node.kind() {
            "function_statement" => {
                Some(DefinitionNode { body: body(), ..named("function", Scope::Function)? })
            }
            "class_statement" => Some(DefinitionNode {
                body: child(node, &["class_property_definition", "class_method_definition"]),
                ..named("class", Scope::Type)?
            }),
            "class_method_definition" => {
                let method = named("method", Scope::Function)?;
                let is_constructor = scopes.name() == Some(method.name.as_str());
                let kind = if is_constructor { "constructor" } else { "method" };
                Some(DefinitionNode { kind: Some(kind), body: body(), ..method })
            }
            "class_property_definition" => {
                let name = text_of(child(node, &["variable"])?, text);
                Some(DefinitionNode::new("property", unscoped(&name), node))
            }
            "enum_statement" => {
                Some(DefinitionNode { body: child(node, &["enum_member"]), ..named("enum", Scope::Type)? })
            }
            "enum_member" => named("constant", Scope::Leaf),
            "assignment_expression" if !scopes.is_in_function() => {
                let parts = children(node);
                let [left, operator, ..] = parts.as_slice() else { return None };
                // Assignments nest on their left sides, and a long one is not a variable.
                if &text[operator.byte_range()] != b"=" || left.byte_range().len() > NAME_BYTES {
                    return None;
                }
                let name = assigned(&text_of(*left, text))?;
                let value = node.child_by_field_name("value");
                Some(DefinitionNode { body: value, ..DefinitionNode::new("variable", name, node) })
            }
            // The variables of a block that is passed to a command are local to it.
            "script_block_expression" if !scopes.is_in_function() => {
                let inner = DefinitionNode::new("function", "(anonymous)".to_owned(), node);
                Some(DefinitionNode { kind: None, ..inner.holding(Scope::Function) })
            }
            _ => None,
        }
    }

    // The parser reports errors in a fifth of the files of a well-tested module, such as for `. $folder/file.ps1` without quotes.
    // Definitions around them are found nevertheless.
    fn is_exact(&self) -> bool {
        false
    }

    /// The target is `own path` for a path from the script's folder, or `file path`.
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
        // A command may contain others, so scanning all of its text would be quadratic in the file.
        let words = &text[node.byte_range()];
        let words = String::from_utf8_lossy(&words[..words.len().min(COMMAND_BYTES)]);
        let (command, rest) = words.split_once(char::is_whitespace).unwrap_or((words.as_ref(), ""));
        let rest = rest.trim_start();
        let (kind, path) = match command.to_ascii_lowercase().as_str() {
            "." => ("include", rest),
            "import-module" | "ipmo" => {
                let named = rest.strip_prefix("-Name").map(str::trim_start);
                ("import", named.unwrap_or(rest))
            }
            "using" => match rest.split_once(char::is_whitespace) {
                Some((what, path)) if what.eq_ignore_ascii_case("module") => ("import", path.trim_start()),
                _ => return,
            },
            _ => return,
        };
        if let Some((spelled, target)) = imported(path) {
            imports.push(ImportNode { kind, target, spelled });
        }
    }
}

/// Returns the name in `$script:name` or `global:name`.
fn unscoped(name: &str) -> String {
    let name = name.trim_start_matches('$');
    name.rsplit_once(':').map_or(name, |(_, name)| name).to_owned()
}

/// Returns the variable on the left of an assignment, which may have a type: `[int] $name`.
fn assigned(left: &str) -> Option<String> {
    let variable = left.rsplit(']').next().unwrap_or_default().trim();
    let name = unscoped(variable.strip_prefix('$')?);
    name.chars().all(|character| character.is_alphanumeric() || character == '_').then_some(name)
}

/// Returns the spelling and the target of a path to a script or module. A name without a path is an installed module.
fn imported(words: &str) -> Option<(String, String)> {
    let spelled = match words.chars().next()? {
        quote @ ('"' | '\'') => words[1..].split(quote).next()?,
        _ => words.split(char::is_whitespace).next()?,
    };
    let path = spelled.replace('\\', "/");
    let target = match path.strip_prefix("$PSScriptRoot/") {
        Some(path) if path.ends_with(".ps1") || path.ends_with(".psm1") => format!("own {path}"),
        // A manifest or a library, which a build may create.
        Some(path) => format!("some {path}"),
        None if path.starts_with('.') => format!("file {path}"),
        None => return None,
    };
    Some((spelled.to_owned(), target))
}
