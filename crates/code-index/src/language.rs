//! The languages whose files are parsed, one module each.
//!
//! A language is a [`Grammar`]: a parser, and the meaning of its nodes as definitions and imports. `resolve` maps
//! imports to files.

mod c;
mod cpp;
mod csharp;
mod go;
mod interpreter;
mod java;
mod javascript;
#[cfg(feature = "more-languages")]
mod more;
mod python;
mod rust;

use tree_sitter::Node;

use crate::outline::{DefinitionNode, EnclosingScopes, ImportNode};

/// Defines [`Language`] from one row for each language: its name, its grammar and the endings of its files.
///
/// The order of the rows determines the numbers in the store.
macro_rules! languages {
    ($(
        $(#[cfg($condition:meta)])?
        #[doc = $doc:literal]
        $variant:ident: $name:literal, $grammar:expr, [$($ending:literal),*];
    )*) => {
        /// A language whose files are parsed. Files of any other kind are indexed by their words only.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Language {
            $(
                $(#[cfg($condition)])?
                #[doc = $doc]
                $variant,
            )*
        }

        impl Language {
            /// Every language of this build.
            pub const ALL: &'static [Language] = &[
                $(
                    $(#[cfg($condition)])?
                    Language::$variant,
                )*
            ];

            /// Returns the language of an ending, given without its dot.
            fn of_ending(ending: &str) -> Option<Language> {
                match ending {
                    $(
                        $(#[cfg($condition)])?
                        $($ending)|* => Some(Language::$variant),
                    )*
                    _ => None,
                }
            }

            /// Returns the name in lower case.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(
                        $(#[cfg($condition)])?
                        Language::$variant => $name,
                    )*
                }
            }

            pub(crate) fn grammar(self) -> &'static dyn Grammar {
                match self {
                    $(
                        $(#[cfg($condition)])?
                        Language::$variant => &$grammar,
                    )*
                }
            }
        }
    };
}

languages! {
    /// Rust.
    Rust: "rust", rust::Rust, ["rs"];
    /// Python.
    Python: "python", python::Python, ["py", "pyi"];
    /// JavaScript, with JSX.
    JavaScript: "javascript", javascript::Dialect::JavaScript, ["js", "mjs", "cjs", "jsx"];
    /// TypeScript.
    TypeScript: "typescript", javascript::Dialect::TypeScript, ["ts", "mts", "cts"];
    /// TypeScript with JSX.
    Tsx: "tsx", javascript::Dialect::Tsx, ["tsx"];
    /// Go.
    Go: "go", go::Go, ["go"];
    /// Java.
    Java: "java", java::Java, ["java"];
    /// C.
    C: "c", c::C, ["c", "h"];
    /// C++.
    Cpp: "cpp", cpp::Cpp, ["cc", "cpp", "cxx", "hh", "hpp", "hxx", "inl", "ipp"];
    /// C#.
    CSharp: "csharp", csharp::CSharp, ["cs"];
    #[cfg(feature = "more-languages")]
    /// Bash, and similar shells.
    Bash: "bash", more::bash::Bash, ["sh", "bash", "bats"];
    #[cfg(feature = "more-languages")]
    /// Dart.
    Dart: "dart", more::dart::Dart, ["dart"];
    #[cfg(feature = "more-languages")]
    /// Elixir.
    Elixir: "elixir", more::elixir::Elixir, ["ex", "exs"];
    #[cfg(feature = "more-languages")]
    /// Erlang.
    Erlang: "erlang", more::erlang::Erlang, ["erl", "hrl"];
    #[cfg(feature = "more-languages")]
    /// Lua.
    Lua: "lua", more::lua::Lua, ["lua"];
    #[cfg(feature = "more-languages")]
    /// PHP.
    Php: "php", more::php::Php, ["php"];
    #[cfg(feature = "more-languages")]
    /// PowerShell.
    PowerShell: "powershell", more::powershell::PowerShell, ["ps1", "psm1"];
    #[cfg(feature = "more-languages")]
    /// R.
    R: "r", more::r::R, ["r", "R"];
    #[cfg(feature = "more-languages")]
    /// Ruby.
    Ruby: "ruby", more::ruby::Ruby, ["rb", "rake", "gemspec"];
    #[cfg(feature = "more-languages")]
    /// Zig.
    Zig: "zig", more::zig::Zig, ["zig"];
}

/// The parser of a language and the meaning of its nodes.
pub(crate) trait Grammar: Sync {
    fn parser(&self) -> tree_sitter::Language;

    /// Returns the definition that a node introduces, if any.
    fn definition<'t>(
        &self,
        node: Node<'t>,
        text: &'t [u8],
        scopes: &EnclosingScopes<'_, 't>,
    ) -> Option<DefinitionNode<'t>>;

    /// Appends the imports of a node.
    fn imports(
        &self,
        node: Node<'_>,
        text: &[u8],
        scopes: &EnclosingScopes<'_, '_>,
        imports: &mut Vec<ImportNode>,
    );

    /// Returns false if a node certainly contains no definition and no import. Called for every node, so it must
    /// be cheap; `true` is always correct.
    fn holds(&self, _node: Node<'_>, _text: &[u8]) -> bool {
        true
    }

    /// Returns false if the parser reports errors in valid files, so that its errors are not worth a note.
    fn is_exact(&self) -> bool {
        true
    }

    /// Returns the package or namespace that a node declares for the file.
    fn declared(&self, _node: Node<'_>, _text: &[u8], _scopes: &EnclosingScopes<'_, '_>) -> Option<String> {
        None
    }
}

impl Language {
    /// Returns the language of a file by its name. A `.h` is C unless its text indicates C++; see [`Language::of_text`].
    #[must_use]
    pub fn of_path(path: &str) -> Option<Language> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (stem, ending) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        Language::of_ending(ending)
    }

    /// Returns the language of a file by its name and text: a `.h` with a line that begins with a C++ keyword is C++, and a file
    /// without an extension is in the language of the interpreter on its first line.
    #[must_use]
    pub fn of_text(path: &str, text: &[u8]) -> Option<Language> {
        let has_ending = path.rsplit('/').next().unwrap_or(path).contains('.');
        if !has_ending {
            return interpreter::ending(text).and_then(Language::of_ending);
        }
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

    /// Returns the number of the language in a store of this version.
    pub(crate) fn number(self) -> i64 {
        self as i64
    }

    /// Returns the language with this number in the store.
    pub(crate) fn of_number(number: i64) -> Option<Language> {
        Language::ALL.iter().copied().find(|language| language.number() == number)
    }
}

/// Returns the text of a node, with invalid UTF-8 replaced.
fn text_of(node: Node<'_>, text: &[u8]) -> String {
    String::from_utf8_lossy(&text[node.byte_range()]).into_owned()
}

/// Returns the text of a field of a node.
fn field(node: Node<'_>, name: &str, text: &[u8]) -> Option<String> {
    node.child_by_field_name(name).map(|child| text_of(child, text))
}

/// Returns the text of a string literal without its quotes.
fn unquoted(node: Node<'_>, text: &[u8]) -> String {
    text_of(node, text).trim_matches(['"', '\'', '`', '<', '>']).to_owned()
}

/// Returns the named children of a node.
fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.named_children(&mut node.walk()).collect()
}
