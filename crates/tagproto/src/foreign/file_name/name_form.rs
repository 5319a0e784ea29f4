//! The forms of words that name files.

/// Words with a dot or a slash that do not name a file.
pub(super) const NO_PATHS: [&str; 13] = [
    "e.g",
    "i.e",
    "and/or",
    "either/or",
    "i/o",
    "input/output",
    "n/a",
    "on/off",
    "read/write",
    "todo/fixme",
    "true/false",
    "w/o",
    "yes/no",
];

/// Products whose names look like those of files.
const PRODUCTS: [&str; 6] = ["node.js", "next.js", "vue.js", "nuxt.js", "express.js", "three.js"];

/// Extensions of the files that replies are about.
pub(super) const EXTENSIONS: [&str; 96] = [
    "adoc", "astro", "bzl", "cabal", "fish", "gql", "j2", "jsonc", "ksh", "nim", "ps1xml", "psm1", "pug",
    "r", "rkt", "sol", "styl", "tmpl", "bash", "bat", "c", "cc", "cfg", "cjs", "clj", "cmake", "conf", "cpp",
    "cs", "css", "csv", "dart", "ejs", "elm", "erb", "erl", "ex", "exs", "fs", "go", "gradle", "graphql",
    "groovy", "h", "hbs", "hpp", "hs", "htm", "html", "ini", "ipynb", "java", "jl", "js", "json", "jsx",
    "kt", "kts", "less", "lua", "md", "mdx", "mjs", "ml", "mts", "nix", "php", "pl", "proto", "ps1", "py",
    "pyi", "rb", "rs", "rst", "sass", "scala", "scss", "sh", "sql", "svelte", "svg", "swift", "tex", "tf",
    "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig", "zsh", "lock",
];

/// Checks whether a word has the form of a path: a slash, or a dot before an extension.
pub(in crate::foreign) fn is_path_like(word: &str) -> bool {
    let is_extension = |text: &str| text.starts_with(char::is_alphabetic);
    let has_form = word.contains('/') || word.rsplit_once('.').is_some_and(|(_, end)| is_extension(end));
    let is_code = word.contains(['(', '=']) || word.starts_with("self.") || word.starts_with("this.");
    has_form && !is_code && !NO_PATHS.iter().chain(&PRODUCTS).any(|other| word.eq_ignore_ascii_case(other))
}

/// Checks whether a word of prose names a file. With a folder, it needs an extension unless it is in backticks (`is_code`);
/// without a folder, it needs a usual extension or that of `current`. Other words have dots and slashes, too: os.path,
/// read/write.
pub(in crate::foreign) fn is_file_name(word: &str, current: &str, is_code: bool) -> bool {
    let extension = |path: &str| {
        let name = path.rsplit('/').next()?;
        name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
    };
    let is_usual = |wanted: &String| {
        EXTENSIONS.contains(&wanted.as_str()) || extension(current).as_ref() == Some(wanted)
    };
    is_path_like(word)
        && !word.contains("://")
        && (is_code && word.contains('/')
            || extension(word).is_some_and(|wanted| word.contains('/') || is_usual(&wanted)))
}

/// Checks whether a word is a usual file name without an extension: Makefile, LICENSE.
pub(in crate::foreign) fn is_usual_name(word: &str) -> bool {
    let is_word = |stem: &str| stem.chars().all(char::is_alphabetic) && !stem.is_empty();
    let is_file_word = |word: &str| {
        word.strip_suffix("file").is_some_and(|stem| is_word(stem) && stem.starts_with(char::is_uppercase))
    };
    // Dockerfile.dev, Makefile.am.
    let is_variant = || word.split_once('.').is_some_and(|(stem, kind)| is_file_word(stem) && is_word(kind));
    let is_dot_file = || {
        word.strip_prefix('.').is_some_and(|name| {
            let has_form = name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
            has_form && (name.ends_with("ignore") || name.ends_with("rc") || name.starts_with("env"))
                || ["editorconfig", "gitattributes", "gitmodules"].contains(&name)
        })
    };
    USUAL_NAMES.contains(&word) || is_file_word(word) || is_variant() || is_dot_file()
}

/// File names without an extension, or with an extension that other words have too.
const USUAL_NAMES: [&str; 7] = ["makefile", "README", "LICENSE", "CHANGELOG", "go.mod", "go.sum", "go.work"];

/// Usual names that are not words of prose.
pub(super) const UNMISTAKABLE_NAMES: [&str; 3] = ["Dockerfile", "Makefile", "Jenkinsfile"];

/// Further such names that are also words of prose: they only count as a whole line.
pub(super) const WORD_NAMES: [&str; 10] = [
    "configure",
    "gradlew",
    "mvnw",
    "BUILD",
    "WORKSPACE",
    "VERSION",
    "NOTICE",
    "AUTHORS",
    "COPYING",
    "CODEOWNERS",
];
