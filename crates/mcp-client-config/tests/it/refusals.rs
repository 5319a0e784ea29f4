//! Texts that cannot take an entry.

use std::fmt::Write as _;

use mcp_client_config::{McpClient, with_entry};

use crate::entry;

/// A text on every line of the refused files, like the key of another server.
const SECRET: &str = "sk-0123";

#[test]
fn refusals_say_why_and_show_no_line() {
    use McpClient::{Codex, Goose, Vscode};
    let cases = [
        (Vscode, "{ \"servers\": { \"SECRET\" } }"),
        (Vscode, "[\"SECRET\"]"),
        (Vscode, "{ \"servers\": \"SECRET\" }"),
        (Vscode, "{ servers: {} } // SECRET"),
        (Vscode, "{ \"a\": 'SECRET' }"),
        (Vscode, "{ \"servers\": {}, \"a\": \"SECRET\", \"servers\": {} }"),
        (Vscode, "{ \"servers\": {}, \"a\": \"SECRET\", \"\\u0073ervers\": {} }"),
        (Vscode, "{ \"servers\": { \"agentd\": \"SECRET\", \"agentd\": {} } }"),
        (Vscode, "{ \"servers\": { \"agentd\": { \"args\": [], \"args\": [\"SECRET\"] } } }"),
        (Vscode, "{ \"servers\": { \"agentd\": \"SECRET\" } }"),
        (Vscode, "{ \"servers\": { \"agentd\": { \"url\": \"SECRET\" } } }"),
        (Vscode, "{ \"a\": \"SECRET\", \"b\": 0x10 }"),
        (Codex, "mcp_servers = \"SECRET\""),
        (Codex, "[[mcp_servers]]\nkey = \"SECRET\"\n"),
        (Codex, "[mcp_servers.agentd]\n[mcp_servers.a]\nkey = \"SECRET\"\n[mcp_servers.agentd]\n"),
        (Codex, "[mcp_servers.agentd]\nurl = \"SECRET\"\n"),
        (Codex, "[mcp_servers\nkey = \"SECRET\""),
        (Codex, "key = \"SECRET\"\nkey = \"SECRET\"\n"),
        (Codex, "mcp_servers.agentd = \"SECRET\""),
        (Goose, "- SECRET\n"),
        (Goose, "extensions: SECRET\n"),
        (Goose, "extensions: [SECRET]\n"),
        (Goose, "extensions: {a: SECRET}\n"),
        (Goose, "extensions: {}\na: SECRET\nextensions: {}\n"),
        (Goose, "extensions:\n  agentd: {}\n  a: SECRET\n  agentd: {}\n"),
        (Goose, "extensions:\n  agentd: SECRET\n"),
        (Goose, "extensions:\n  agentd: {cmd: x, # b\n    a: SECRET}\n"),
        (Goose, "extensions:\n  agentd:\n    uri: SECRET\n"),
        (Goose, "\"extensions\":\n  a: SECRET\n"),
        (Goose, "a: SECRET\n b: SECRET\n"),
        (Goose, "a: SECRET\n---\nb: SECRET\n"),
        (Goose, "a: &x\n  b: SECRET\nextensions: *x\n"),
        (Goose, "a: |\n  extensions:\n    b: SECRET\nb: *SECRET\n"),
    ];
    let mut texts = String::new();
    for (client, text) in cases {
        let text = text.replace("SECRET", SECRET);
        let error = with_entry(client, &text, "agentd", &entry(client)).unwrap_err().to_string();
        assert!(!error.contains(SECRET), "{text}: {error}");
        writeln!(texts, "{client:?} {text:?}\n    {error}").unwrap();
    }
    insta::assert_snapshot!(texts);
}

#[test]
fn unrelated_repeated_keys_are_accepted() {
    use McpClient::{Codex, Goose, Vscode};
    // The same as above without the refused parts, and with other repeated keys.
    for (client, text) in [
        (Vscode, "{ \"servers\": {}, \"a\": 1, \"a\": 2 }"),
        (Vscode, "{ \"servers\": { \"other\": {}, \"other\": { \"agentd\": 1 }, \"servers\": {} } }"),
        (Vscode, "{ \"servers\": { \"agentd\": { \"args\": [] }, \"other\": { \"url\": \"x\" } } }"),
        (Vscode, "{ \"servers\": null }"),
        (Vscode, "{ \"servers\": { \"agentd\": null } }"),
        (Codex, "[mcp_servers.other]\nurl = \"x\"\n[mcp_servers.agentd]\n"),
        (Goose, "extensions:\n"),
        (Goose, "extensions:\n  agentd:\n"),
        (Goose, "extensions:\n  agentd: {}\n  other: {uri: x}\n"),
        (Goose, "extensions:\n  agentd: {cmd: x, a: b}\n"),
        (Goose, "extensions:\n  agentd: {cmd: x,\n    a: b}\n"),
    ] {
        let after = with_entry(client, text, "agentd", &entry(client)).unwrap().unwrap();
        assert_eq!(with_entry(client, &after, "agentd", &entry(client)).unwrap(), None, "{after}");
    }
}
