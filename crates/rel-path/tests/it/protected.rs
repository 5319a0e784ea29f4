//! Protected names and their disguises.

use std::sync::atomic::{AtomicUsize, Ordering};

use rel_path::{FoundName, NameRule, NameSource, ProtectedName, ProtectedNames, RelPath};

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
        ".g\u{fe0f}it/config",
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
        ".vscode/launch.json",
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

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn names_are_on_the_list_of_their_rule() {
    let names = ProtectedNames::default();
    let rule = |text: &str| {
        let path = RelPath::parse(text).unwrap();
        let never = names.never(&path).map(|name| (name.rule(), name.reason()));
        never.or_else(|| names.reported(&path).map(|name| (name.rule(), name.reason())))
    };
    for text in [
        ".cursor/mcp.json",
        "sub/.Cursor/MCP.json",
        ".vscode/mcp.json",
        ".vscode/settings.json",
        "my.code-workspace",
        "MY~1.COD",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".CLAUDE/SETTIN~1.JSO",
        ".zed/settings.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".nvim.lua",
        ".exrc",
        ".hg/hgrc",
        ".clinerules/hooks/PreToolUse",
        ".continue/config.yaml",
        ".iflow/settings.json",
        ".grok/settings.json",
        ".grok/config.toml",
        ".grok/hooks/format.json",
        ".codebuddy/mcp.json",
        ".codebuddy/settings.local.json",
        ".pi/extensions/x.ts",
        "sub/.pi/extensions/x/index.ts",
        ".pi/settings.json",
        ".amp/settings.json",
        ".amp/settings.jsonc",
        ".vibe/config.toml",
        ".vibe/tools/x.py",
        ".lsp/config.edn",
    ] {
        assert_eq!(rule(text).map(|(rule, _)| rule), Some(NameRule::Never), "{text}");
    }
    for text in [
        ".vscode/launch.json",
        ".devcontainer/devcontainer.json",
        ".run/all.run.xml",
        ".claude/commands/x.md",
        ".cursor/rules/x.mdc",
        "CLAUDE.md",
        "sub/agents.MD",
        ".github/workflows/ci.yml",
        ".envrc",
        ".env.local",
        ".husky/pre-commit",
        ".cargo/config.toml",
        ".npmrc",
        ".yarnrc.yml",
        ".pre-commit-config.yaml",
        ".gitattributes",
        ".gitmodules",
        "sub/.lfsconfig",
        "CVS/Root",
        "lib/CVS/Checkin.prog",
        ".fslckout",
        "_FOSSIL_",
        "venv/lib/python3/site-packages/x.pth",
        "rust-toolchain.toml",
        ".overcommit.yml",
        ".git-hooks/pre_commit/x.rb",
        "captainhook.json",
        ".huskyrc",
        ".huskyrc.json",
        ".lintstagedrc.mjs",
        "lint-staged.config.js",
        "prek.toml",
        "hk.pkl",
        ".config/hk.pkl",
        ".pre-commit-config.yml",
        ".config/mise.toml",
        ".config/mise/config.toml",
        ".config/mise/conf.d/x.toml",
        "mise/config.toml",
        "mise/config.local.toml",
        ".mise.local.toml",
        ".rtx.toml",
        ".autoenv.zsh",
        ".autoenv_leave.zsh",
        ".rbenv-vars",
        ".luarc.jsonc",
        ".iflow/commands/x.toml",
        "CODEBUDDY.md",
        ".grok/skills/x/SKILL.md",
        ".pi/prompts/x.md",
        ".amp/notes.md",
        ".vibe/prompts/x.md",
    ] {
        assert_eq!(rule(text).map(|(rule, _)| rule), Some(NameRule::Reported), "{text}");
    }
    for text in [
        "Makefile",
        "package.json",
        "conftest.py",
        "model.pth",
        ".gitignore",
        "settings.json",
        "code-workspace",
        "x.code-workspace.md",
        "docs/CLAUDE.md.txt",
        "mise.rs",
        "src/env.rs",
        "CVS/Entries",
        "src/cvs/root.rs",
        "src/mise/config.rs",
        ".lsp/.cache/db",
        ".config/nextest.toml",
        "prek.rs",
        "pi/extensions/x.ts",
    ] {
        assert_eq!(rule(text), None, "{text}");
    }
    assert!(names.names().all(|name| !name.reason().is_empty()));
    let closest = RelPath::parse(".github/workflows/ci.yml").unwrap();
    assert_eq!(names.reported(&closest).unwrap().pattern(), ".github/workflows");
}

#[test]
fn the_entry_that_protects_a_path_may_be_one_of_some() {
    let mut names = ProtectedNames::new(["inner"]);
    names.set("outer", NameRule::Never, "ours");
    names.set("seen", NameRule::Reported, "theirs");
    let path = RelPath::parse("outer/inner/seen").unwrap();
    let among = |patterns: &[&str]| {
        let entry = names.never_among(&path, &|name| patterns.contains(&name.pattern()));
        entry.map(|name| name.pattern().to_owned())
    };
    assert_eq!(among(&["outer", "seen"]).as_deref(), Some("outer"));
    assert_eq!(among(&["inner", "seen"]).as_deref(), Some("inner"));
    assert_eq!(among(&["seen"]), None, "a reported name protects nothing");
    assert_eq!(among(&[]), None);
}

#[test]
fn entries_move_between_the_lists() {
    let mut names = ProtectedNames::default();
    let path = |text: &str| RelPath::parse(text).unwrap();
    assert!(names.change(".IDEA", NameRule::Reported) && !names.change("no such name", NameRule::Reported));
    assert!(names.reported(&path(".idea/x")).is_some() && !names.protects(&path(".idea/x")));
    assert!(names.remove(".envrc") && !names.remove(".envrc"));
    assert!(names.reported(&path(".envrc")).is_none());
    names.set("ci/*.yml", NameRule::Never, "ours");
    names.set(".github", NameRule::Never, "ours");
    assert_eq!(names.never(&path("ci/deploy.yml")).unwrap().reason(), "ours");
    // A name that is never changed is not reported too.
    assert!(names.reported(&path(".github/workflows/x")).is_none());
    assert_eq!(names.entry(".GitHub").unwrap().rule(), NameRule::Never);
}

#[test]
fn the_closest_entry_decides_and_of_several_the_first() {
    let by = |entries: &[&str], text: &str| {
        let names = ProtectedNames::new(entries.iter().copied());
        names.protected_by(&RelPath::parse(text).unwrap()).map(str::to_owned)
    };
    assert_eq!(by(&["a", "a/b"], "a/b/c").as_deref(), Some("a/b"));
    assert_eq!(by(&["a/b", "a"], "a/b/c").as_deref(), Some("a/b"));
    assert_eq!(by(&["a/b", "a"], "a/c").as_deref(), Some("a"));
    assert_eq!(by(&["ab", "a*"], "ab").as_deref(), Some("ab"));
    assert_eq!(by(&["a*", "*b"], "ab").as_deref(), Some("a*"));
}

#[test]
fn entries_are_listed_and_looked_up_in_any_spelling() {
    let names = ProtectedNames::new(["ci/Deploy.yml", "secrets"]);
    assert_eq!(names.names().map(ProtectedName::pattern).collect::<Vec<_>>(), ["ci/Deploy.yml", "secrets"]);
    assert_eq!(names.entry("CI//deploy.YML").map(ProtectedName::pattern), Some("ci/Deploy.yml"));
    assert_eq!(names.entry("secret"), None);
}

#[test]
fn a_pattern_matches_whole_names_only() {
    let names = ProtectedNames::new(["a*b*b"]);
    for (name, is_protected) in
        [("abb", true), ("axbyb", true), ("axb", false), ("ab", false), ("xabb", false)]
    {
        assert_eq!(protects(&names, name), is_protected, "{name}");
    }
}

#[test]
fn a_short_form_belongs_to_a_name_that_needs_one() {
    for (entry, short, is_protected) in [
        ("abcdefghi.txt", "ABCDEF~1.TXT", true),
        // It is a short name itself.
        ("abcdefgh.txt", "ABCDEF~1.TXT", false),
        ("abc.text", "ABC~1.TEX", true),
        ("abc.txt", "ABC~1.TXT", false),
        (".abc", "ABC~1", true),
        ("ab*.x", "AB~1.X", true),
        ("abcdefghi.txt", "ABCDEF~0.TXT", false),
        ("abcdefghi.txt", "ABCDEF~12.TXT", false),
        ("abcdefghi.txt", "ABCDE~1.TXT", false),
    ] {
        assert_eq!(protects(&ProtectedNames::new([entry]), short), is_protected, "{entry} {short}");
    }
}

/// A source that finds one path on the first call, another with the same text on the second, and nothing later.
#[derive(Debug, Default)]
struct Source(AtomicUsize);

impl NameSource for Source {
    fn look(&self) -> Vec<FoundName> {
        let look = self.0.fetch_add(1, Ordering::Relaxed);
        let name = |path: &str, rule, is_at_any_depth| FoundName {
            path: RelPath::parse(path).unwrap(),
            rule,
            reason: format!("look {look}"),
            is_at_any_depth,
        };
        match look {
            0 => vec![
                name("Tools/run", NameRule::Reported, false),
                name("hooks", NameRule::Reported, true),
                name("scripts/hooks", NameRule::Reported, true),
            ],
            1 => vec![name("tools/run", NameRule::Never, false)],
            _ => Vec::new(),
        }
    }
}

#[test]
fn found_entries_count_at_their_location_and_stay() {
    let names = ProtectedNames::default().with_found(Source::default());
    let clone = names.clone();
    let path = |text: &str| RelPath::parse(text).unwrap();
    let reason =
        |names: &ProtectedNames, text: &str| names.reported(&path(text)).map(|name| name.reason().to_owned());
    assert_eq!(reason(&names, "tools/RUN/x").as_deref(), Some("look 0"));
    assert_eq!(reason(&names, "sub/tools/run"), None);
    assert_eq!(reason(&names, "sub/hooks/x").as_deref(), Some("look 0"));
    assert!(!names.protects(&path("tools/run")) && names.protects(&path(".git")));
    names.look_again();
    assert_eq!(clone.never(&path("tools/run")).map(|name| name.pattern()), Some("./tools/run"));
    assert!(!clone.protects(&path("tools")) && clone.found_at_or_beneath(&path("tools")).is_some());
    for at_or_above in ["scripts", "sub/scripts", "a/b/scripts/hooks", "sub/hooks"] {
        assert!(clone.found_at_or_beneath(&path(at_or_above)).is_some(), "{at_or_above}");
    }
    for elsewhere in ["tools/runner", "sub/tools", "scripts/sub", "sub/run"] {
        assert!(clone.found_at_or_beneath(&path(elsewhere)).is_none(), "{elsewhere}");
    }
    names.look_again();
    assert!(names.protects(&path("tools/run")) && names == clone);
    assert_ne!(names, ProtectedNames::default());
}
