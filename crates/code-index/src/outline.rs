//! What a file defines and imports.

pub(crate) mod file_name;
pub(crate) mod graph;
pub(crate) mod manifests;
pub(crate) mod syntax;
pub(crate) mod test_paths;

use tree_sitter::{Node, Tree};

use crate::language::Language;
use crate::limits::IndexLimits;
use crate::lines::Lines;
use crate::skeleton::Skeleton;

/// Longer signatures are cut.
const SIGNATURE_BYTES: usize = 240;
/// Longer names and targets are left out: they are no names.
pub(crate) const NAME_BYTES: usize = 300;

/// What a file defines and imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) imports: Vec<Import>,
    /// Packages or namespaces that the file belongs to.
    pub(crate) declared: Vec<String>,
}

/// One definition. Lines are 1-based and inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) line_start: u32,
    pub(crate) line_end: u32,
    /// Where its text begins and where its body does, in bytes.
    pub(crate) signature: (u32, u32),
    pub(crate) container: Option<String>,
}

/// One thing that a file imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// 1-based.
    pub(crate) line: u32,
    /// What makes the dependency: `import`, `module`, `include` and so on.
    pub(crate) kind: String,
    /// What is imported, in the form that the resolver of the language reads.
    pub(crate) target: String,
    /// As the file spells it.
    pub(crate) spelled: String,
}

/// An import in a syntax tree.
pub(crate) struct FoundImport {
    pub(crate) kind: &'static str,
    pub(crate) target: String,
    pub(crate) spelled: String,
}

/// A definition in a syntax tree.
pub(crate) struct Found<'t> {
    /// What it is; `None` for what only holds definitions, as a Rust `impl` does.
    pub(crate) kind: Option<&'static str>,
    pub(crate) name: String,
    /// Where it begins.
    pub(crate) start: Node<'t>,
    /// Where its signature ends, if that is before its own end.
    pub(crate) body: Option<Node<'t>>,
    /// What it is for what stands in it.
    pub(crate) scope: Scope,
    /// What it belongs to, if that is not what it stands in.
    pub(crate) container: Option<String>,
}

impl<'t> Found<'t> {
    /// A definition that holds nothing.
    pub(crate) fn new(kind: &'static str, name: String, node: Node<'t>) -> Found<'t> {
        let body = node.child_by_field_name("body");
        Found { kind: Some(kind), name, start: node, body, scope: Scope::Leaf, container: None }
    }

    pub(crate) fn holding(self, scope: Scope) -> Found<'t> {
        Found { scope, ..self }
    }

    pub(crate) fn in_container(self, container: Option<String>) -> Found<'t> {
        Found { container, ..self }
    }
}

/// What a definition is for those that stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Nothing of note stands in it.
    Leaf,
    /// A type: functions in it are methods.
    Type,
    /// A function: variables in it are nobody's business.
    Function,
    /// A module or namespace.
    Namespace,
}

/// How many scopes may be open at a node. What stands deeper is left out, because some questions about a node look at all of them.
const OPEN_SCOPES: usize = 256;

/// The position of a node in the tree.
///
/// The nodes around it are kept by the walk: a tree finds the parent of a node by descending from its root.
pub(crate) struct Place<'a, 't> {
    scopes: &'a [OpenScope],
    around: &'a [Node<'t>],
    field: Option<&'t str>,
}

struct OpenScope {
    end_byte: usize,
    name: String,
    scope: Scope,
}

impl<'t> Place<'_, 't> {
    /// Returns the node in which it stands directly.
    pub(crate) fn parent(&self) -> Option<Node<'t>> {
        self.around.last().copied()
    }

    /// Returns the node in which its parent stands.
    pub(crate) fn grandparent(&self) -> Option<Node<'t>> {
        self.around.iter().rev().nth(1).copied()
    }

    /// Returns the name of its parent's field that it is, or is one of.
    pub(crate) fn field(&self) -> Option<&'t str> {
        self.field
    }

    /// What it stands in directly; `None` at the level of the file.
    pub(crate) fn scope(&self) -> Option<Scope> {
        self.scopes.last().map(|open| open.scope)
    }

    pub(crate) fn is_in_type(&self) -> bool {
        self.scope() == Some(Scope::Type)
    }

    pub(crate) fn is_in_function(&self) -> bool {
        self.scopes.iter().any(|open| open.scope == Scope::Function)
    }

    /// The modules or namespaces around it, the outermost first.
    pub(crate) fn namespaces(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.scopes.iter().filter(|open| open.scope == Scope::Namespace).map(|open| open.name.as_str())
    }
}

/// Reads definitions and imports off the syntax tree of a skeleton. No recursion: a tree may be as deep as its text is
/// long. `lines` are those of the whole text.
pub(crate) fn outline(
    language: Language,
    tree: &Tree,
    skeleton: &Skeleton<'_>,
    lines: &Lines<'_>,
    limits: &IndexLimits,
) -> Outline {
    let grammar = language.grammar();
    let text = skeleton.text();
    let mut outline = Outline::default();
    let mut scopes: Vec<OpenScope> = Vec::new();
    let mut imports: Vec<FoundImport> = Vec::new();
    let mut cursor = tree.walk();
    let mut around: Vec<Node<'_>> = Vec::new();
    loop {
        let node = cursor.node();
        // What has no name has nothing in it.
        let mut is_entered = false;
        if node.is_named() {
            is_entered = grammar.holds(node, text);
            while scopes.last().is_some_and(|open| open.end_byte <= node.start_byte()) {
                scopes.pop();
            }
            let place = Place { scopes: &scopes, around: &around, field: cursor.field_name() };
            if outline.imports.len() < limits.imports {
                grammar.imports(node, text, &place, &mut imports);
            }
            if !imports.is_empty() {
                let line = number(lines.line_of(skeleton.origin(node.start_byte()), 0));
                outline.imports.extend(imports.drain(..).map(|found| Import {
                    line,
                    kind: found.kind.to_owned(),
                    target: on_one_line(found.target),
                    spelled: on_one_line(found.spelled),
                }));
            }
            if let Some(declared) =
                grammar.declared(node, text, &place).filter(|name| name.len() <= NAME_BYTES)
            {
                outline.declared.push(declared);
            }
            if let Some(found) = grammar.definition(node, text, &place)
                && outline.definitions.len() < limits.symbols
                && !found.name.is_empty()
                && found.name.len() <= NAME_BYTES
            {
                let inner = (found.scope != Scope::Leaf).then(|| OpenScope {
                    end_byte: node.end_byte(),
                    name: found.name.clone(),
                    scope: found.scope,
                });
                outline.definitions.extend(definition(found, node, &scopes, skeleton, lines));
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
                outline.imports.retain(|import| import.target.len() <= NAME_BYTES);
                outline.imports.truncate(limits.imports);
                return outline;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

fn definition(
    found: Found<'_>,
    node: Node<'_>,
    scopes: &[OpenScope],
    skeleton: &Skeleton<'_>,
    lines: &Lines<'_>,
) -> Option<Definition> {
    let kind = found.kind?.to_owned();
    let start = skeleton.origin(found.start.start_byte());
    let node_end = skeleton.origin_of_end(node.end_byte());
    let end = found.body.map_or(node_end, |body| skeleton.origin(body.start_byte()));
    let first = lines.line_of(start, 0);
    // A node that ends with its line ending ends on the line before.
    let last = lines.line_of(node_end.saturating_sub(1), first);
    let container = found.container.or_else(|| scopes.last().map(|open| open.name.clone()));
    Some(Definition {
        kind,
        name: on_one_line(found.name),
        line_start: number(first),
        line_end: number(last.max(first)),
        signature: (number(start), number(end)),
        container: container.filter(|name| name.len() <= NAME_BYTES).map(on_one_line),
    })
}

/// Names and targets are shown on one line.
fn on_one_line(text: String) -> String {
    if text.contains(['\t', '\n', '\r']) { text.replace(['\t', '\n', '\r'], " ") } else { text }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The signature of a definition: its text up to the body, on one line.
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
