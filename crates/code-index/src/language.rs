//! The languages whose files are parsed, one module each.
//!
//! A language is a [`Grammar`]: a parser, and which of its nodes define or import something. Where imports lead is told
//! by `resolve`.

mod c;
mod cpp;
mod csharp;
mod go;
mod java;
mod javascript;
mod python;
mod rust;

use tree_sitter::Node;

use crate::outline::{Found, FoundImport, Place};

/// A language whose files are parsed. Files of every other kind are known by their words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript, with JSX.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
    /// C#.
    CSharp,
}

/// What makes a language one: its parser and what its nodes mean.
pub(crate) trait Grammar: Sync {
    fn parser(&self) -> tree_sitter::Language;

    /// What a node defines, if it defines something.
    fn definition<'t>(&self, node: Node<'t>, text: &'t [u8], place: &Place<'_, 't>) -> Option<Found<'t>>;

    /// Adds what a node imports.
    fn imports(&self, node: Node<'_>, text: &[u8], place: &Place<'_, '_>, found: &mut Vec<FoundImport>);

    /// Whether something may stand in a node that matters. It is asked about every node, so what is not known fast is `true`.
    fn holds(&self, _node: Node<'_>, _text: &[u8]) -> bool {
        true
    }

    /// The package or namespace that a node says the file belongs to.
    fn declared(&self, _node: Node<'_>, _text: &[u8], _place: &Place<'_, '_>) -> Option<String> {
        None
    }
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 10] = [
        Language::Rust,
        Language::Python,
        Language::JavaScript,
        Language::TypeScript,
        Language::Tsx,
        Language::Go,
        Language::Java,
        Language::C,
        Language::Cpp,
        Language::CSharp,
    ];

    /// The language of a file by its name. A `.h` is C unless its text says otherwise; see [`Language::of_text`].
    #[must_use]
    pub fn of_path(path: &str) -> Option<Language> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (stem, ending) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        Some(match ending {
            "rs" => Language::Rust,
            "py" | "pyi" => Language::Python,
            "js" | "mjs" | "cjs" | "jsx" => Language::JavaScript,
            "ts" | "mts" | "cts" => Language::TypeScript,
            "tsx" => Language::Tsx,
            "go" => Language::Go,
            "java" => Language::Java,
            "c" | "h" => Language::C,
            "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "inl" | "ipp" => Language::Cpp,
            "cs" => Language::CSharp,
            _ => return None,
        })
    }

    /// The language of a file by its name and text: a `.h` with words of C++ at the beginning of a line is C++.
    #[must_use]
    pub fn of_text(path: &str, text: &[u8]) -> Option<Language> {
        let language = Language::of_path(path)?;
        let is_cpp = || {
            let words: [&[u8]; 6] =
                [b"namespace ", b"class ", b"template", b"public:", b"private:", b"using "];
            text.split(|byte| *byte == b'\n')
                .map(<[u8]>::trim_ascii_start)
                .any(|line| words.iter().any(|word| line.starts_with(word)))
        };
        Some(if language == Language::C && path.ends_with(".h") && is_cpp() {
            Language::Cpp
        } else {
            language
        })
    }

    /// The word for texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Python => "python",
            Language::JavaScript => "javascript",
            Language::TypeScript => "typescript",
            Language::Tsx => "tsx",
            Language::Go => "go",
            Language::Java => "java",
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::CSharp => "csharp",
        }
    }

    /// What stands for the language in a store of this version.
    pub(crate) fn number(self) -> i64 {
        self as i64
    }

    /// The language that a number stands for.
    pub(crate) fn of_number(number: i64) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.number() == number)
    }

    pub(crate) fn grammar(self) -> &'static dyn Grammar {
        match self {
            Language::Rust => &rust::Rust,
            Language::Python => &python::Python,
            Language::JavaScript => &javascript::Dialect::JavaScript,
            Language::TypeScript => &javascript::Dialect::TypeScript,
            Language::Tsx => &javascript::Dialect::Tsx,
            Language::Go => &go::Go,
            Language::Java => &java::Java,
            Language::C => &c::C,
            Language::Cpp => &cpp::Cpp,
            Language::CSharp => &csharp::CSharp,
        }
    }
}

/// The text of a node; what is no UTF-8 is replaced.
fn text_of(node: Node<'_>, text: &[u8]) -> String {
    String::from_utf8_lossy(&text[node.byte_range()]).into_owned()
}

/// The text of a field of a node.
fn field(node: Node<'_>, name: &str, text: &[u8]) -> Option<String> {
    node.child_by_field_name(name).map(|found| text_of(found, text))
}

/// The text of a node that is a quoted string, without its quotes.
fn unquoted(node: Node<'_>, text: &[u8]) -> String {
    text_of(node, text).trim_matches(['"', '\'', '`', '<', '>']).to_owned()
}

/// The named children of a node.
fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.named_children(&mut node.walk()).collect()
}
