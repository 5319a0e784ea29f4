//! Bad names of resources, and requests with bad values.

use serde_json::json;

use super::client::{completions, older, write};
use crate::fixture::project::Project;

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let project = Project::new();
    project.write("secret.txt", "content\n");
    let mut client = older(&project, &[]);
    write(&mut client, "a.txt", "a\n");
    for uri in [
        "agentd://output/../../secret.txt",
        "agentd://output/..",
        "agentd://output/%2e%2e%2fsecret.txt",
        "agentd://output/a/b",
        "agentd://output/",
        "agentd://process/../a",
        "agentd://run/0",
        "agentd://run/-1",
        "agentd://run/01",
        "agentd://run/99999999999999999999999",
        "agentd://run/999",
        "agentd://review/1",
        "agentd://output/1-2.txt",
        "agentd://output/recent-0",
        "agentd://process/none",
        "agentd://other/1",
        "agentd://run/1?line=0",
        "agentd://run/1?line=x",
        "file:///etc/passwd",
        "",
    ] {
        let answer = client.ask("resources/read", json!({ "uri": uri }));
        assert_eq!(answer["error"]["code"], -32_002, "{uri}: {answer}");
        assert!(!answer.to_string().contains("content"), "{answer}");
    }
    let past = client.ask("resources/read", json!({ "uri": "agentd://run/1?line=999" }));
    assert_eq!(past["error"]["code"], -32_602, "{past}");
    let long =
        client.ask("resources/read", json!({ "uri": format!("agentd://output/{}", "a".repeat(100_000)) }));
    assert!(long["error"]["code"] == -32_002 && long.to_string().len() < 2_000, "{long}");
    let cursor = client.ask("resources/list", json!({ "cursor": "../1" }));
    assert_eq!(cursor["error"]["code"], -32_602, "{cursor}");
}

#[test]
fn unknown_prompts_and_arguments_are_errors() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    for params in [
        json!({ "name": "none" }),
        json!({ "name": "" }),
        json!({ "name": "x".repeat(100_000) }),
        json!({ "name": "undo-last", "arguments": { "run": "1" } }),
        json!({ "name": "review-changes", "arguments": { "run": "../1" } }),
        json!({ "name": "review-changes", "arguments": { "run": 1 } }),
        json!({ "name": "review-changes", "arguments": { "path": "x".repeat(100_000) } }),
        json!({ "name": "continue-session", "arguments": { "conversation": "../../etc" } }),
    ] {
        let answer = client.ask("prompts/get", params.clone());
        assert_eq!(answer["error"]["code"], -32_602, "{answer}");
        assert!(answer.to_string().len() < 1_000, "{answer}");
    }
}

#[test]
fn hostile_beginnings_complete_to_nothing() {
    let project = Project::new();
    project.write("src/a.rs", "a\n").write("src/b.rs", "b\n").write(".env", "TOKEN=hunter2hunter2\n");
    let mut client = older(&project, &[]);
    let paths = |client: &mut _, begun: &str| completions(client, "review-changes", "path", begun);
    assert_eq!(paths(&mut client, "src/"), ["src/a.rs", "src/b.rs"]);
    assert_eq!(paths(&mut client, "sr"), ["src/"]);
    for begun in ["../", "src/../../", "/etc/", "/", "~", "\0", "*", ".agentd/", "src/\u{202e}", "none/"] {
        assert_eq!(paths(&mut client, begun), Vec::<String>::new(), "{begun:?}");
    }
    assert_eq!(paths(&mut client, &"a/".repeat(500_000)), Vec::<String>::new());
    for value in ["'; DROP TABLE runs; --", "%", "-1", ""] {
        assert_eq!(completions(&mut client, "review-changes", "run", value), Vec::<String>::new(), "{value}");
    }
    let unknown =
        json!({ "ref": { "type": "ref/prompt", "name": "none" }, "argument": { "name": "a", "value": "" } });
    let answer = client.ask("completion/complete", unknown);
    assert_eq!(answer["error"]["code"], -32_602, "{answer}");
}
