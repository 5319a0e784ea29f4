//! Prompts, and the completion of their arguments.

use serde_json::json;

use super::client::{completions, listed, older, prompt, write};
use crate::fixture::project::Project;

#[test]
fn prompts_in_a_workspace_without_work_say_so() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    let list = client.does("prompts/list", json!({}));
    let names: Vec<_> =
        list["prompts"].as_array().unwrap().iter().map(|prompt| prompt["name"].clone()).collect();
    assert_eq!(names, ["review-changes", "explain-failure", "undo-last", "continue-session"]);
    for name in names {
        let text = prompt(&mut client, name.as_str().unwrap(), json!({}));
        assert!(text.ends_with("Say so."), "{text}");
    }
}

#[test]
fn a_review_is_of_the_last_change_or_of_the_run_that_is_named() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    write(&mut client, "first.txt", "first\n");
    write(&mut client, "second.txt", "second\n");
    let last = prompt(&mut client, "review-changes", json!({}));
    assert!(last.contains("+second") && !last.contains("+first"), "{last}");
    let runs = completions(&mut client, "review-changes", "run", "");
    assert_eq!(runs.len(), 2, "{runs:?}");
    let older = prompt(&mut client, "review-changes", json!({ "run": runs[1], "path": "first.txt" }));
    assert!(older.contains("+first") && older.contains("only the file \"first.txt\""), "{older}");
}

#[test]
fn the_last_failed_command_is_explained_with_its_output() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    for command in ["echo the cause >&2; exit 3", "true"] {
        client.does("tools/call", json!({ "name": "executeCommand", "arguments": { "command": command } }));
    }
    let text = prompt(&mut client, "explain-failure", json!({}));
    assert!(text.contains("Exit code 3.") && text.contains("Standard error:\nthe cause"), "{text}");
}

#[test]
fn an_undo_names_the_tool_only_if_it_is_offered() {
    let project = Project::new();
    for (options, way) in
        [(&[][..], "`agentd undo` in a terminal"), (&["--tools", "undo"][..], "with the tool undo")]
    {
        let mut client = older(&project, options);
        write(&mut client, "a.txt", &format!("{way}\n"));
        let text = prompt(&mut client, "undo-last", json!({}));
        assert!(text.contains(way) && text.contains(&format!("+{way}")), "{text}");
    }
}

#[test]
fn another_client_continues_the_work() {
    let project = Project::new();
    let mut first = older(&project, &[]);
    write(&mut first, "begun.txt", "begun\n");
    let mut second = older(&project, &[]);
    assert_eq!(listed(&mut second).len(), 1);
    let text = prompt(&mut second, "continue-session", json!({}));
    assert!(text.contains("+begun"), "{text}");
    let names = completions(&mut second, "continue-session", "conversation", "mcp-");
    assert_eq!(names.len(), 1, "{names:?}");
    let named = prompt(&mut second, "continue-session", json!({ "conversation": names[0] }));
    assert_eq!(named, text);
}

#[test]
fn work_that_is_very_much_is_cut_and_says_so() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    let command = "for n in $(seq 100); do yes word | head -c 60000 > file$n.txt; done";
    super::client::tool(&mut client, "executeCommand", json!({ "command": command }));
    let mut other = older(&project, &[]);
    let work = prompt(&mut other, "continue-session", json!({}));
    assert!(work.contains("Not shown, because they are long") && work.contains("file1.txt"), "{work}");
    assert!(work.contains("more paths, which are not named here"), "{work}");
}
