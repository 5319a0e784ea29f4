//! Texts that take no entry.

use std::fmt::Write as _;

use mcp_client_config::{McpClient, with_entry};

use crate::entry;

/// A text that stands on every line of the refused files, as the key of another server might.
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
        (Codex, "mcp_servers = \"SECRET\""),
        (Codex, "[mcp_servers\nkey = \"SECRET\""),
        (Codex, "key = \"SECRET\"\nkey = \"SECRET\"\n"),
        (Codex, "mcp_servers.agentd = \"SECRET\""),
        (Goose, "- SECRET\n"),
        (Goose, "extensions: SECRET\n"),
        (Goose, "extensions: [SECRET]\n"),
        (Goose, "extensions: {a: SECRET}\n"),
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
