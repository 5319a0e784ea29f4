//! `agentd setup`: configurations of MCP clients.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::fixture::line_client::LineClient;
use crate::fixture::project::{Project, Ran};

const CLIENTS: [&str; 11] = [
    "claude-code",
    "cursor",
    "vscode",
    "zed",
    "codex",
    "claude-desktop",
    "windsurf",
    "cline",
    "gemini-cli",
    "opencode",
    "goose",
];

fn home(project: &Project) -> PathBuf {
    project.folder().join("home")
}

fn setup(project: &Project, arguments: &[&str]) -> Ran {
    setup_of_user(project, &home(project), arguments)
}

fn setup_of_user(project: &Project, home: &Path, arguments: &[&str]) -> Ran {
    let mut command = project.command(&["setup"]);
    command.args(arguments).env("HOME", home);
    command.env_remove("XDG_CONFIG_HOME").env_remove("CODEX_HOME");
    Ran::of(command.output().unwrap())
}

fn file(project: &Project, client: &str) -> PathBuf {
    let code = project.workspace();
    match client {
        "claude-code" => code.join(".mcp.json"),
        "cursor" => code.join(".cursor/mcp.json"),
        "vscode" => code.join(".vscode/mcp.json"),
        "zed" => home(project).join(".config/zed/settings.json"),
        "claude-desktop" => home(project).join(".config/Claude/claude_desktop_config.json"),
        "windsurf" => home(project).join(".codeium/windsurf/mcp_config.json"),
        "cline" => home(project)
            .join(".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
        "gemini-cli" => code.join(".gemini/settings.json"),
        "opencode" => code.join("opencode.json"),
        "goose" => home(project).join(".config/goose/config.yaml"),
        "codex" => home(project).join(".codex/config.toml"),
        other => panic!("{other}"),
    }
}

#[test]
fn an_option_of_the_server_is_pointed_to_its_place_in_the_configuration() {
    let project = Project::new();
    for option in ["--review", "--review=commands", "--ask-deletions"] {
        let refused = setup(&project, &["claude-code", "--write", option]).exits(2);
        refused.says("the table [mcp] of the configuration file").says("`agentd doctor` names the file");
    }
    assert!(!file(&project, "claude-code").exists());
    // What is no option of the server either is only called unknown.
    let unknown = setup(&project, &["claude-code", "--written"]).exits(2);
    assert!(unknown.stderr.contains("--write") && !unknown.stderr.contains("[mcp]"), "{unknown}");
}

#[test]
fn it_prints_what_it_would_write() {
    let project = Project::new();
    for client in CLIENTS {
        let printed = setup(&project, &[client]).ok();
        assert!(!file(&project, client).exists(), "{client}");
        let written = setup(&project, &[client, "--write"]).ok();
        assert!(written.stdout.starts_with("made "), "{written}");
        assert_eq!(
            fs::read_to_string(file(&project, client)).unwrap().trim(),
            printed.stdout.trim(),
            "{client}"
        );
    }
    assert!(!project.base().exists(), "no state folder is made");
}

#[test]
fn the_extension_of_goose_is_named_after_its_folder() {
    let project = Project::new();
    setup(&project, &["goose"]).ok().prints("  agentd-code:\n").prints("name: \"agentd-code\"\n");
}

#[test]
fn a_second_time_changes_nothing() {
    let project = Project::new();
    for client in CLIENTS {
        setup(&project, &[client, "--write"]).ok();
        let path = file(&project, client);
        let before = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
        setup(&project, &[client, "--write"]).ok().prints("already");
        let report = setup(&project, &[client, "--write", "--json"]).ok().json();
        assert_eq!((&report["written"], &report["changed"]), (&json!(true), &json!(false)));
        assert_eq!(
            (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap()),
            before,
            "{client}"
        );
    }
}

#[test]
fn what_else_is_in_the_file_stays() {
    let project = Project::new();
    let path = file(&project, "codex");
    let before = "model = \"x\" # mine\r\n\r\n[mcp_servers.other]\r\ncommand = 'y'\r\n";
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, before).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    setup(&project, &["codex", "--write"]).ok().prints("changed ");
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(before) && after.contains("\"--workspace\""), "{after}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_same_in_another_layout_is_left_as_it_is() {
    let project = Project::new();
    setup(&project, &["claude-code", "--write"]).ok();
    let path = file(&project, "claude-code");
    let value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let compact = value.to_string();
    fs::write(&path, &compact).unwrap();
    setup(&project, &["claude-code", "--write"]).ok().prints("already");
    assert_eq!(fs::read_to_string(&path).unwrap(), compact);
}

#[test]
fn other_options_change_the_entry_and_nothing_else() {
    let project = Project::new();
    for client in CLIENTS {
        setup(&project, &[client, "--write"]).ok();
        setup(
            &project,
            &[
                client,
                "--write",
                "--read-only",
                "--network",
                "on",
                "--sandbox",
                "require=full",
                "--timeout",
                "60",
            ],
        )
        .ok()
        .prints("changed ");
        let text = fs::read_to_string(file(&project, client)).unwrap();
        for option in ["--read-only", "--network", "--sandbox", "require=full", "--timeout", "60"] {
            assert!(text.contains(&format!("\"{option}\"")), "{client}:\n{text}");
        }
        assert_eq!(text.matches("--workspace").count(), 1, "{client}:\n{text}");
    }
}

#[test]
fn options_that_were_added_by_hand_are_not_lost() {
    let project = Project::new();
    for client in CLIENTS {
        setup(&project, &[client, "--write"]).ok();
        let path = file(&project, client);
        let text = fs::read_to_string(&path).unwrap();
        let added = "\"--review\", \"--workspace\"";
        let by_hand = text.replacen("\"--workspace\"", added, 1);
        assert_ne!(by_hand, text, "{client}:\n{text}");
        fs::write(&path, &by_hand).unwrap();
        setup(&project, &[client, "--write"])
            .exits(1)
            .says("has the option --review")
            .says("nothing was written");
        assert_eq!(fs::read_to_string(&path).unwrap(), by_hand, "{client}");
        // The control: without it the entry is written.
        fs::write(&path, text).unwrap();
        setup(&project, &[client, "--write", "--read-only"]).ok().prints("changed ");
    }
}

#[test]
fn a_file_that_cannot_be_understood_is_left_alone() {
    let project = Project::new();
    let cases = [("claude-code", "{ not json"), ("codex", "mcp_servers = 5\n"), ("goose", "a: [\n")];
    for (client, text) in cases {
        let path = file(&project, client);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        setup(&project, &[client, "--write"]).exits(1).says("nothing was written");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{client}");
        // It can still be printed.
        setup(&project, &[client]).ok().prints("--workspace");
    }
}

#[test]
fn every_failure_names_a_way_out() {
    let by_hand = "nothing was written; without --write it is printed, to be put there by hand";
    let project = Project::new();
    let path = file(&project, "codex");
    let folder = path.parent().unwrap();
    fs::create_dir_all(folder).unwrap();
    fs::write(&path, b"\xff").unwrap();
    setup(&project, &["codex", "--write"]).exits(1).says("it is not UTF-8 text").says(by_hand);
    fs::File::create(&path).unwrap().set_len((16 << 20) + 1).unwrap();
    setup(&project, &["codex", "--write"]).exits(1).says("it is longer than 16 MiB").says(by_hand);
    fs::remove_file(&path).unwrap();
    symlink(folder.join("missing"), &path).unwrap();
    setup(&project, &["codex", "--write"]).exits(1).says("leads to nothing").says("or remove the link");
    assert!(path.is_symlink());
    // An error of the system.
    fs::remove_dir_all(folder).unwrap();
    fs::write(folder, "").unwrap();
    setup(&project, &["codex", "--write"]).exits(1).says(by_hand);
    setup(&project, &["codex"]).ok().prints("--workspace");
}

#[test]
fn folders_of_one_name_have_entries_of_their_own() {
    // Both are called `code`.
    let (first, second) = (Project::new(), Project::new());
    for client in ["zed", "codex", "claude-desktop", "windsurf", "cline", "goose"] {
        let write = |project| setup_of_user(project, &home(&first), &[client, "--write"]).ok();
        write(&first);
        write(&second)
            .says("'agentd-code' was taken by another server there")
            .prints("changed 'agentd-code-");
        let text = fs::read_to_string(file(&first, client)).unwrap();
        for project in [&first, &second] {
            assert!(text.contains(project.workspace().to_str().unwrap()), "{client}:\n{text}");
            write(project).prints("already");
        }
        assert_eq!(fs::read_to_string(file(&first, client)).unwrap(), text);
        // It is printed under the name that it has.
        let report = setup_of_user(&second, &home(&first), &[client, "--json"]).ok().json();
        let name = report["name"].as_str().unwrap();
        assert!(name.starts_with("agentd-code-") && text.contains(name), "{client}: {name}");
        setup_of_user(&second, &home(&first), &[client]).ok().prints(name);
    }
}

#[test]
fn what_a_user_keeps_in_the_entry_stays() {
    let project = Project::new();
    setup(&project, &["cline", "--write"]).ok();
    let path = file(&project, "cline");
    let mut settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    settings["mcpServers"]["agentd-code"]["autoApprove"] = json!(["readFile"]);
    fs::write(&path, settings.to_string()).unwrap();
    setup(&project, &["cline", "--write"]).ok().prints("already");
    setup(&project, &["cline", "--write", "--read-only"]).ok().prints("changed ");
    let after: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let entry = &after["mcpServers"]["agentd-code"];
    assert_eq!(entry["autoApprove"], json!(["readFile"]));
    assert!(entry["args"].as_array().unwrap().contains(&json!("--read-only")), "{entry}");
}

#[test]
fn a_link_stays_a_link() {
    let project = Project::new();
    let path = file(&project, "codex");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let real = project.folder().join("dotfiles.toml");
    fs::write(&real, "model = 'x'\n").unwrap();
    symlink(&real, &path).unwrap();
    setup(&project, &["codex", "--write"]).ok();
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().starts_with("model = 'x'\n"));
}

#[test]
fn what_is_written_starts_a_server() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let report = setup(&project, &["claude-code", "--json"]).ok().json();
    let entry = &report["entry"];
    let mut command = std::process::Command::new(entry["command"].as_str().unwrap());
    command.args(entry["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap()));
    // A client may start it anywhere.
    command.current_dir("/").stderr(std::process::Stdio::piped());
    let mut client = LineClient::start(command);
    client.does("initialize", json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    }));
    client.notify("notifications/initialized", json!({}));
    let read = client.does("tools/call", json!({ "name": "readFile", "arguments": { "path": "a.txt" } }));
    assert!(read["content"][0]["text"].as_str().unwrap().ends_with("one\n"), "{read}");
}
