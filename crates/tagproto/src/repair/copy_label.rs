//! Label lines of the chat window that were copied with a code block: its language, and "Copy code".

use crate::repair::file_kind::FileKind;

/// Names of languages as chat windows show them above a block.
const LANGUAGES: &[&str] = &[
    "bash",
    "sh",
    "shell",
    "zsh",
    "console",
    "powershell",
    "python",
    "py",
    "javascript",
    "js",
    "jsx",
    "typescript",
    "ts",
    "tsx",
    "json",
    "yaml",
    "yml",
    "toml",
    "html",
    "css",
    "scss",
    "xml",
    "sql",
    "java",
    "kotlin",
    "swift",
    "go",
    "rust",
    "c",
    "cpp",
    "c++",
    "csharp",
    "c#",
    "php",
    "ruby",
    "r",
    "lua",
    "perl",
    "scala",
    "haskell",
    "elixir",
    "dart",
    "makefile",
    "dockerfile",
    "diff",
    "markdown",
    "md",
    "plaintext",
    "text",
    "txt",
    "ini",
    "graphql",
    "vue",
    "svelte",
    "code",
];

const LABELS: [&str; 3] = ["copy code", "copy", "copy to clipboard"];

/// Returns lines without a label at their end, and without the language in front of it.
pub(crate) fn without_label<'l, 'a>(lines: &'l [&'a str]) -> &'l [&'a str] {
    let is_one_of = |line: &str, names: &[&str]| names.contains(&&*line.trim().to_ascii_lowercase());
    match lines {
        [before @ .., language, label] if is_one_of(label, &LABELS) && is_one_of(language, LANGUAGES) => {
            before
        }
        [before @ .., label] if is_one_of(label, &LABELS) => before,
        _ => lines,
    }
}

/// Checks whether a body begins with a language and a label, or with a label that is unambiguous alone.
pub(crate) fn begins(lines: &[&str], file: Option<FileKind>) -> bool {
    let line =
        |index: usize| lines.get(index).map(|line| line.trim().to_ascii_lowercase()).unwrap_or_default();
    let (first, second) = (line(0), line(1));
    if LANGUAGES.contains(&first.as_str()) && LABELS.contains(&second.as_str()) {
        // A Markdown file may hold both lines as text.
        return file != Some(FileKind::Markdown);
    }
    let is_prose = matches!(file, Some(FileKind::Markdown | FileKind::PlainText));
    !is_prose && (first == "copy code" || (first == "copy" && second == "edit"))
}
