//! Protected names and their disguises.

use rel_path::{ProtectedNames, RelPath};

fn protects(names: &ProtectedNames, text: &str) -> bool {
    names.protects(&RelPath::parse(text).unwrap())
}

#[test]
fn every_spelling_of_a_protected_name_is_protected() {
    let names = ProtectedNames::default();
    for text in [
        ".git",
        ".git/config",
        ".git/hooks/pre-commit",
        "vendor/lib/.git/config",
        ".GIT/config",
        ".Git",
        ".git./config",
        ".git /config",
        ".git. . ./config",
        "GIT~1/config",
        "git~2",
        ".git::$INDEX_ALLOCATION/config",
        ".g\u{200b}it/config",
        ".git\\config",
        ".agentd/session.json",
        "AGENTD~1/x",
        ".vscode/tasks.json",
        ".vscode/TASKS.JSON",
        "VSCODE~1/tasks.json",
        ".vscode/TASKS~1.JSO",
        "sub/.vscode/tasks.json/x",
        ".idea/workspace.xml",
        ".mcp.json",
        "MCP~1.JSO",
        ".v\u{17f}code/tasks.json",
    ] {
        assert!(protects(&names, text), "{text}");
    }
}

#[test]
fn similar_names_are_not_protected() {
    let names = ProtectedNames::default();
    for text in [
        ".gitignore",
        ".gitmodules",
        "git",
        "agit/.github/workflows/ci.yml",
        ".vscode",
        ".vscode/settings.json",
        "tasks.json",
        ".vscode/sub/tasks.json",
        "mcp.json",
        "x.git",
        "GIT~12",
        "config",
        "..git",
        ".",
    ] {
        assert!(!protects(&names, text), "{text}");
    }
}

#[test]
fn the_list_can_be_replaced_extended_and_emptied() {
    let mut names = ProtectedNames::new(["ci/deploy.yml", "", "/"]);
    assert!(protects(&names, "CI/deploy.yml"));
    assert!(!protects(&names, ".git/config"));
    names.add("secrets");
    assert!(protects(&names, "a/Secrets/key"));
    assert_eq!(names.entries().collect::<Vec<_>>(), ["ci/deploy.yml", "secrets"]);
    assert!(!protects(&ProtectedNames::none(), ".git/config"));
}

#[test]
fn the_answer_names_the_entry() {
    let names = ProtectedNames::default();
    let path = RelPath::parse("a/.GIT/config").unwrap();
    assert_eq!(names.protected_by(&path), Some(".git"));
}
