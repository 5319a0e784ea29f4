//! Files that an agent has not committed: what its check could read, what a clean worktree does not hold, and what is not removed.

use std::fs;

use cocode_env::AgentState;
use cocode_runner::{AgentDefinition, AgentRecord};

use crate::fixture::{Fixture, MARKED, agent, failures};

const WARNING: &str = "its check ran with files that are not committed, and may not pass without them: ";

/// Runs an agent with a check, in a repository of which the user has these ignored.
fn checked(fixture: &Fixture, script: &str, check: &str) -> AgentRecord {
    let ignored = "mine\n__pycache__\n";
    fs::write(fixture.repository().join(".gitignore"), ignored).unwrap();
    fs::write(fixture.repository().join(".git/info/exclude"), "everywhere\n").unwrap();
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "-q", "-m", "ignored"]);
    fixture.run_agent(AgentDefinition { check: Some(check.to_owned()), ..agent("a", script) })
}

/// Returns cases: what an agent leaves after its commit, and the names of the files that are in no commit.
fn cases() -> Vec<(&'static str, &'static str)> {
    vec![
        // The controls: what the user's own rules ignore, or committed ones, and caches with a rule of their own.
        ("true", ""),
        ("mkdir mine; echo x | tee mine/x everywhere", ""),
        ("mkdir .pytest_cache; echo '*' > .pytest_cache/.gitignore; echo x > .pytest_cache/x", ""),
        ("touch a.txt; chmod 600 a.txt", ""),
        (
            "mkdir sub; echo x > sub/x; git add sub; git commit -q -m 'fix: y

cocode ready for check'; chmod 0 sub",
            "",
        ),
        ("echo x > needed", "needed"),
        ("mkdir secret; echo x > secret/answer; chmod 0 secret", "secret/answer"),
        ("mkdir -p a/b; echo x > a/b/answer; chmod 0 a/b; chmod 111 a", "a/b/answer"),
        ("touch \"$(printf 'two\\nlines')\"", "two␊lines"),
        ("echo x >> a.txt; echo x > needed", "a.txt, needed"),
        ("git update-index --assume-unchanged a.txt; echo x >> a.txt", "a.txt"),
        ("git update-index --skip-worktree a.txt; echo x >> a.txt", "a.txt"),
        ("git update-index --skip-worktree a.txt; rm a.txt", "a.txt"),
        ("echo x > staged; git add staged; rm staged", "staged"),
        ("mkdir helper; echo '*' > helper/.gitignore; echo x > helper/x", "helper/.gitignore, helper/x"),
        ("echo /hidden >> .gitignore; mkdir hidden; echo x > hidden/x", ".gitignore, hidden/"),
        (
            "git update-index --assume-unchanged .gitignore; echo hidden >> .gitignore; echo x > hidden",
            ".gitignore, hidden",
        ),
        ("echo x > $(printf 'odd\\377'); echo '*' > .gitignore", ".gitignore, odd\u{fffd}"),
    ]
}

#[test]
fn a_check_that_reads_what_is_not_committed_is_reported() {
    for (script, names) in cases() {
        let record = checked(&Fixture::new(), &format!("{MARKED}; {script}"), "true");
        assert_eq!(record.state, AgentState::Ready, "{script}: {record:?}");
        let expected = if names.is_empty() { Vec::new() } else { vec![format!("{WARNING}{names}")] };
        assert_eq!(record.warnings, expected, "{script}");
    }
    // The controls: the agent's own rule is committed, and a file that the check itself leaves.
    let script =
        format!("echo /built >> .gitignore; git add .gitignore; {MARKED}; mkdir built; echo x > built/x");
    let record = checked(&Fixture::new(), &script, "touch report");
    assert_eq!((record.state, record.warnings), (AgentState::Ready, Vec::new()));
}

#[test]
fn a_worktree_with_files_in_no_commit_is_not_clean_and_is_kept() {
    for (script, names) in cases() {
        let fixture = Fixture::new();
        fs::write(fixture.repository().join(".gitignore"), "mine\n").unwrap();
        fs::write(fixture.repository().join(".git/info/exclude"), "everywhere\n").unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "ignored"]);
        let record = fixture
            .run_agent(AgentDefinition { clean_tree: true, ..agent("a", &format!("{MARKED}; {script}")) });
        let expected: &[&str] = if names.is_empty() { &[] } else { &["clean_tree"] };
        assert_eq!(failures(&record), expected, "{script}");
        let runner = fixture.runner();
        assert!(runner.pick(&record, false).unwrap().done, "{script}");
        let cleaned = runner.clean(true, false).unwrap().remove(0);
        assert_eq!(cleaned.removed, names.is_empty(), "{script}: {cleaned:?}");
        if !names.is_empty() {
            assert_eq!(
                cleaned.why.unwrap(),
                format!("it holds files that are not committed: {names}"),
                "{script}"
            );
        }
    }
}

/// Makes folders of a depth with a file in the last one.
fn nested(name: &str, depth: usize) -> String {
    format!("perl -e 'for (1..{depth}) {{ mkdir \"{name}\"; chdir \"{name}\" }} open(F, \">answer\") or die'")
}

#[test]
fn a_folder_that_git_cannot_look_into_is_not_clean() {
    // Git finds no file whose path is too long for the system, and passes over it.
    let run = |script: String| {
        Fixture::new()
            .run_agent(AgentDefinition { clean_tree: true, ..agent("a", &format!("{MARKED}; {script}")) })
    };
    let record = run(nested("dddddddddd", 500));
    assert_eq!(failures(&record), ["clean_tree"], "{record:?}");
    // The controls: one in a cache, where files do not count, a worktree that is closed itself, and a path that git can read.
    let in_cache = format!(
        "mkdir node_modules; echo '*' > node_modules/.gitignore; cd node_modules; {}",
        nested("dddddddddd", 500)
    );
    assert_eq!(failures(&run(in_cache)), [""; 0]);
    assert_eq!(failures(&run("chmod 0 .".to_owned())), [""; 0]);
    let committed = format!(
        "{}; git add -A; git commit -q -m 'fix: y

cocode ready for check'",
        nested("d", 100)
    );
    assert_eq!(failures(&run(committed)), [""; 0]);
}

#[test]
fn a_check_that_opens_a_folder_for_itself_passes_with_files_that_are_found() {
    let check = "chmod 700 secret && test -f secret/answer && chmod 0 secret";
    let script = |mode: &str| format!("{MARKED}; mkdir secret; echo 42 > secret/answer; chmod {mode} secret");
    // The control is the folder that the agent has not closed.
    for mode in ["0", "700"] {
        let fixture = Fixture::new();
        let definition = AgentDefinition { check: Some(check.to_owned()), ..agent("a", &script(mode)) };
        let record = fixture.run_agent(definition.clone());
        assert_eq!(record.state, AgentState::Ready, "{mode} {record:?}");
        assert_eq!(record.warnings, [format!("{WARNING}secret/answer")], "{mode}");
        assert!(fs::read(record.worktree.join("secret/answer")).is_ok(), "{mode}");
        // The check has closed it after git had looked, and it does not count as left by the check.
        assert_eq!(record.left_by_check, [], "{mode}");
        let name = "b".parse().unwrap();
        let record = fixture.run_agent(AgentDefinition { name, clean_tree: true, ..definition });
        assert_eq!(failures(&record), ["clean_tree", "check"], "{mode}");
    }
}

#[test]
fn a_clean_tree_and_a_check_count_when_asked_for() {
    let dirty = format!("echo x > new.txt && {MARKED}");
    let run = |script: &str, check: Option<&str>| {
        let check = check.map(str::to_owned);
        Fixture::new().run_agent(AgentDefinition { clean_tree: true, check, ..agent("a", script) })
    };
    assert_eq!(failures(&run(&dirty, None)), ["clean_tree"]);
    assert_eq!(run(MARKED, Some("test -f a.txt")).state, AgentState::Ready);
    assert_eq!(failures(&run(MARKED, Some("test -f missing"))), ["check"]);
    // A check is skipped if another part fails, and does not count as passed then.
    assert_eq!(failures(&run(&dirty, Some("true"))), ["clean_tree", "check"]);
}

#[test]
fn files_that_the_user_has_not_checked_out_are_not_missing() {
    let fixture = Fixture::new();
    for folder in ["in", "out"] {
        fs::create_dir(fixture.repository().join(folder)).unwrap();
        fs::write(fixture.repository().join(folder).join("x"), "x\n").unwrap();
    }
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "-q", "-m", "two folders"]);
    fixture.git(&["sparse-checkout", "set", "in"]);
    let run = |script: &str| {
        let name = if script.is_empty() { "a" } else { "b" };
        fixture.run_agent(AgentDefinition { clean_tree: true, ..agent(name, &format!("{MARKED}{script}")) })
    };
    let record = run("");
    assert!(!record.worktree.join("out").exists());
    assert_eq!(failures(&record), [""; 0], "{record:?}");
    // The control: a file that is checked out.
    assert_eq!(failures(&run("; rm in/x")), ["clean_tree"]);
}
