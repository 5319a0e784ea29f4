use std::fs;

use cocode_env::AgentState;
use cocode_runner::{AgentDefinition, Runner, RunnerConfig, RunnerError, StopFlag};
use egress::Network;
use sandbox_exec::Level;

use crate::fixture::{Fixture, Log, MARKED, agent, refused, request};

fn output(fixture: &Fixture, definition: AgentDefinition) -> Vec<String> {
    let log = Log::default();
    let records = fixture.runner().run(&request(vec![definition]), &StopFlag::new(), &log).unwrap();
    assert_eq!(records[0].exit_code, Some(0), "{:?} {:?}", records[0], log.lines());
    log.lines()
}

#[test]
fn the_environment_is_an_allow_list_and_the_five() {
    let mut fixture = Fixture::new();
    let given = [
        ("COCODE_EXTRA", "x"),
        ("COCODE_ISSUE_NUMBER", "99"),
        ("OPENAI_API_KEY", "k"),
        ("GITHUB_TOKEN", "secret"),
        ("SSH_AUTH_SOCK", "/x"),
        ("LC_TIME", "C"),
    ];
    fixture.host.variables.extend(given.map(|(name, value)| (name.into(), value.into())));
    let mut definition =
        agent("a", "env; pwd; cat \"$COCODE_ISSUE_BODY_FILE\"; stat -c %a \"$COCODE_ISSUE_BODY_FILE\"");
    definition.environment.insert("CUSTOM".into(), "1".into());
    let lines = output(&fixture, definition);
    let has = |line: &str| lines.iter().any(|one| one == line);
    for line in [
        "COCODE_EXTRA=x",
        "OPENAI_API_KEY=k",
        "LC_TIME=C",
        "CUSTOM=1",
        "COCODE_ISSUE_NUMBER=7",
        "Fix it.",
        "600",
    ] {
        assert!(has(line), "{line} in {lines:?}");
    }
    assert!(lines.iter().all(|line| !line.contains("GITHUB_TOKEN") && !line.contains("SSH_AUTH_SOCK")));
    let path = lines.iter().find_map(|line| line.strip_prefix("COCODE_REPO_PATH=")).unwrap();
    assert!(has(path), "the working directory is the worktree");
    let body = lines.iter().find_map(|line| line.strip_prefix("COCODE_ISSUE_BODY_FILE=")).unwrap();
    assert!(!std::path::Path::new(body).exists(), "the issue's text is removed afterwards");
}

#[test]
fn an_agent_writes_its_worktree_and_its_git_folders_and_nothing_else() {
    let fixture = Fixture::new();
    let home = fixture.root.join("home");
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::write(home.join(".ssh/id"), "key").unwrap();
    fs::create_dir_all(home.join(".config/gh")).unwrap();
    fs::write(home.join(".config/gh/hosts.yml"), "token").unwrap();
    fs::write(home.join("notes"), "readable\n").unwrap();
    let repository = fixture.repository().display().to_string();
    let script = format!(
        "cat ~/notes; cat ~/.ssh/id ~/.config/gh/hosts.yml; ls {state}; G={repository}/.git; \
         W=$(git rev-parse --absolute-git-dir); \
         for f in ~/notes {repository}/a.txt $G/config $G/HEAD $G/refs/heads/main $G/packed-refs $G/hooks/x \
           $G/info/exclude $W/commondir $W/gitdir $W/config.worktree .git; do \
           (echo evil > $f) 2>/dev/null && echo \"wrote $f\"; done; \
         mv .git x 2>/dev/null && echo moved; (echo x > ~/new) && echo private home; (echo x > $W/own) && echo own; \
         {MARKED} && echo committed",
        state = fixture.root.join("state").display()
    );
    let lines = output(&fixture, agent("a", &script));
    for line in ["readable", "private home", "own", "committed"] {
        assert!(lines.iter().any(|one| one == line), "{line}: {lines:?}");
    }
    let bad =
        |line: &String| line.starts_with("wrote") || line == "moved" || line == "key" || line == "token";
    // `~/notes` is a separate read-only file in the private home.
    assert!(!lines.iter().any(bad), "{lines:?}");
    assert!(!home.join("new").exists());
    assert!(!lines.iter().any(|line| line == "records"), "the state folder is hidden");
}

#[test]
fn without_a_sandbox_the_same_script_gets_out() {
    let fixture = Fixture::new();
    let mut definition = agent("a", &format!("echo evil > ~/notes; {MARKED}"));
    definition.is_confined = false;
    output(&fixture, definition);
    assert_eq!(fs::read_to_string(fixture.root.join("home/notes")).unwrap(), "evil\n");
}

#[test]
fn listed_folders_are_writable() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.root.join("home/.tool")).unwrap();
    let mut definition = agent("a", "echo x > ~/.tool/state");
    definition.writable = vec!["~/.tool".into(), "~/.missing".into()];
    output(&fixture, definition);
    assert!(fixture.root.join("home/.tool/state").exists());
}

#[test]
fn a_listed_folder_in_which_git_obeys_something_is_refused() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.root.join("home/other/.git/hooks")).unwrap();
    fs::create_dir_all(fixture.root.join("home/other/src")).unwrap();
    fs::create_dir_all(fixture.root.join("home/.config/git")).unwrap();
    let runner = Runner::open(fixture.config()).unwrap();
    for (folder, is_refused) in [
        ("~/other", true),
        ("~/other/.git/hooks", true),
        ("~/other/src", false),
        ("~/.config", true),
        ("~/.config/git", true),
        ("~/.gitconfig", true),
    ] {
        let mut definition = agent("a", MARKED);
        definition.writable = vec![folder.into()];
        let ran = runner.run(&request(vec![definition]), &StopFlag::new(), &Log::default());
        let refusal = ran.err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(refusal.contains("git would obey"), is_refused, "{folder}: {refusal}");
    }
}

#[test]
fn an_agent_has_a_home_of_its_own_over_the_users_caches() {
    let fixture = Fixture::new();
    let home = fixture.root.join("home");
    let cache = home.join(".npm/_cacache/a");
    fs::create_dir_all(cache.parent().unwrap()).unwrap();
    fs::write(&cache, "package a\n").unwrap();
    fs::write(home.join(".npmrc"), "token").unwrap();
    let homes = fixture.root.join("homes");
    let config = || RunnerConfig { homes: Some(homes.clone()), ..fixture.config() };
    let runner = Runner::open(config()).unwrap();
    let script = format!(
        "cat ~/.npm/_cacache/a; cat ~/.npmrc; git config user.name; ls -A {homes}; echo evil > ~/.npm/_cacache/a; \
         echo new > ~/new; cat ~/.npm/_cacache/a ~/new; {MARKED}",
        homes = homes.display()
    );
    let log = Log::default();
    // Its check has the same home.
    let check = Some("test $(cat ~/new) = new".to_owned());
    let definition = AgentDefinition { check, ..agent("a", &script) };
    let records = runner.run(&request(vec![definition]), &StopFlag::new(), &log).unwrap();
    assert_eq!(records[0].state, AgentState::Ready, "{:?} {:?}", records[0], log.lines());
    assert_eq!(records[0].exit_code, Some(0), "{:?}", log.lines());
    let lines = log.lines();
    let has = |line: &str| lines.iter().any(|one| one == line);
    assert!(has("package a") && has("evil") && has("new") && has("Ada"), "{lines:?}");
    assert!(!has("token") && !lines.iter().any(|line| line.starts_with("agent-")), "{lines:?}");
    assert_eq!(fs::read_to_string(&cache).unwrap(), "package a\n");
    assert!(!home.join("new").exists());
    // No link of the agent's can lead there afterwards.
    assert_eq!(fs::read_dir(&homes).unwrap().count(), 0);
    // Another agent has another home.
    let log = Log::default();
    let second = "test -e ~/new && echo leaked; cat ~/.npm/_cacache/a";
    runner.run(&request(vec![agent("b", second)]), &StopFlag::new(), &log).unwrap();
    assert!(log.lines().contains(&"package a".to_owned()) && !log.lines().contains(&"leaked".to_owned()));
    let ended = "mkdir -p ~/repo; echo prepared; until test -e go; do sleep 0.05; done";
    let log = Log::default();
    std::thread::scope(|scope| {
        scope.spawn(|| runner.run(&request(vec![agent("c", ended)]), &StopFlag::new(), &log).unwrap());
        log.wait_for("prepared");
        let own = fs::read_dir(&homes).unwrap().next().unwrap().unwrap().path();
        assert!(own.join("home/repo").is_dir(), "the control");
        fs::write(fixture.worktree().with_file_name("7-c").join("go"), "").unwrap();
    });
    assert_eq!(fs::read_dir(&homes).unwrap().count(), 0);
}

#[test]
fn files_of_an_agent_never_run_outside() {
    let fixture = Fixture::new();
    let trap = fixture.root.join("trapped");
    let evil = format!("#!/bin/sh\ntouch {}\ncat\n", trap.display());
    fs::create_dir(fixture.repository().join(".git/hooks")).ok();
    let hook = fixture.repository().join(".git/hooks/post-checkout");
    fs::write(&hook, &evil).unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&hook).status().unwrap();
    let filter = fixture.root.join("filter");
    fs::write(&filter, &evil).unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&filter).status().unwrap();
    for key in ["filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "diff.external"] {
        fixture.git(&["config", key, &filter.to_string_lossy()]);
    }
    let script = format!(
        "echo '* filter=evil' > .gitattributes; echo y > z; exec 2>&1; git -c core.fsmonitor=false -c filter.evil.clean=cat add . ; {MARKED}"
    );
    let mut definition = agent("a", &script);
    definition.clean_tree = true;
    let runner = fixture.runner();
    let record = runner.run(&request(vec![definition]), &StopFlag::new(), &Log::default()).unwrap().remove(0);
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    cocode_runner::diff(&fixture.config(), &record, false).unwrap();
    runner.clean(true, true).unwrap();
    runner.pick(&record, false).unwrap();
    assert!(!trap.exists());
    // The control: plain git runs them.
    fixture.git(&["checkout", "-q", "-b", "other"]);
    assert!(trap.exists());
}

#[test]
fn an_agent_without_network_is_not_started_where_that_cannot_be_enforced() {
    // This level does not confine the network.
    let mut fixture = Fixture::new();
    fixture.level = Level::Process;
    let offline = || AgentDefinition { network: egress::Network::Off, ..agent("a", MARKED) };
    let record = fixture.run_agent(offline());
    assert_eq!((record.state, record.exit_code), (AgentState::Failed, None), "{record:?}");
    assert!(record.detail.unwrap().contains("it may not use the network"));
    assert_eq!(fixture.git(&["rev-parse", "cocode/7-a"]), record.start_commit, "it was not started");
    // The controls: with the network, and at a level that confines it.
    let mut fixture = Fixture::new();
    fixture.level = Level::Process;
    assert_eq!(fixture.run_agent(agent("a", MARKED)).state, AgentState::Ready);
    assert_eq!(Fixture::new().run_agent(offline()).state, AgentState::Ready);
    let open = AgentDefinition { is_confined: false, ..offline() };
    let error = refused(Fixture::new().runner().plan(&request(vec![open])));
    assert!(matches!(error, RunnerError::OpenNetwork { .. }), "{error}");
}

#[test]
fn an_agent_sees_no_worktree_but_its_own() {
    // As by default: in the home folder, in the program's own folder.
    let fixture = Fixture::new();
    let private = fixture.root.join("home/.local/state/program");
    let worktrees = private.join("worktrees");
    fs::create_dir_all(worktrees.join("other-repository/1-x")).unwrap();
    fs::write(worktrees.join("other-repository/1-x/secret"), "secret\n").unwrap();
    let private = vec![private, fixture.root.join("state")];
    let config = RunnerConfig { worktrees: worktrees.clone(), private, ..fixture.config() };
    let runner = Runner::open(config).unwrap();
    let look = format!(
        "W={}; cat $W/*/1-x/secret $W/*/*/secret 2>/dev/null; cd $W; find . -name secret -o -name '*-b' -o -name '*-b.issue.txt'; \
         cd - >/dev/null; cat $COCODE_ISSUE_BODY_FILE >/dev/null && echo body; echo secret > secret; {MARKED}; \
         (echo x > $W/*/mine) 2>/dev/null; mv $W/* $W/moved 2>/dev/null; true",
        worktrees.display()
    );
    let log = Log::default();
    let definition = AgentDefinition { check: Some("test -e secret".to_owned()), ..agent("a", &look) };
    let second = agent("b", &format!("echo secret > secret; {MARKED}"));
    let records = runner.run(&request(vec![second, definition.clone()]), &StopFlag::new(), &log).unwrap();
    let lines = log.lines();
    assert!(records.iter().all(|record| record.state == AgentState::Ready), "{records:?} {lines:?}");
    assert!(lines.iter().any(|line| line == "body"), "{lines:?}");
    assert!(
        !lines.iter().any(|line| line == "secret" || line.contains("-b") || line.contains("/secret")),
        "{lines:?}"
    );
    assert!(!worktrees.join("moved").exists() && worktrees.join("other-repository/1-x/secret").exists());
    drop(runner);
    // The control: where the folder is not the program's own, it is a part of the home that the agent reads.
    let config = RunnerConfig {
        worktrees: worktrees.clone(),
        private: vec![fixture.root.join("state")],
        ..fixture.config()
    };
    let runner = Runner::open(config).unwrap();
    let log = Log::default();
    let request = cocode_runner::RunRequest { issue: "8".parse().unwrap(), ..request(vec![definition]) };
    runner.run(&request, &StopFlag::new(), &log).unwrap();
    let lines = log.lines();
    assert!(lines.iter().any(|line| line == "secret"), "the control: {lines:?}");
    // Those of this repository are hidden there, too.
    assert!(!lines.iter().any(|line| line.contains("-b")), "{lines:?}");
}

#[test]
fn the_record_says_how_an_agent_was_confined() {
    let unconfined = AgentDefinition { is_confined: false, ..agent("a", "true") };
    let cut_off = AgentDefinition { network: Network::Off, ..agent("a", "true") };
    let cases = [
        (Fixture::new(), agent("a", "true"), ["full", "namespaces"], "on"),
        (Fixture::new(), cut_off, ["full", "namespaces"], "off"),
        (Fixture::shared(), agent("a", "true"), ["landlock"; 2], "on"),
        (Fixture::new(), unconfined, ["none"; 2], "on"),
    ];
    for (fixture, definition, levels, network) in cases {
        let record = fixture.run_agent(definition);
        let confinement = record.confinement.clone().unwrap_or_else(|| panic!("{record:?}"));
        assert!(levels.contains(&confinement.level.as_str()), "{record:?}");
        assert_eq!(
            (confinement.network.as_str(), confinement.is_lowered()),
            (network, confinement.level != "full")
        );
        // As it is stored.
        assert_eq!(fixture.runner().records().unwrap()[0].confinement, Some(confinement));
    }
    // The control: one that could not be started was not confined.
    let missing = AgentDefinition { network: Network::Off, is_confined: false, ..agent("a", "true") };
    assert!(Fixture::new().runner().run(&request(vec![missing]), &StopFlag::new(), &Log::default()).is_err());
}
