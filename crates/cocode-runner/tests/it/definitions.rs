use std::collections::BTreeMap;

use cocode_runner::{AgentCommand, AgentDefinition, AgentsFile, AgentsFileError};
use egress::Network;
use proptest::prelude::*;

#[test]
fn every_key_of_a_definition_is_read() {
    let text = r#"
        [performance]
        agent_timeout = 60
        [agents.fixer]
        command = "my-agent"
        args = ["--issue", "${COCODE_ISSUE_NUMBER}"]
        env = { MODEL = "x" }
        timeout_seconds = 900
        check = "cargo test"
        writable = ["~/.my-agent"]
        sandbox = "off"
        network = "off"
    "#;
    let file = AgentsFile::parse(text).unwrap();
    assert_eq!(file.limits.timeout.as_secs(), 60);
    let agent = &file.agents[&"fixer".parse().unwrap()];
    assert_eq!(agent.timeout.unwrap().as_secs(), 900);
    assert_eq!(agent.check.as_deref(), Some("cargo test"));
    assert!(!agent.is_confined && agent.network == Network::Off);
    let plain = AgentsFile::parse("[agents.x]\ncommand = 'x'").unwrap();
    let plain = &plain.agents[&"x".parse().unwrap()];
    assert!(plain.is_confined && plain.network == Network::On);
}

#[test]
fn damaged_definitions_are_refused() {
    for text in [
        "[[agent]\nname =",
        "[agents.x]",
        "[agents.x]\ncommand = ''",
        "[agents.x]\ncommand = 'x'\nsandbx = 'off'",
        "[agents.x]\ncommand = 'x'\nsandbox = 'maybe'",
        "[agents.x]\ncommand = 'x'\ntimeout_seconds = 0",
        "[agents.x]\ncommand = 'x'\ntimeout_seconds = 3601",
        "[agents.'a b']\ncommand = 'x'",
        "[performance]\nmax_concurrent_agents = 21",
    ] {
        assert!(AgentsFile::parse(text).is_err(), "{text}");
    }
    let error = AgentsFile::parse("[agents.x]\ncommand = 'x'\nenv = { COCODE_REPO_PATH = '/' }").unwrap_err();
    assert!(matches!(error, AgentsFileError::Override { .. }));
}

#[test]
fn built_in_agents_get_the_issue_in_their_arguments() {
    for name in ["claude", "codex"] {
        let definition = AgentDefinition::built_in(&name.parse().unwrap()).unwrap();
        let AgentCommand::Program { arguments, .. } = definition.command else { panic!("a program") };
        let prompt = arguments.last().unwrap();
        assert!(prompt.contains("${COCODE_ISSUE_NUMBER}") && prompt.contains("${COCODE_ISSUE_BODY_FILE}"));
    }
    assert!(AgentDefinition::built_in(&"other".parse().unwrap()).is_none());
}

#[test]
fn the_network_of_an_agent_may_be_a_list_of_names() {
    let network = |value: &str| {
        let text = format!("[agents.a]\ncommand = 'sh'\nnetwork = {value}\n");
        let file = AgentsFile::parse(&text).map_err(|error| error.to_string())?;
        Ok::<_, String>(file.agents[&"a".parse().unwrap()].network.to_string())
    };
    assert_eq!(
        network("['api.example', '*.cdn.example:443']"),
        Ok("allow=api.example,*.cdn.example:443".into())
    );
    assert_eq!(network("[]"), Ok("off".into()));
    assert_eq!(network("'on'"), Ok("on".into()));
    insta::assert_snapshot!(network("['a.example', '10.0.0.5']").unwrap_err(), @"the network of the agent 'a': entry 2, column 11: this is an address: give a name for it, NAME@ADDRESS, and have the command use the name");
    insta::assert_snapshot!(network("['npm']").unwrap_err(), @"the network of the agent 'a': there is no preset 'npm'; a host of one label is written with its port, npm:443");
    insta::assert_snapshot!(network("'maybe'").unwrap_err(), @r#"the definitions of agents cannot be read: line 3: give "on", "off" or a list of names such as ["api.example"]"#);
}

proptest! {
    #[test]
    fn a_definition_that_is_accepted_keeps_what_it_says(
        name in "[a-z][a-z0-9-]{0,8}",
        program in "[a-z/]{1,12}",
        arguments in prop::collection::vec("\\PC{0,12}", 0..4),
        environment in prop::collection::btree_map("[A-Z]{1,8}", "\\PC{0,12}", 0..4),
        timeout_seconds in 0_u64..4_000,
        is_confined: bool,
        has_network: bool,
    ) {
        let on = |is_on: bool| if is_on { "on" } else { "off" };
        let mut agent = toml::Table::new();
        agent.insert("command".into(), program.clone().into());
        agent.insert("args".into(), arguments.clone().into());
        let variables: toml::Table = environment.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        agent.insert("env".into(), variables.into());
        agent.insert("timeout_seconds".into(), i64::try_from(timeout_seconds).unwrap().into());
        agent.insert("sandbox".into(), on(is_confined).into());
        agent.insert("network".into(), on(has_network).into());
        let file = BTreeMap::from([("agents", BTreeMap::from([(name.as_str(), agent)]))]);
        let parsed = AgentsFile::parse(&toml::to_string(&file).unwrap());
        prop_assert_eq!(parsed.is_ok(), (1..=3_600).contains(&timeout_seconds));
        if let Ok(parsed) = parsed {
            let definition = &parsed.agents[&name.parse().unwrap()];
            prop_assert_eq!(&definition.command, &AgentCommand::Program { program, arguments });
            prop_assert_eq!(&definition.environment, &environment);
            prop_assert_eq!(definition.timeout.map(|timeout| timeout.as_secs()), Some(timeout_seconds));
            prop_assert_eq!((definition.is_confined, definition.network == Network::On), (is_confined, has_network));
        }
    }

    #[test]
    fn every_refusal_of_a_text_is_one_line(text in "(\\[|\\]|agents|\\.|x|=|'|\n|command|timeout_seconds| |7){0,24}") {
        if let Err(error) = AgentsFile::parse(&text) {
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
        }
    }
}
