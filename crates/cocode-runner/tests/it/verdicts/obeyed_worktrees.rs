//! Worktrees with files that would start programs as soon as the user opens them in an editor.

use std::fs;

use cocode_env::AgentState;
use cocode_runner::AgentDefinition;

use crate::fixture::{Fixture, MARKED, agent};

#[test]
fn what_editors_would_obey_in_a_worktree_is_named_when_its_agent_has_ended() {
    let commit = "git add -Af .; git commit -q -m 'cocode ready for check'";
    let cases = [
        // The agent's work, its check, and the files that are named. The first ones are the controls.
        (format!("echo x | tee new CLAUDE.md; {commit}"), "true", vec![]),
        (format!("{MARKED}; rm .mcp.json; mkdir .vscode; echo x > .vscode/extensions.json"), "true", vec![]),
        (format!("mkdir .vscode; echo x > .vscode/tasks.json; {commit}"), "true", vec![".vscode/tasks.json"]),
        (
            format!("{MARKED}; mkdir -p a/.vscode; echo x > a/.vscode/tasks.json"),
            "true",
            vec!["a/.vscode/tasks.json"],
        ),
        (format!("{MARKED}; mkdir .idea; echo x > .idea/workspace.xml"), "true", vec![".idea/workspace.xml"]),
        (
            format!("{MARKED}; git update-index --assume-unchanged .mcp.json; echo x > .mcp.json"),
            "true",
            vec![".mcp.json"],
        ),
        (format!("{MARKED}; mkdir data; ln -s data .claude"), "true", vec![".claude"]),
        (format!("{MARKED}; echo x > editor/settings.json"), "true", vec!["editor/settings.json"]),
        (MARKED.to_owned(), "mkdir .helix; echo x > .helix/languages.toml", vec![".helix/languages.toml"]),
    ];
    for (script, check, names) in cases {
        let fixture = Fixture::new();
        let write = |name: &str, text: &str| fs::write(fixture.repository().join(name), text).unwrap();
        fs::create_dir(fixture.repository().join("editor")).unwrap();
        write(".gitignore", ".idea\n");
        write(".mcp.json", "{}\n");
        write("editor/settings.json", "{}\n");
        std::os::unix::fs::symlink("editor", fixture.repository().join(".zed")).unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "settings"]);
        let record =
            fixture.run_agent(AgentDefinition { check: Some(check.to_owned()), ..agent("a", &script) });
        assert_eq!(record.state, AgentState::Ready, "{script}: {record:?}");
        let warnings: Vec<_> =
            record.warnings.iter().filter(|warning| warning.contains("what other programs obey")).collect();
        assert_eq!(warnings.len(), usize::from(!names.is_empty()), "{script}: {record:?}");
        for name in names {
            assert!(warnings[0].contains(&format!("'{name}'")), "{script}: {warnings:?}");
        }
    }
}
