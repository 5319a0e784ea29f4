//! The descriptions of a server for each client.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use mcp_client_config::{McpClient, alone};

use crate::entry;

#[test]
fn every_client_has_a_file_a_name_and_an_entry() {
    let workspace = Path::new("/home/u/my code");
    let environment = |name: &str| (name == "HOME").then(|| OsString::from("/home/u"));
    let mut text = String::new();
    for &client in McpClient::ALL {
        let file = client.file(workspace, environment).unwrap();
        let name = client.entry_name("agentd", workspace);
        let entry = entry(client);
        writeln!(text, "{client:?}: {} in {}", name, file.display()).unwrap();
        writeln!(text, "{}-> {}\n", alone(client, &name, &entry).unwrap(), client.next_step()).unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn variables_move_the_files_of_a_user_and_relative_ones_do_not() {
    let workspace = Path::new("/code");
    let environment = |values: &'static [(&str, &str)]| {
        move |name: &str| {
            values.iter().find(|(variable, _)| *variable == name).map(|(_, value)| OsString::from(value))
        }
    };
    let moved = environment(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("CODEX_HOME", "/x")]);
    let path = |client: McpClient| client.file(workspace, moved).unwrap();
    assert_eq!(path(McpClient::Zed), Path::new("/c/zed/settings.json"));
    assert_eq!(path(McpClient::Codex), Path::new("/x/config.toml"));
    assert_eq!(path(McpClient::Windsurf), Path::new("/h/.codeium/windsurf/mcp_config.json"));
    let relative = environment(&[("HOME", "h"), ("XDG_CONFIG_HOME", "c"), ("CODEX_HOME", "x")]);
    for &client in McpClient::ALL {
        let is_of_project = client.entry_name("s", workspace) == "s";
        assert_eq!(client.file(workspace, relative).is_some(), is_of_project, "{client:?}");
    }
}
