//! The outline of a file: its definitions and imports.

pub(crate) mod file_name;
pub(crate) mod graph;
pub(crate) mod manifests;
pub(crate) mod syntax;
pub(crate) mod test_paths;

use std::time::Instant;

use tree_sitter::{Node, Tree};
use wap_core::CancelFlag;

use crate::language::Language;
use crate::limits::IndexLimits;
use crate::lines::Lines;
use crate::skeleton::Skeleton;

/// The longest signature in bytes; a longer one is cut.
const SIGNATURE_BYTES: usize = 240;
/// The longest name or import target in bytes; a longer one is data and left out.
pub(crate) const NAME_BYTES: usize = 300;

/// The definitions and imports of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) imports: Vec<Import>,
    /// The packages or namespaces that the file declares.
    pub(crate) declared: Vec<String>,
}

/// One definition. Lines are 1-based and inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) line_start: u32,
    pub(crate) line_end: u32,
    /// The byte offsets of its text and of its body.
    pub(crate) signature: (u32, u32),
    pub(crate) container: Option<String>,
}

/// One import of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// 1-based.
    pub(crate) line: u32,
    /// The kind of dependency: `import`, `module`, `include` and so on.
    pub(crate) kind: String,
    /// The imported name, in the format of the language's resolver.
    pub(crate) target: String,
    /// The spelling in the file.
    pub(crate) spelled: String,
}

/// An import in a syntax tree.
pub(crate) struct ImportNode {
    pub(crate) kind: &'static str,
    pub(crate) target: String,
    pub(crate) spelled: String,
}

/// A definition in a syntax tree.
pub(crate) struct DefinitionNode<'t> {
    /// The kind; `None` for a container that is not itself listed, such as a Rust `impl`.
    pub(crate) kind: Option<&'static str>,
    pub(crate) name: String,
    /// The node at which it begins.
    pub(crate) start: Node<'t>,
    /// The node at which its signature ends, if that is before its own end.
    pub(crate) body: Option<Node<'t>>,
    /// Its scope for nested definitions.
    pub(crate) scope: Scope,
    /// The container, if that is not the enclosing scope.
    pub(crate) container: Option<String>,
}

impl<'t> DefinitionNode<'t> {
    /// Creates a definition without nested ones.
    pub(crate) fn new(kind: &'static str, name: String, node: Node<'t>) -> DefinitionNode<'t> {
        let body = node.child_by_field_name("body");
        DefinitionNode { kind: Some(kind), name, start: node, body, scope: Scope::Leaf, container: None }
    }

    pub(crate) fn holding(self, scope: Scope) -> DefinitionNode<'t> {
        DefinitionNode { scope, ..self }
    }

    pub(crate) fn in_container(self, container: Option<String>) -> DefinitionNode<'t> {
        DefinitionNode { container, ..self }
    }
}

/// The kind of scope that a definition opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// No relevant nested definitions.
    Leaf,
    /// A type: functions in it are methods.
    Type,
    /// A function: its variables are local and not listed.
    Function,
    /// A module or namespace.
    Namespace,
}

/// The number of nodes between checks of the time.
const NODES_AT_ONCE: usize = 1024;

/// The most scopes that may be open at a node. Deeper nodes are left out, because some queries about a node visit all of them.
const OPEN_SCOPES: usize = 256;

/// The scopes and nodes that enclose a node.
///
/// The walk keeps the nodes, because a tree only finds a node's parent by descending from its root.
pub(crate) struct EnclosingScopes<'a, 't> {
    scopes: &'a [OpenScope],
    nodes: &'a [Node<'t>],
    field: Option<&'t str>,
}

struct OpenScope {
    end_byte: usize,
    name: String,
    scope: Scope,
}

impl<'t> EnclosingScopes<'_, 't> {
    /// Returns the parent node.
    pub(crate) fn parent(&self) -> Option<Node<'t>> {
        self.nodes.last().copied()
    }

    /// Returns the parent of the parent node.
    pub(crate) fn grandparent(&self) -> Option<Node<'t>> {
        self.nodes.iter().rev().nth(1).copied()
    }

    /// Returns the name of the parent's field that contains the node.
    pub(crate) fn field(&self) -> Option<&'t str> {
        self.field
    }

    /// Returns the innermost scope; `None` at file level.
    pub(crate) fn scope(&self) -> Option<Scope> {
        self.scopes.last().map(|open| open.scope)
    }

    pub(crate) fn is_in_type(&self) -> bool {
        self.scope() == Some(Scope::Type)
    }

    pub(crate) fn is_in_function(&self) -> bool {
        self.scopes.iter().any(|open| open.scope == Scope::Function)
    }

    /// Returns the name of the innermost enclosing type.
    #[cfg(feature = "more-languages")]
    pub(crate) fn type_name(&self) -> Option<&str> {
        self.scopes.iter().rev().find(|open| open.scope == Scope::Type).map(|open| open.name.as_str())
    }

    /// Returns the name of the innermost scope; `None` at file level.
    #[cfg(feature = "more-languages")]
    pub(crate) fn name(&self) -> Option<&str> {
        self.scopes.last().map(|open| open.name.as_str())
    }

    /// Returns the enclosing modules or namespaces, the outermost first.
    pub(crate) fn namespaces(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.scopes.iter().filter(|open| open.scope == Scope::Namespace).map(|open| open.name.as_str())
    }
}

/// Reads definitions and imports from the syntax tree of a skeleton. Not recursive: a tree may be as deep as its
/// text is long. `lines` are those of the whole text.
///
/// `None` if it exceeds the time limit of parsing, or is cancelled: a grammar may visit all siblings of a node, or all scopes
/// around it.
pub(crate) fn outline(
    language: Language,
    tree: &Tree,
    skeleton: &Skeleton<'_>,
    lines: &Lines<'_>,
    limits: &IndexLimits,
    cancel: &CancelFlag,
) -> Option<Outline> {
    let deadline = Instant::now() + limits.parse_time;
    let mut nodes = 0_usize;
    let grammar = language.grammar();
    let text = skeleton.text();
    let mut outline = Outline::default();
    let mut scopes: Vec<OpenScope> = Vec::new();
    let mut imports: Vec<ImportNode> = Vec::new();
    let mut cursor = tree.walk();
    let mut around: Vec<Node<'_>> = Vec::new();
    loop {
        let node = cursor.node();
        // Unnamed nodes have no children.
        let mut is_entered = false;
        if node.is_named() {
            is_entered = grammar.holds(node, text);
            while scopes.last().is_some_and(|open| open.end_byte <= node.start_byte()) {
                scopes.pop();
            }
            let enclosing = EnclosingScopes { scopes: &scopes, nodes: &around, field: cursor.field_name() };
            if outline.imports.len() < limits.imports {
                grammar.imports(node, text, &enclosing, &mut imports);
            }
            nodes += 1;
            // An import may have taken as long as many nodes.
            let is_due = !imports.is_empty() || nodes.is_multiple_of(NODES_AT_ONCE);
            if is_due && (cancel.is_cancelled() || Instant::now() >= deadline) {
                return None;
            }
            if !imports.is_empty() {
                // Drop longer targets now rather than at the end: there may be many.
                imports.retain(|import| import.target.len() <= NAME_BYTES);
                let line = number(lines.line_of(skeleton.origin(node.start_byte()), 0));
                outline.imports.extend(imports.drain(..).map(|import| Import {
                    line,
                    kind: import.kind.to_owned(),
                    target: on_one_line(import.target),
                    spelled: on_one_line(import.spelled),
                }));
            }
            if let Some(declared) =
                grammar.declared(node, text, &enclosing).filter(|name| name.len() <= NAME_BYTES)
            {
                outline.declared.push(declared);
            }
            if outline.definitions.len() < limits.symbols
                && let Some(defining) = grammar.definition(node, text, &enclosing)
                && !defining.name.is_empty()
                && defining.name.len() <= NAME_BYTES
            {
                let inner = (defining.scope != Scope::Leaf).then(|| OpenScope {
                    end_byte: node.end_byte(),
                    name: defining.name.clone(),
                    scope: defining.scope,
                });
                outline.definitions.extend(definition(defining, node, &scopes, skeleton, lines));
                scopes.extend(inner);
            }
            is_entered &= scopes.len() < OPEN_SCOPES;
        }
        if is_entered && cursor.goto_first_child() {
            around.push(node);
            continue;
        }
        if cursor.goto_next_sibling() {
            continue;
        }
        loop {
            around.pop();
            if !cursor.goto_parent() {
                outline.imports.truncate(limits.imports);
                return Some(outline);
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

fn definition(
    defining: DefinitionNode<'_>,
    node: Node<'_>,
    scopes: &[OpenScope],
    skeleton: &Skeleton<'_>,
    lines: &Lines<'_>,
) -> Option<Definition> {
    let kind = defining.kind?.to_owned();
    let start = skeleton.origin(defining.start.start_byte());
    let node_end = skeleton.origin_of_end(node.end_byte());
    let end = defining.body.map_or(node_end, |body| skeleton.origin(body.start_byte()));
    let first = lines.line_of(start, 0);
    // A node that ends with its line ending ends on the line before.
    let last = lines.line_of(node_end.saturating_sub(1), first);
    let container = defining.container.or_else(|| scopes.last().map(|open| open.name.clone()));
    Some(Definition {
        kind,
        name: on_one_line(defining.name),
        line_start: number(first),
        line_end: number(last.max(first)),
        signature: (number(start), number(end)),
        container: container.filter(|name| name.len() <= NAME_BYTES).map(on_one_line),
    })
}

/// Replaces line breaks and tabs: names and targets are rendered on one line.
fn on_one_line(text: String) -> String {
    if text.contains(['\t', '\n', '\r']) { text.replace(['\t', '\n', '\r'], " ") } else { text }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Returns the signature of a definition: its text up to the body, on one line.
pub(crate) fn signature(definition: &Definition, text: &[u8]) -> String {
    let (start, end) = definition.signature;
    let start = (start as usize).min(text.len());
    let end = (end as usize).clamp(start, text.len());
    let raw = &text[start..end.min(start + 8 * SIGNATURE_BYTES)];
    let mut line = String::new();
    for word in String::from_utf8_lossy(raw).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > SIGNATURE_BYTES {
            let cut = (0..=SIGNATURE_BYTES).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            line.truncate(cut);
            line.push('…');
            break;
        }
    }
    line.truncate(line.trim_end_matches([' ', '{', ':', ';', '=', '>', ',']).len());
    line
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wap_core::CancelFlag;

    use super::*;
    use crate::outline::syntax::Parsers;

    /// Returns the imports of the first statement of a text.
    fn imports_of_first_statement(language: Language, text: &str) -> Vec<ImportNode> {
        let tree =
            Parsers::default().parse(language, text.as_bytes(), Duration::from_secs(60), &CancelFlag::new());
        let tree = tree.unwrap();
        let statement = tree.root_node().named_child(0).unwrap();
        let mut imports = Vec::new();
        let enclosing = EnclosingScopes { scopes: &[], nodes: &[], field: None };
        language.grammar().imports(statement, text.as_bytes(), &enclosing, &mut imports);
        imports
    }

    #[test]
    fn imports_of_a_long_module_are_linear_in_the_text() {
        let names = vec!["a"; 2_000].join(", ");
        for module_bytes in [10, 20_000] {
            let module = "m".repeat(module_bytes);
            let cases = [
                (Language::Python, format!("from {module} import {names}\n")),
                (Language::Rust, format!("use {module}::{{{names}}};\n")),
            ];
            for (language, text) in cases {
                let imports = imports_of_first_statement(language, &text);
                // The control: a short module has all of its names.
                assert_eq!(imports.len() == 2_000, module_bytes == 10, "{language:?}");
                let bytes: usize = imports.iter().map(|one| one.target.len() + one.spelled.len()).sum();
                assert!(bytes < 50 * text.len(), "{language:?}: {bytes} bytes of {}", text.len());
            }
        }
    }
}
