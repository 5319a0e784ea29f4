//! The text of every error, and the verdicts on names that other programs obey.

use rel_path::{NameError, PathError, ProtectedNames, RelPath};

#[test]
fn every_error_has_a_text_without_the_path() {
    let texts = [
        PathError::Empty.to_string(),
        PathError::Absolute.to_string(),
        PathError::Escape.to_string(),
        PathError::Nul.to_string(),
        PathError::TooLong { bytes: 5000 }.to_string(),
        PathError::TooManyComponents.to_string(),
        PathError::ComponentTooLong { component: 2, bytes: 300 }.to_string(),
        PathError::NotAName.to_string(),
        NameError::NotUtf8.to_string(),
        NameError::Control('\n').to_string(),
        NameError::Bidirectional('\u{202e}').to_string(),
        NameError::ZeroWidth('\u{200b}').to_string(),
        NameError::Backslash.to_string(),
        NameError::Colon.to_string(),
    ];
    insta::assert_snapshot!(texts.join("\n"));
}

/// Renders the verdict of the lists on a path.
fn verdict(names: &ProtectedNames, text: &str) -> String {
    let path = RelPath::parse(text).unwrap();
    match (names.never(&path), names.reported(&path)) {
        (Some(entry), _) => format!("{path}: never changed by {}, {}", entry.pattern(), entry.reason()),
        (None, Some(entry)) => format!("{path}: reported by {}, {}", entry.pattern(), entry.reason()),
        (None, None) => format!("{path}: free"),
    }
}

#[test]
fn a_verdict_names_the_list_the_closest_entry_and_the_reason() {
    let names = ProtectedNames::default();
    let paths = [
        "src/main.rs",
        "Makefile",
        ".git/config",
        "vendor/GIT~1/hooks/pre-commit",
        ".agentd/journal/journal.db",
        ".vscode/tasks.json",
        ".vscode/launch.json",
        ".github/workflows/ci.yml",
        ".github/hooks/x",
        "CLAUDE.md",
        "sub/.envrc",
        ".cargo/config.toml",
    ];
    let verdicts: Vec<String> = paths.iter().map(|path| verdict(&names, path)).collect();
    insta::assert_snapshot!(verdicts.join("\n"));
}
