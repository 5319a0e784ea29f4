//! Everything except the entry stays unchanged, in any layout.

use mcp_client_config::{FileFormat, McpClient, with_entry};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::{ONE_OF_EACH, entry, has_all_lines, parsed};

/// A plausible text in the format of the client: other settings, and a table of servers if `servers` are given.
fn written(client: McpClient, settings: &[String], servers: Option<&[String]>, indent: usize) -> String {
    let (table, margin) = (client.table(), " ".repeat(indent));
    let mut text = String::new();
    match client.format() {
        FileFormat::Json => {
            text += "{\n";
            for (at, name) in settings.iter().enumerate() {
                text += &format!("{margin}\"{name}\": {at}, // of {name}\n");
            }
            if let Some(servers) = servers {
                text += &format!("{margin}\"{table}\": {{\n");
                for name in servers {
                    text += &format!(
                        "{margin}{margin}/* of {name} */\n{margin}{margin}\"{name}\": {{ \"command\": \"x\" }},\n"
                    );
                }
                text += &format!("{margin}}},\n");
            }
            text += &format!("{margin}\"last\": [1,2 ,  3]\n}}\n");
        }
        FileFormat::Toml => {
            for (at, name) in settings.iter().enumerate() {
                text += &format!("{name}   =  {at} # of {name}\n");
            }
            for name in servers.into_iter().flatten() {
                text += &format!("\n# of {name}\n[{table}.{name}]\ncommand = 'x'\n");
            }
            text += "\n[last]\nlist = [ 1,2 ,\n  3 ]\n";
        }
        FileFormat::Yaml => {
            for (at, name) in settings.iter().enumerate() {
                text += &format!("{name}:   {at} # of {name}\n");
            }
            if let Some(servers) = servers {
                text += &format!("{table}:\n");
                for name in servers {
                    text += &format!("{margin}# of {name}\n\n{margin}{name}:\n{margin}{margin}cmd: x\n");
                }
            }
            text += "last: [1,2 ,  3]\n";
        }
        other => panic!("{other:?}"),
    }
    text
}

fn names() -> impl Strategy<Value = Vec<String>> {
    vec("[a-z]{2,6}", 1..5).prop_map(|mut names| {
        names.retain(|name| name != "last");
        names.sort();
        names.dedup();
        names
    })
}

#[test]
fn layouts_of_people_stay() {
    let cases = [
        (
            McpClient::ClaudeCode,
            "{\"mcpServers\":{\"other\":{\"command\":\"x\"}},\"zebra\":1,\"apple\":2}",
            "\"other\":{\"command\":\"x\"}",
        ),
        (McpClient::Cursor, "{\n\t\"mcpServers\": {}\n}\n", "\t\"mcpServers\": {"),
        (
            McpClient::Vscode,
            "// mine\n{\n  // servers of the team\n  \"servers\": {\n    \"other\": { \"url\": \"http://x\" }, // do not touch\n  },\n  \"inputs\": []\n}\n",
            "// do not touch",
        ),
        (McpClient::Zed, "{\n  \"theme\": \"One\", /* dark */\n}\n", "\"theme\": \"One\", /* dark */"),
        (
            McpClient::Codex,
            "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = 'y'\n",
            "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = 'y'\n",
        ),
        (McpClient::Codex, "\u{feff}model = 'x'\n", "\u{feff}model = 'x'\n"),
        (
            McpClient::Opencode,
            "{\n  \"$schema\": \"x\",\n  // of the team\n  \"mcp\": {\n    \"other\": {}\n  }\n}\n",
            "// of the team",
        ),
        (
            McpClient::Goose,
            "# mine\nGOOSE_MODEL: m # which\nextensions:\n    # built in\n    developer:\n        enabled: true\n        type: builtin\n\nGOOSE_MODE: auto\n",
            "    # built in\n    developer:\n        enabled: true\n        type: builtin\n\nGOOSE_MODE: auto\n",
        ),
        (McpClient::Goose, "extensions: {}\nother: [a, b]\n", "\nother: [a, b]\n"),
    ];
    for (client, before, kept) in cases {
        let after = with_entry(client, before, "agentd", &entry(client)).unwrap().unwrap();
        assert!(after.contains(kept), "{client:?}:\n{after}");
        let lines = before.lines().filter(|_| before.lines().count() > 1);
        for line in lines.map(|line| line.trim().trim_end_matches(['}', '{', ',', ' '])) {
            assert!(after.contains(line), "{client:?} has lost {line}:\n{after}");
        }
        assert!(after.contains("agentd") && after.contains("--workspace"), "{after}");
        assert_eq!(with_entry(client, &after, "agentd", &entry(client)).unwrap(), None);
    }
}

proptest! {
    #[test]
    fn an_entry_adds_lines_and_changes_none(
        client in select(&ONE_OF_EACH[..]),
        settings in names(),
        servers in proptest::option::of(names()),
        indent in 1_usize..5,
        has_long_ends in any::<bool>(),
        is_cut in any::<bool>(),
    ) {
        let mut before = written(client, &settings, servers.as_deref(), indent);
        if has_long_ends {
            before = before.replace('\n', "\r\n");
        }
        if is_cut {
            before.truncate(before.trim_end().len());
        }
        let entry = entry(client);
        let after = with_entry(client, &before, "agentd", &entry).unwrap().unwrap();
        let end = match (is_cut, has_long_ends) {
            (true, true) => "\r\n",
            (true, false) => "\n",
            (false, _) => "",
        };
        prop_assert!(has_all_lines(&after, &format!("{before}{end}")), "{before}\n->\n{after}");
        let long_ends = after.matches("\r\n").count();
        prop_assert_eq!(long_ends, if has_long_ends { after.matches('\n').count() } else { 0 }, "{:?}", after);
        let mut expected = parsed(client, &before);
        expected.as_object_mut().unwrap().entry(client.table()).or_insert_with(|| json!({}))["agentd"] = entry.clone();
        prop_assert_eq!(parsed(client, &after), expected);
        prop_assert_eq!(with_entry(client, &after, "agentd", &entry).unwrap(), None);
        // Another entry with this name is replaced, and nothing else.
        let other = client.entry("agentd", &mcp_client_config::Server { program: "/y".into(), arguments: vec![] });
        let replaced = with_entry(client, &after, "agentd", &other).unwrap().unwrap();
        prop_assert!(has_all_lines(&replaced, &format!("{before}{end}")), "{after}\n->\n{replaced}");
        prop_assert_eq!(with_entry(client, &replaced, "agentd", &entry).unwrap().unwrap(), after);
    }

    #[test]
    fn any_text_is_refused_or_keeps_its_meaning(
        client in select(&ONE_OF_EACH[..]),
        pieces in vec(
            select(&["{", "}", "\"a\"", ":", ",", "\n", "extensions", "servers", "[", "]", "mcp_servers", " ", "  ", "#", "|", "= 1", "\t", "\r\n", "é", "- ", "agentd"][..]),
            0..14,
        ),
    ) {
        let before = pieces.concat();
        if let Ok(Some(after)) = with_entry(client, &before, "agentd", &entry(client)) {
            let mut expected = match parsed_or_empty(client, &before) {
                Value::Null => json!({}),
                value => value,
            };
            let table = expected.as_object_mut().unwrap().entry(client.table()).or_insert_with(|| json!({}));
            if table.is_null() {
                *table = json!({});
            }
            let mut now = parsed(client, &after);
            prop_assert!(now[client.table()].as_object_mut().unwrap().remove("agentd").is_some());
            table.as_object_mut().unwrap().remove("agentd");
            prop_assert_eq!(now, expected, "{:?} -> {:?}", before, after);
        }
    }
}

fn parsed_or_empty(client: McpClient, text: &str) -> Value {
    let is_blank = text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#'));
    if is_blank && client.format() != FileFormat::Toml { json!({}) } else { parsed(client, text) }
}
