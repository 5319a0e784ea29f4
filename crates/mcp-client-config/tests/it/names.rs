//! Each folder of a user has a unique name in a client's file.

use std::fs;
use std::path::Path;

use mcp_client_config::{
    McpClient, Placed, Server, entry_name_in, entry_name_in_file, put_server, with_entry,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::parsed;

/// The clients with one file for all projects of a user.
fn of_users() -> Vec<McpClient> {
    McpClient::ALL.iter().copied().filter(|client| !client.is_of_project()).collect()
}

fn server(workspace: &str) -> Server {
    let arguments = ["mcp", "--workspace", workspace].map(str::to_owned).to_vec();
    Server { program: "/bin/agentd".to_owned(), arguments }
}

/// Puts the server of a folder into a text; returns its name and the new text.
fn put(client: McpClient, text: &str, workspace: &str) -> (String, String) {
    let name = entry_name_in(client, text, "agentd", Path::new(workspace)).unwrap();
    let changed = with_entry(client, text, &name, &client.entry(&name, &server(workspace))).unwrap();
    (name, changed.unwrap_or_else(|| text.to_owned()))
}

#[test]
fn a_second_folder_of_a_name_does_not_replace_the_first() {
    for client in of_users() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings");
        let put = |workspace: &str| {
            let workspace_path = Path::new(workspace);
            let expected = entry_name_in_file(client, workspace_path, &file, "agentd").unwrap();
            let put = put_server(client, workspace_path, &file, "agentd", &server(workspace), &[]).unwrap();
            assert_eq!(put.name, expected);
            assert_eq!(put.entry, client.entry(&put.name, &server(workspace)));
            (put.name, put.placed)
        };
        let name = |name: &str| name.to_owned();
        use Placed::{Changed, Created, Unchanged};
        assert_eq!(put("/u/a/api"), (name("agentd-api"), Created));
        assert_eq!(put("/u/b/api"), (name("agentd-api-aa48cbda"), Changed));
        assert_eq!(put("/u/a/api"), (name("agentd-api"), Unchanged));
        assert_eq!(put("/u/b/api"), (name("agentd-api-aa48cbda"), Unchanged));
        // Another name, with letters that are not in the entry's name.
        assert_eq!(put("/u/проект"), (name("agentd-------"), Changed));
        assert_eq!(put("/u/журнал"), (name("agentd--------3bb44007"), Changed));
        let text = fs::read_to_string(&file).unwrap();
        for workspace in ["/u/a/api", "/u/b/api", "/u/проект", "/u/журнал"] {
            assert_eq!(text.matches(&format!("\"{workspace}\"")).count(), 1, "{client:?}:\n{text}");
        }
    }
}

#[test]
fn a_name_stays_when_the_usual_one_is_free_again() {
    let client = McpClient::Zed;
    let (_, both) = put(client, &put(client, "", "/u/a/api").1, "/u/b/api");
    let mut settings = parsed(client, &both);
    assert!(settings["context_servers"].as_object_mut().unwrap().remove("agentd-api").is_some());
    let (name, after) = put(client, &settings.to_string(), "/u/b/api");
    assert_eq!(name, "agentd-api-aa48cbda");
    assert_eq!(parsed(client, &after), settings);
    // Without that entry, it has the usual name.
    settings["context_servers"] = json!({});
    assert_eq!(put(client, &settings.to_string(), "/u/b/api").0, "agentd-api");
}

#[test]
fn an_entry_belongs_to_the_folder_that_it_names() {
    let name = |entry| {
        let text = json!({ "mcpServers": { "agentd-api": entry } }).to_string();
        entry_name_in(McpClient::Cline, &text, "agentd", Path::new("/u/a/api")).unwrap()
    };
    for own in [
        json!({ "args": ["--workspace", "/u/a/api"] }),
        json!({ "args": ["--workspace=/u/a/api/"] }),
        json!({ "command": ["agentd", "/u/a/api"] }),
        json!({ "command": { "path": "agentd", "args": ["/u/a/api"] } }),
    ] {
        assert_eq!(name(own.clone()), "agentd-api", "{own}");
    }
    for other in [
        json!({ "args": ["--workspace", "/u/b/api"] }),
        json!({ "args": ["--workspace", "/u/a/api/deeper"] }),
        json!({ "args": ["mcp"] }),
        json!({}),
    ] {
        assert_eq!(name(other.clone()), "agentd-api-06064aa4", "{other}");
    }
}

#[test]
fn goose_knows_no_case() {
    let client = McpClient::Goose;
    let (first, text) = put(client, "", "/u/a/Api");
    assert_eq!(first, "agentd-api");
    assert_eq!(put(client, &text, "/u/a/api").0, "agentd-api-06064aa4");
    // An entry from before the names were in lower case.
    let text = text.replace("agentd-api", "agentd-Api");
    assert_eq!(put(client, &text, "/u/a/Api"), ("agentd-Api".to_owned(), text.clone()));
    assert_eq!(put(client, &text, "/u/a/api").0, "agentd-api-06064aa4");
    // The others do.
    let (first, text) = put(McpClient::Codex, "", "/u/a/Api");
    assert_eq!((&*first, &*put(McpClient::Codex, &text, "/u/a/api").0), ("agentd-Api", "agentd-api"));
}

#[test]
fn a_file_of_the_project_has_one_name() {
    for &client in McpClient::ALL.iter().filter(|client| client.is_of_project()) {
        let (name, text) = put(client, "", "/u/a/api");
        assert_eq!(name, "agentd");
        // The file was copied or moved with the folder.
        let (name, text) = put(client, &text, "/u/b/api");
        assert_eq!((&*name, text.matches("/api").count()), ("agentd", 1), "{text}");
    }
}

proptest! {
    #[test]
    fn every_folder_has_one_entry_in_any_order(
        client in select(of_users()),
        folders in vec((0_usize..3, select(&["api", "Api", "a.b", "a b", "журнал", "проект"][..])), 1..12),
    ) {
        let folders: Vec<String> = folders.iter().map(|(above, name)| format!("/u/{above}/{name}")).collect();
        let mut text = String::new();
        let mut names = Vec::new();
        for folder in &folders {
            let name;
            (name, text) = put(client, &text, folder);
            names.push(name);
        }
        for (folder, name) in folders.iter().zip(&names) {
            // Its name is unchanged, and there is nothing left to do.
            prop_assert_eq!(&put(client, &text, folder), &(name.clone(), text.clone()));
            prop_assert_eq!(text.matches(&format!("\"{folder}\"")).count(), 1, "{}", text);
        }
    }
}
