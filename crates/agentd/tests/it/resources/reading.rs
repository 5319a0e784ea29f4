//! Lists, and the contents of resources.

use serde_json::json;

use super::client::{bare, listed, newer, older, read, tool, write};
use crate::fixture::project::Project;

#[test]
fn a_run_is_read_as_the_difference_that_it_made() {
    let project = Project::new();
    project.write("a.txt", "one\ntwo\n");
    let mut client = older(&project, &[]);
    assert_eq!(listed(&mut client), Vec::<String>::new());
    write(&mut client, "a.txt", "one\nTWO\n");
    let names = listed(&mut client);
    assert_eq!(names.len(), 1, "{names:?}");
    let text = read(&mut client, &names[0]);
    assert_eq!(text, "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n");
}

#[test]
fn the_newer_era_reads_the_same_without_a_handshake() {
    let project = Project::new();
    let mut client = bare(&project, &[]);
    let call = json!({ "name": "writeFile", "arguments": { "path": "new.txt", "content": "new\n" } });
    client.does("tools/call", newer(call));
    let list = client.does("resources/list", newer(json!({})));
    let uri = list["resources"][0]["uri"].clone();
    let read = client.does("resources/read", newer(json!({ "uri": uri })));
    assert!(read["contents"][0]["text"].as_str().unwrap().ends_with("+new\n"), "{read}");
    let missing = client.ask("resources/read", newer(json!({ "uri": "agentd://run/999" })));
    assert_eq!(missing["error"]["code"], -32_602, "{missing}");
}

#[test]
fn a_long_difference_is_read_in_pages_that_join_to_the_whole() {
    let project = Project::new();
    let mut client = older(&project, &["--page", "1000"]);
    let content: String = (0..500).map(|number| format!("line {number}\n")).collect();
    write(&mut client, "long.txt", &content);
    let mut uri = listed(&mut client).remove(0);
    let mut whole = String::new();
    loop {
        let page = read(&mut client, &uri);
        assert!(page.len() < 1_200, "{}", page.len());
        let Some((lines, note)) = page.rsplit_once("[lines ") else {
            whole.push_str(&page);
            break;
        };
        whole.push_str(lines);
        uri = note.trim_end().strip_suffix(']').unwrap().split("go on with ").last().unwrap().to_owned();
    }
    let added: String =
        whole.lines().skip(3).map(|line| format!("{}\n", line.strip_prefix('+').unwrap())).collect();
    assert_eq!(added, content);
}

#[test]
fn an_output_is_read_by_the_name_that_its_answer_gives() {
    let project = Project::new();
    let mut client = older(&project, &["--page", "1000"]);
    let text = tool(&mut client, "executeCommand", json!({ "command": "seq 1 1000" }));
    let name = text.split("@output/").nth(1).unwrap_or_else(|| panic!("no name: {text}"));
    let name = name.split('"').next().unwrap();
    let page = read(&mut client, &format!("agentd://output/{name}?line=990"));
    assert!(page.starts_with("990\n991\n") && page.ends_with("1000\n"), "{page}");
}

#[test]
fn secrets_stay_placeholders_and_files_with_credentials_are_only_named() {
    let project = Project::new();
    let secret = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    project.write("config.txt", &format!("token = \"{secret}\"\nold\n"));
    project.write(".env", "PASSWORD=hunter2hunter2\n");
    let mut client = older(&project, &[]);
    let command = "sed -i s/old/new/ config.txt; echo MORE=1 >> .env; cat config.txt; false";
    let ran =
        client.does("tools/call", json!({ "name": "executeCommand", "arguments": { "command": command } }));
    assert!(ran.to_string().contains("exit code 1"), "{ran}");
    for uri in listed(&mut client) {
        let text = read(&mut client, &uri);
        assert!(text.contains("+new") && text.contains("⟦secret:"), "{text}");
        assert!(text.contains(".env: its content is left out"), "{text}");
        assert!(!text.contains(&secret) && !text.contains("hunter2"), "{text}");
    }
    for name in ["explain-failure", "review-changes"] {
        let prompt = client.does("prompts/get", json!({ "name": name })).to_string();
        assert!(prompt.contains("⟦secret:"), "{prompt}");
        assert!(!prompt.contains(&secret) && !prompt.contains("hunter2"), "{prompt}");
    }
    let mut other = older(&project, &[]);
    let prompt = other.does("prompts/get", json!({ "name": "continue-session" })).to_string();
    assert!(
        prompt.contains("sed -i") && !prompt.contains(&secret) && !prompt.contains("hunter2"),
        "{prompt}"
    );
}

#[test]
fn a_run_that_has_changed_very_much_is_cut_and_says_so() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    let command = "for n in $(seq 40); do yes $n | head -c 400000 > big$n.txt; done";
    tool(&mut client, "executeCommand", json!({ "command": command }));
    let uri = listed(&mut client).remove(0);
    let first = read(&mut client, &uri);
    let total = first.rsplit("lines ").next().unwrap().split(' ').next().unwrap().split('-').nth(1).unwrap();
    let last = read(&mut client, &format!("{uri}?line={total}"));
    assert!(last.contains("more paths were changed, which are left out"), "{last}");
    // The control: a small run is whole.
    tool(&mut client, "executeCommand", json!({ "command": "echo one > small.txt" }));
    let uri = listed(&mut client).remove(0);
    assert!(!read(&mut client, &uri).contains("left out"));
}
