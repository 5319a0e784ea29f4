//! The common options and `agentd cocode`: each is obeyed, or refused with what does it.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;

use crate::cocode::desk::{Desk, MARKED};

/// Every common option that not all commands obey, with a value.
const OPTIONS: [&[&str]; 10] = [
    &["--workspace", "."],
    &["--base", ".agentd"],
    &["--trust-state"],
    &["--json"],
    &["--sandbox", "require=full"],
    &["--network", "off"],
    &["--layer", "off"],
    &["--cache", "/tmp"],
    &["--timeout", "60"],
    &["--read-only"],
];

/// Every command with what it refuses.
const REFUSED: [(&[&str], &[&str]); 10] = [
    (&["run", "--issue", "5", "--issue-body", "x", "--agent-cmd", "a=true", "--dry-run"], &["--layer"]),
    (&["status"], &["--sandbox", "--network", "--layer", "--cache", "--timeout"]),
    (&["logs", "a"], &["--json", "--sandbox", "--network", "--layer", "--cache", "--timeout"]),
    (&["diff", "a"], &["--json", "--sandbox", "--network", "--layer", "--cache", "--timeout"]),
    (&["cancel", "a"], &["--json", "--sandbox", "--network", "--layer", "--cache", "--timeout"]),
    (&["pick", "a"], &["--network", "--layer", "--cache", "--timeout"]),
    (&["clean"], &["--sandbox", "--network", "--layer", "--cache", "--timeout"]),
    (&["check", "--", "no-such-program-here"], &["--workspace", "--base", "--trust-state", "--layer"]),
    (&["doctor"], &["--trust-state", "--sandbox", "--network", "--layer", "--cache", "--timeout"]),
    (&["paste"], &["--json", "--sandbox", "--network", "--layer", "--cache", "--timeout"]),
];

/// The keys of agents.toml that are named instead of an option.
const KEYS: [(&str, &str); 4] = [
    ("--sandbox", "`sandbox`"),
    ("--network", "`network`"),
    ("--cache", "writable"),
    ("--timeout", "timeout_seconds"),
];

#[test]
fn every_common_option_is_obeyed_or_refused() {
    for (words, refused) in REFUSED {
        let desk = Desk::new();
        let help = desk.cocode(&[words[0], "--help"]).ok().stdout;
        for option in OPTIONS {
            let ran = desk.cocode(&[&words[..1], option, &words[1..]].concat());
            let is_refused = ran.stderr.contains(&format!("does not obey {}", option[0]));
            assert_eq!(is_refused, refused.contains(&option[0]), "{words:?} {option:?} {ran:?}");
            assert!(!is_refused || ran.code == 2, "{words:?} {option:?} {ran:?}");
            let key = KEYS.iter().find(|(name, _)| *name == option[0]).map_or("", |(_, key)| key);
            assert!(!is_refused || ran.stderr.contains(key), "{words:?} {option:?} {ran:?}");
            let lines = help.lines().map(str::trim_start);
            let is_shown = lines
                .map(|line| line.split([' ', '[']).next().unwrap_or_default())
                .any(|one| one == option[0]);
            assert_eq!(is_shown, !is_refused, "{words:?} {option:?}\n{help}");
        }
    }
}

#[test]
fn read_only_refuses_whatever_changes_something() {
    let desk = Desk::new();
    let run = ["run", "--issue", "5", "--issue-body", "x", "--agent-cmd", &format!("a={MARKED}")]
        .map(str::to_owned);
    let run: Vec<&str> = run.iter().map(String::as_str).collect();
    desk.cocode(&[&run[..], &["--read-only"]].concat()).exits(4).says("--read-only");
    assert!(!desk.project.base().exists());
    assert_eq!(desk.git(&["branch", "--list", "cocode/*"]), "");
    desk.cocode(&run).ok();
    let before = (desk.git(&["rev-parse", "HEAD"]), desk.status());
    for words in
        [&["pick", "a"][..], &["pick", "a", "--dry-run"], &["clean"], &["clean", "--all"], &["cancel", "a"]]
    {
        desk.cocode(&[words, &["--read-only"]].concat()).exits(4).says("--read-only");
    }
    desk.cocode(&["check", "--read-only", "--", "true"]).exits(4).says("--read-only");
    desk.cocode(&["check", "--", "./missing"]).exits(3).says("by its path from this folder");
    for words in [&["status"][..], &["logs", "a"], &["diff", "a"], &["doctor"]] {
        desk.cocode(&[words, &["--read-only"]].concat()).ok();
    }
    assert_eq!((desk.git(&["rev-parse", "HEAD"]), desk.status()), before);
    // The same where a file says it, and not where the command line takes it back.
    let config = desk.home().join(".config/agentd/config.toml");
    desk.define("");
    fs::write(&config, "read-only = true\n").unwrap();
    desk.cocode(&["pick", "a"]).exits(4);
    desk.cocode(&["pick", "a", "--read-only=off"]).ok();
    assert_ne!(desk.git(&["rev-parse", "HEAD"]), before.0);
}

#[test]
fn a_file_protects_from_agents_work_as_the_command_line_does() {
    let desk = Desk::new();
    let config = desk.home().join(".config/agentd/config.toml");
    desk.define("");
    desk.agent(&format!("echo theirs > guarded.md && git add guarded.md && {MARKED}")).ok();
    let head = desk.git(&["rev-parse", "HEAD"]);
    desk.cocode(&["pick", "a", "--protect", "*.md"]).exits(4).says("guarded.md");
    fs::write(&config, "protect = ['*.md']\n").unwrap();
    desk.cocode(&["pick", "a"]).exits(4).says("guarded.md");
    assert_eq!(desk.git(&["rev-parse", "HEAD"]), head);
    // The control.
    fs::write(&config, "protect = ['*.txt']\n").unwrap();
    desk.cocode(&["pick", "a"]).ok();
    assert_ne!(desk.git(&["rev-parse", "HEAD"]), head);
}

#[test]
fn an_agent_has_the_network_that_the_command_line_gives_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Connections are made by the kernel, without an accept.
    let script = format!("bash -c 'echo x > /dev/tcp/127.0.0.1/{port}' && {MARKED}");
    let command = format!("a={script}");
    for (defined, given, code) in
        [("on", None, 0), ("on", Some("off"), 1), ("off", None, 1), ("off", Some("on"), 0)]
    {
        let desk = Desk::new();
        desk.define(&format!(
            "[agents.a]\ncommand = 'sh'\nargs = ['-c', {}]\nnetwork = '{defined}'\n",
            serde_json::to_string(&script).unwrap()
        ));
        let options = given.map_or(Vec::new(), |given| vec!["--network", given]);
        desk.run(&[&["--agent", "a"][..], &options].concat()).exits(code);
    }
    Desk::new().run(&["--agent-cmd", &command]).ok();
    Desk::new().run(&["--agent-cmd", &command, "--network=off"]).exits(1);
    // What a file says is about commands of a model, whose usual value it is.
    let desk = Desk::new();
    desk.define("");
    fs::write(desk.home().join(".config/agentd/config.toml"), "network = 'off'\n").unwrap();
    desk.run(&["--agent-cmd", &command]).ok();
    drop(listener);
}

#[test]
fn an_agent_may_change_the_caches_that_the_command_line_names() {
    let folder = tempfile::Builder::new().prefix("agentd-cache-").tempdir_in("/var/tmp").unwrap();
    let cache = fs::canonicalize(folder.path()).unwrap();
    let cache = cache.to_str().unwrap();
    let command = format!("a=echo kept > {cache}/file && {MARKED}");
    Desk::new().run(&["--agent-cmd", &command]).exits(1);
    assert!(!Path::new(cache).join("file").exists());
    Desk::new().run(&["--agent-cmd", &command, "--cache", cache]).ok();
    assert_eq!(fs::read_to_string(Path::new(cache).join("file")).unwrap(), "kept\n");
    let desk = Desk::new();
    desk.run(&["--agent-cmd", &command, "--cache", "/no/such/folder"]).exits(2).says("is not a folder");
}

#[test]
fn what_no_agent_may_change_is_not_given_to_one() {
    let desk = Desk::new();
    for name in [".ssh", ".ssh/keys", ".config/agentd", "fine"] {
        fs::create_dir_all(desk.home().join(name)).unwrap();
    }
    std::os::unix::fs::symlink(desk.home().join(".ssh"), desk.home().join("link")).unwrap();
    let repository = desk.project.workspace().display().to_string();
    let inside = format!("{repository}/.git/hooks");
    for (path, why) in [
        ("~/.ssh", "credentials"),
        ("~/.ssh/keys", "credentials"),
        ("~/link", "credentials"),
        ("~/fine/../.ssh", "credentials"),
        ("~", "home folder"),
        ("/", "home folder"),
        ("~/.config", "its own files"),
        ("~/.config/agentd", "its own files"),
        ("~/.local/state/agentd", "its own files"),
        ("relative", "absolute path"),
        (repository.as_str(), "the repository"),
        (inside.as_str(), "the repository"),
    ] {
        let defined = |path: &str| {
            desk.define(&format!("[agents.a]\ncommand = 'true'\nwritable = ['{path}']\n"));
            desk.run(&["--agent", "a"])
        };
        defined(path).exits(2).says(why);
        if let Some(rest) = path.strip_prefix("~/").filter(|rest| desk.home().join(rest).is_dir()) {
            let folder = desk.home().join(rest);
            let ran = desk.run(&["--agent-cmd", "b=true", "--cache", folder.to_str().unwrap()]);
            // Where agents.toml is, it is not even read.
            assert!(ran.code == 4 || (ran.code == 2 && ran.stderr.contains(why)), "{path}: {ran:?}");
        }
    }
    assert_eq!(desk.git(&["branch", "--list", "cocode/*"]), "");
    desk.define(
        "[agents.a]\ncommand = 'touch'\nargs = ['../../../../../fine/x']\nwritable = ['~/fine', '~/.gone']\n",
    );
    desk.run(&["--agent", "a"]).exits(1);
    assert_eq!(desk.status()["agents"].as_array().unwrap().len(), 1, "it was run");
}

#[test]
fn no_agent_is_less_confined_than_the_command_line_asks_for() {
    let desk = Desk::new();
    let marked = serde_json::to_string(MARKED).unwrap();
    let define =
        |more: &str| desk.define(&format!("[agents.a]\ncommand = 'sh'\nargs = ['-c', {marked}]\n{more}\n"));
    define("");
    desk.run(&["--agent", "a", "--sandbox", "off"]).exits(2).says("sandbox = \"off\"").says("agents.toml");
    define("sandbox = 'off'");
    for level in ["require=full", "allow=landlock"] {
        desk.run(&["--agent", "a", "--sandbox", level]).exits(4).says("sandbox = \"off\"");
    }
    let open = desk.run(&["--agent", "a", "--network", "off"]).exits(2);
    assert!(open.stderr.contains("nothing enforces that"), "{open:?}");
    define("sandbox = 'off'\nnetwork = 'off'");
    desk.run(&["--agent", "a"]).exits(2).says("nothing enforces that");
    assert_eq!(desk.git(&["branch", "--list", "cocode/*"]), "");
    define("sandbox = 'off'");
    desk.run(&["--agent", "a", "--sandbox", "allow=none"]).ok();
}

#[test]
fn every_report_says_how_agents_are_confined() {
    let desk = Desk::new();
    let ran = desk.run(&["-v", "--agent-cmd", &format!("a={MARKED}")]).ok();
    let level = desk.status()["agents"][0]["confinement"]["level"].as_str().unwrap().to_owned();
    assert!(ran.stderr.contains(&format!(", at level {level}, network on")), "{ran}");
    // Part of it is in the list of agents, too.
    let is_named = |name: &str, text: &str| {
        let listed = desk.cocode(&["status"]).stdout;
        listed.lines().any(|line| line.contains(&format!(" {name} ")) && line.contains(text))
    };
    assert_eq!(is_named("a", "it ran at level"), level != "full");
    desk.define("[agents.b]\ncommand = 'true'\nsandbox = 'off'\n");
    let ran = desk.run(&["--json", "--agent", "b"]);
    let started: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&started["event"], &started["confinement"]["level"]),
        (&"started".into(), &"none".into()),
        "{ran}"
    );
    assert!(is_named("b", "it ran at level none, network on"), "{ran}");
}

#[test]
fn what_no_check_has_passed_is_not_recommended() {
    let desk = Desk::new();
    let agent = |name: &str, lines: u32| format!("{name}=seq {lines} > {name}; git add .; {MARKED}");
    let (small, large) = (agent("small", 1), agent("large", 50));
    let run = |issue: &str, more: &[&str]| {
        let start = ["run", "--issue", issue, "--issue-body", "x", "--compare", "--agent-cmd", &small];
        desk.cocode(&[&start[..], &["--agent-cmd", &large], more].concat())
    };
    let ran = run("1", &[]).ok();
    assert!(!ran.stdout.contains("cocode pick"), "{ran:?}");
    assert!(
        ran.stdout.contains("no check has passed") && ran.stdout.matches("unchecked").count() == 4,
        "{ran:?}"
    );
    desk.cocode(&["status"]).ok().prints("unchecked");
    desk.cocode(&["pick", "small", "--dry-run"]).ok().says("unchecked");
    // The larger change comes first where it alone has passed.
    let ran = run("2", &["--check", "test -e large"]).ok();
    assert!(ran.stdout.contains("cocode pick large"), "{ran:?}");
    assert!(ran.stdout.find("large        ready") < ran.stdout.find("small        completed"), "{ran:?}");
    assert!(!ran.stdout.contains("unchecked"), "{ran:?}");
    let picked = desk.cocode(&["pick", "large", "--dry-run"]).ok();
    assert!(!picked.stderr.contains("unchecked") && !picked.stdout.contains("unchecked"), "{picked:?}");
    // A check that was not run because the agent is not ready has not failed.
    let ran = run("4", &["--check", "true", "--marker", "another marker"]).exits(1);
    assert!(ran.stdout.matches("not run").count() == 2 && !ran.stdout.contains("failed  "), "{ran:?}");
    // One that lacks its program says so.
    let ran = run("5", &["--check", "no-such-program"]).exits(1);
    assert!(ran.stdout.contains("the shell did not find a command of it"), "{ran:?}");
    run("3", &["--check", " "]).exits(2);
    // One of agents.toml that has passed a check, and one without any.
    let text = serde_json::to_string(MARKED).unwrap();
    let define =
        |name: &str, more: &str| format!("[agents.{name}]\ncommand = 'sh'\nargs = ['-c', {text}]\n{more}\n");
    desk.define(&[define("a", ""), define("b", "check = 'true'")].concat());
    let ran =
        desk.cocode(&["run", "--issue", "4", "--issue-body", "x", "--agent", "a", "b", "--compare"]).ok();
    assert!(ran.stdout.contains("cocode pick b"), "{ran:?}");
}

#[test]
fn what_is_kept_is_not_removed_or_carried_out_where_nothing_may_be_changed() {
    let desk = Desk::new();
    let project = &desk.project;
    let id = project.begin("x");
    let file = project.folder().join("t.json");
    let file = file.to_str().unwrap();
    project.run(&["show", &id, "--export", file, "--read-only"]).exits(4);
    assert!(!Path::new(file).exists());
    project.run(&["show", &id, "--export", file]).ok();
    project.run(&["replay", file, "--read-only"]).exits(4);
    project.run(&["replay", file]).ok();
    project.run(&["gc", "--read-only"]).exits(4);
    project.run(&["gc"]).ok();
}

#[test]
fn a_command_without_a_workspace_says_nothing_of_one_above() {
    let desk = Desk::new();
    let subfolder = desk.project.workspace().join("subfolder");
    fs::create_dir(&subfolder).unwrap();
    let run = |words: &[&str]| {
        let mut command = desk.command(words);
        crate::fixture::project::Ran::of(command.current_dir(&subfolder).output().unwrap())
    };
    let is_named = |words: &[&str]| run(words).stderr.contains("--workspace . takes this folder");
    assert!(is_named(&["status"]), "the control");
    // It would be refused there.
    assert!(!is_named(&["check", "--", "true"]));
}

#[test]
fn files_of_the_users_shell_are_refused_with_a_way_out() {
    let desk = Desk::new();
    desk.cocode(&["check", "--", "sh", "/dev/fd/63"]).exits(2).says("'/dev/fd/63'").says("into a file first");
    desk.run(&["--agent-cmd", "a=sh /proc/self/fd/9"]).exits(2).says("'/proc/self/fd/9'");
}
