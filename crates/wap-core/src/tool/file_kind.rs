//! The kind of a file by its name, for the checks of new lines.

/// The kind of text that a path's last component indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Markdown: fences, citation marks and elisions are content.
    Markdown,
    /// Prose, whose words are not code.
    PlainText,
    /// Python: indentation is significant.
    Python,
    /// A Makefile: tabs are significant.
    Makefile,
    /// Rows whose first column may be a number.
    Table,
    /// YAML, where `1:` is a key.
    Yaml,
    /// Code in a language whose lines do not begin with a number and a bar.
    Code,
    /// Anything else.
    Other,
}

impl FileKind {
    /// Returns the kind that the last component of a path indicates.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
        if matches!(name.as_str(), "makefile" | "gnumakefile" | "bsdmakefile") {
            return Self::Makefile;
        }
        match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
            "md" | "markdown" | "mdown" | "mkd" | "mkdn" | "mdx" | "rmd" | "qmd" => Self::Markdown,
            "txt" | "text" | "rst" | "adoc" | "log" => Self::PlainText,
            "py" | "pyi" | "pyw" => Self::Python,
            "mk" | "mak" => Self::Makefile,
            "tsv" | "tab" | "csv" | "psv" => Self::Table,
            "yaml" | "yml" => Self::Yaml,
            "rs" | "go" | "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "cs" | "java" | "kt" | "kts"
            | "scala" | "swift" | "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue"
            | "svelte" | "rb" | "php" | "pl" | "lua" | "dart" | "ex" | "exs" | "erl" | "zig" | "m" | "mm"
            | "sh" | "bash" | "zsh" | "fish" | "ps1" | "html" | "htm" | "css" | "scss" | "less" | "json"
            | "toml" | "gradle" | "groovy" | "proto" | "tf" | "cmake" => Self::Code,
            _ => Self::Other,
        }
    }

    /// Checks whether the language has no lines that begin with a number and a bar.
    #[must_use]
    pub fn is_code(self) -> bool {
        matches!(self, Self::Code | Self::Python | Self::Makefile)
    }
}
