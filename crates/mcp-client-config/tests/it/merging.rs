//! A present entry keeps the keys that a user or a client added.

use mcp_client_config::{FileFormat, McpClient, with_entry};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::entries::merged;
use crate::{ONE_OF_EACH, entry, has_all_lines, parsed};

/// Keys that clients and users keep in an entry.
fn kept() -> Vec<(&'static str, Value)> {
    vec![
        ("autoApprove", json!(["readFile", "exploreFiles"])),
        ("disabled", json!(true)),
        ("alwaysAllow", json!([])),
        ("note", json!("it's # 1, \"mine\"")),
        ("env", json!({ "A": "b", "B": "c" })),
        ("startup_timeout_sec", json!(20)),
    ]
}

/// One key of an entry, in a plausible layout.
#[derive(Clone, Debug)]
struct Field {
    key: String,
    value: Value,
    /// True if the items of a list have separate lines.
    is_long: bool,
}

impl Field {
    /// Returns the comment lines above the field.
    fn comment(&self, format: FileFormat, margin: &str) -> String {
        match format {
            FileFormat::Json => format!("{margin}/* of {} */\n\n", self.key),
            _ => format!("{margin}# of {}\n\n", self.key),
        }
    }

    /// Returns the lines of the field, with a comment after it.
    fn value(&self, format: FileFormat, margin: &str) -> String {
        let Field { key, value, .. } = self;
        let item_lines = |before: &str, after: &str| -> String {
            let items = value.as_array().into_iter().flatten();
            items.map(|item| format!("{margin}{before}{item}{after}\n")).collect()
        };
        let is_long = self.is_long && value.as_array().is_some_and(|items| !items.is_empty());
        match (format, is_long) {
            (FileFormat::Json, false) => format!("{margin}\"{key}\" :  {value}, // after {key}\n"),
            (FileFormat::Json, true) => {
                format!("{margin}\"{key}\": [\n{}{margin}], // after {key}\n", item_lines("  ", ","))
            }
            (FileFormat::Toml, false) => format!("{key}   =  {} # after {key}\n", in_toml(value)),
            (FileFormat::Toml, true) => format!("{key} = [\n{}] # after {key}\n", item_lines("  ", ",")),
            (FileFormat::Yaml, false) => format!("{margin}{key}:   {value} # after {key}\n"),
            // Goose writes the items of a list below its key, with the same indentation.
            (FileFormat::Yaml, true) => format!("{margin}{key}:  # after {key}\n{}", item_lines("- ", "")),
            (other, _) => panic!("{other:?}"),
        }
    }
}

/// Renders a value in TOML, which has the texts, numbers and lists of JSON.
fn in_toml(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns the file of a client in which the entry `agentd` has these fields, between two other servers. For an absent field, it
/// only has the comment above it.
fn file(client: McpClient, fields: &[Field], is_there: impl Fn(&Field) -> bool) -> String {
    let (table, format) = (client.table(), client.format());
    let lines = |margin: &str| -> String {
        let value = |field: &Field| if is_there(field) { field.value(format, margin) } else { String::new() };
        fields.iter().map(|field| field.comment(format, margin) + &value(field)).collect()
    };
    match format {
        FileFormat::Json => format!(
            "{{\n  \"{table}\": {{\n    \"a\": {{}},\n    \"agentd\": {{\n{}    }},\n    \"z\": {{}}\n  }}\n}}\n",
            lines("      ")
        ),
        FileFormat::Toml => format!(
            "[{table}.a]\n\n[{table}.agentd] # mine\n{}\n[{table}.z]\n[{table}.z.env]\nA = \"b\"\n",
            lines("")
        ),
        FileFormat::Yaml => format!(
            "{table}:\n    a:\n        cmd: x\n    agentd: # mine\n{}\n    z:\n        cmd: x\n",
            lines("        ")
        ),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn other_keys_of_an_entry_stay(
        client in select(&ONE_OF_EACH[..]),
        others in subsequence(kept(), 0..=6),
        wanted in subsequence(vec![0_usize, 1, 2, 3, 4, 5, 6], 0..=7),
        are_same in any::<bool>(),
        is_long in any::<bool>(),
        has_long_ends in any::<bool>(),
    ) {
        let entry = entry(client);
        // Some of the wanted keys are present, with the wanted value or another.
        let present: Vec<(&String, &Value)> = entry.as_object().unwrap().iter().collect();
        let present = wanted.iter().filter_map(|&at| present.get(at));
        let changed = |value: &Value| if value.is_array() { json!(["x"]) } else { json!("x # y") };
        let mut fields: Vec<Field> = present
            .map(|&(key, value)| (key.clone(), if are_same { value.clone() } else { changed(value) }))
            .chain(others.iter().map(|(key, value)| ((*key).to_owned(), value.clone())))
            .map(|(key, value)| Field { key, value, is_long })
            .collect();
        fields.sort_by_key(|field| field.key.len());
        let end = if has_long_ends { "\r\n" } else { "\n" };
        let before = file(client, &fields, |_| true).replace('\n', end);
        let there = parsed(client, &before);
        let expected = merged(&there, &json!({ client.table(): { "agentd": entry } }));
        let Some(after) = with_entry(client, &before, "agentd", &entry).unwrap() else {
            prop_assert_eq!(there, expected, "{}", before);
            return Ok(());
        };
        prop_assert_ne!(&there, &expected);
        prop_assert_eq!(parsed(client, &after), expected, "{}\n->\n{}", before, after);
        prop_assert_eq!(with_entry(client, &after, "agentd", &entry).unwrap(), None);
        // All other lines stay, and the comments of the changed ones.
        let is_kept = |field: &Field| entry.get(&field.key).is_none_or(|wanted| *wanted == field.value);
        let kept = file(client, &fields, is_kept).replace('\n', end);
        for field in &fields {
            prop_assert!(after.contains(&format!("after {}{end}", field.key)), "{before}\n->\n{after}");
        }
        prop_assert!(has_all_lines(&after, &kept), "{before}\n->\n{after}\nis without a line of\n{kept}");
        prop_assert_eq!(after.matches('\n').count(), after.matches(end).count(), "{:?}", after);
    }
}

/// Returns the text of a file after putting in the entry `agentd` that starts `/bin/a`.
fn after(client: McpClient, before: &str) -> String {
    let server = mcp_client_config::Server { program: "/bin/a".into(), arguments: vec!["mcp".into()] };
    let entry = client.entry("agentd", &server);
    with_entry(client, before, "agentd", &entry).expect("a known layout").expect("another entry")
}

#[test]
fn cline_keeps_its_automatic_approvals() {
    let before = r#"{
  "mcpServers": {
    "agentd": {
      "autoApprove": ["readFile"], // mine
      "disabled": false,
      "timeout": 60,
      "command": "/bin/old", /* was there */
      "args": [
        "mcp",
        "--old"
      ]
    }
  }
}
"#;
    insta::assert_snapshot!(after(McpClient::Cline, before), @r#"
    {
      "mcpServers": {
        "agentd": {
          "autoApprove": ["readFile"], // mine
          "disabled": false,
          "timeout": 60,
          "command": "/bin/a", /* was there */
          "args": ["mcp"]
        }
      }
    }
    "#);
}

#[test]
fn zed_keeps_the_environment() {
    let before = "{ \"context_servers\": { \"agentd\": { \"command\": \"x\", /* a */ \"env\": { \"KEY\": \"v\" } } } }\n";
    insta::assert_snapshot!(after(McpClient::Zed, before), @r#"
    { "context_servers": { "agentd": {
          "command": "/bin/a",
          /* a */ "env": { "KEY": "v" },
          "args": ["mcp"],
          "source": "custom"
        } } }
    "#);
}

#[test]
fn codex_keeps_tables_and_comments() {
    let before = "[mcp_servers.agentd] # mine\ncommand = '/bin/old' # why\nstartup_timeout_sec = 20\n\n[mcp_servers.agentd.env]\nKEY = 'v'\n";
    insta::assert_snapshot!(after(McpClient::Codex, before), @r#"
    [mcp_servers.agentd] # mine
    command = "/bin/a" # why
    startup_timeout_sec = 20
    args = ["mcp"]

    [mcp_servers.agentd.env]
    KEY = 'v'
    "#);
    // An inline table has no headers.
    let before = "mcp_servers = { other = { command = 'x' }, agentd = { env = { KEY = 'v' } } } # mine\n";
    insta::assert_snapshot!(after(McpClient::Codex, before), @r#"mcp_servers = { other = { command = 'x' }, agentd = { env = { KEY = 'v' } , args = ["mcp"], command = "/bin/a" } } # mine"#);
}

#[test]
fn goose_keeps_its_own_keys() {
    let before = "extensions:
  agentd:
    enabled: true
    type: stdio
    name: agentd
    description: Files of one folder
    cmd: /bin/old # why
    args:
    - mcp
    - --old
    envs: {}
    env_keys:
    - KEY
    timeout: 300
    bundled: null
    available_tools: []
GOOSE_MODEL: m
";
    insta::assert_snapshot!(after(McpClient::Goose, before), @r#"
    extensions:
      agentd:
        enabled: true
        type: stdio
        name: agentd
        description: "Files, searches and confined commands of one folder"
        cmd: "/bin/a" # why
        args: ["mcp"]
        envs: {}
        env_keys:
        - KEY
        timeout: 300
        bundled: null
        available_tools: []
    GOOSE_MODEL: m
    "#);
    // As a flow mapping.
    let before = "extensions:\n  agentd: {cmd: 'x # y', envs: {KEY: v}} # mine\n  other: {cmd: y} # z\n";
    insta::assert_snapshot!(after(McpClient::Goose, before), @r#"
    extensions:
      agentd: # mine
        args: ["mcp"]
        cmd: "/bin/a"
        description: "Files, searches and confined commands of one folder"
        enabled: true
        envs: {"KEY":"v"}
        name: "agentd"
        timeout: 300
        type: "stdio"
      other: {cmd: y} # z
    "#);
}
