mod left_files;
mod obeyed_worktrees;

use cocode_env::AgentState;

use crate::fixture::{Fixture, MARKED, agent, failures};

#[test]
fn an_honest_agent_is_ready() {
    let fixture = Fixture::new();
    let record = fixture.run(&format!("echo x > b.txt && git add . && {MARKED}"));
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    assert_eq!((record.commits, record.exit_code, record.branch.as_str()), (1, Some(0), "cocode/7-a"));
    assert_eq!(fixture.git(&["log", "-1", "--format=%an %s", "cocode/7-a"]), "Ada fix: x");
}

/// Two commits whose changes come to nothing.
const UNDONE: &str =
    "echo x > b && git add . && git commit -qm x && git rm -q b && git commit -qm 'cocode ready for check'";

/// Returns cases of agents whose marker does not count: the name, the script, and the parts of the verdict that fail.
pub(crate) fn cases() -> Vec<(&'static str, String, &'static [&'static str])> {
    let cases: [(&'static str, &str, &'static [&'static str]); 12] = [
        ("nothing committed", "true", &["descends", "new", "changes", "marker"]),
        ("nothing changed", "git commit -q --allow-empty -m 'cocode ready for check'", &["changes"]),
        ("nothing changed in the end", UNDONE, &["changes"]),
        ("no marker", "echo x > b && git add . && git commit -q -m x", &["marker"]),
        (
            "reverted",
            "echo x > b && git add . && git commit -qm 'cocode ready for check' && git revert --no-edit HEAD",
            &["changes", "marker"],
        ),
        (
            "quoted",
            "echo x > b && git add . && git commit -qm 'Then say: cocode ready for check, please.'",
            &["marker"],
        ),
        ("amended away", &format!("{MARKED} && git commit -q --amend --allow-empty -m x"), &["marker"]),
        (
            "the start amended",
            "git commit -q --amend --allow-empty -m 'cocode ready for check'",
            &["descends", "changes"],
        ),
        (
            "merged",
            "git checkout -q --detach && git commit -q --allow-empty -m y && git checkout -q - && \
             echo x > b && git add . && git commit -q -m x && git merge -q --no-ff -m 'cocode ready for check' @{-1}",
            &["marker"],
        ),
        ("more commits", &format!("{MARKED} && git commit -q --allow-empty -m more"), &["marker"]),
        (
            "an old date",
            "echo x > b; git add .; GIT_COMMITTER_DATE='2001-01-01T00:00:00Z' git commit -q -m 'cocode ready for check'",
            &["new"],
        ),
        ("exit 1", &format!("{MARKED}; exit 1"), &["exit_code"]),
    ];
    cases.into_iter().map(|(name, script, expected)| (name, script.to_owned(), expected)).collect()
}

#[test]
fn markers_that_are_not_the_agents_word_do_not_count() {
    for (name, script, expected) in cases() {
        let record = Fixture::new().run(&script);
        assert_eq!(failures(&record), expected, "{name}: {record:?}");
        assert_ne!(record.state, AgentState::Ready, "{name}");
    }
}

#[test]
fn a_start_commit_with_the_marker_is_inherited() {
    let fixture = Fixture::new();
    fixture.git(&["commit", "-q", "--allow-empty", "-m", "cocode ready for check"]);
    let record = fixture.run("true");
    assert_eq!(record.state, AgentState::Completed);
    assert_eq!(failures(&record), ["descends", "new", "changes", "marker"]);
}

#[test]
fn a_commit_that_was_there_before_is_not_the_agents() {
    let fixture = Fixture::new();
    fixture.git(&["checkout", "-q", "-b", "side"]);
    // Its date lies in the future, so that the date alone would let it pass.
    std::fs::write(fixture.repository().join("side.txt"), "x").unwrap();
    fixture.git(&["add", "side.txt"]);
    fixture.git(&["-c", "user.name=x", "commit", "-q", "-m", "cocode ready for check"]);
    let commit = fixture.git(&["rev-parse", "side"]);
    fixture.git(&["checkout", "-q", "main"]);
    for script in ["git merge -q --ff-only side", "git reset -q --hard side"] {
        let whole_script = format!("sleep 1; {script}; test $(git rev-parse HEAD) = {commit}");
        let record = fixture.run(&whole_script);
        assert_eq!(record.exit_code, Some(0));
        assert_eq!(failures(&record), ["new"], "{script}");
        fixture.git(&["worktree", "remove", "--force", &record.worktree.to_string_lossy()]);
        fixture.git(&["branch", "-q", "-D", "cocode/7-a"]);
    }
}

#[test]
fn a_commit_of_a_sibling_is_not_the_agents() {
    let fixture = Fixture::new();
    // It sees neither the other's branch nor its worktree, but it finds the commit among the objects.
    let find = "git cat-file --batch-all-objects --batch-check='%(objecttype) %(objectname)' | sed -n 's/^commit //p' | \
                while read c; do git log -1 --format=%B $c | grep -q ready && echo $c; done";
    let agents = vec![
        agent("a", &format!("{MARKED}; sleep 1")),
        agent(
            "b",
            &format!(
                "(until C=$({find}); test -n \"$C\"; do sleep 0.1; done) 2>/dev/null; git merge -q --ff-only $({find})"
            ),
        ),
    ];
    let runner = fixture.runner();
    let log = crate::fixture::Log::default();
    let records = runner.run(&crate::fixture::request(agents), &Default::default(), &log).unwrap();
    assert_eq!(records[0].state, AgentState::Ready);
    assert_eq!(records[1].state, AgentState::Completed);
    assert_eq!(failures(&records[1]), ["new"]);
}

#[test]
fn a_detached_head_counts_with_a_warning() {
    let record = Fixture::new().run(&format!("git checkout -q --detach && {MARKED}"));
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    assert_eq!(record.warnings, ["HEAD is not on the agent's branch"]);
}

#[test]
fn exit_codes_become_states() {
    for (code, state) in [
        (1, AgentState::Failed),
        (2, AgentState::Failed),
        (3, AgentState::Failed),
        (124, AgentState::TimedOut),
        (130, AgentState::Cancelled),
    ] {
        let record = Fixture::new().run(&format!("{MARKED}; exit {code}"));
        assert_eq!((record.state, record.exit_code), (state, Some(code)));
        assert!(record.verdict.unwrap().marker_present);
    }
}

#[test]
fn an_overlong_message_is_not_read_to_its_end() {
    let commit = |bytes: u32| {
        format!(
            "echo x > b && git add . && (printf 'cocode ready for check\\n\\n'; head -c {bytes} /dev/zero | tr '\\0' x) | \
             git commit -q --file=-"
        )
    };
    let long = Fixture::new().run(&commit(8 << 20));
    assert_eq!(failures(&long), ["marker"], "{long:?}");
    let why = &long.verdict.as_ref().unwrap().first_failure().unwrap().why;
    assert_eq!(why, "the message of the last commit is too long to read");
    // The control: the same message, only shorter.
    assert_eq!(Fixture::new().run(&commit(100 << 10)).state, AgentState::Ready);
}
