use cocode_runner::{AgentCommand, AgentDefinition, AgentsFile, AgentsFileError};

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
    assert!(!agent.is_confined && !agent.has_network);
    let plain = AgentsFile::parse("[agents.x]\ncommand = 'x'").unwrap();
    let plain = &plain.agents[&"x".parse().unwrap()];
    assert!(plain.is_confined && plain.has_network);
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
