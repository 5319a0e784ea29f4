use std::fs;

use cocode_env::AgentState;
use cocode_runner::{AgentDefinition, Delivery, PickWay, diff};

use crate::elsewhere::machines::{Machines, judge};
use crate::fixture::{MARKED, agent, failures};

#[test]
fn honest_work_is_ready_and_can_be_taken() {
    let machines = Machines::new();
    let home = &machines.home;
    let runner = home.runner();
    let before = machines.references();
    let record = machines.begin(&runner, agent("a", MARKED));
    let work = machines.work(vec![agent("a", MARKED)]).remove(0);
    assert_eq!(work.local.state, AgentState::Ready, "{:?}", work.local);
    let judged = judge(&runner, &record, &work.delivery).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
    assert_eq!((judged.commits, judged.exit_code, &judged.head), (1, Some(0), &work.local.head));
    assert_eq!(judged.warnings, Vec::<String>::new());
    let elsewhere = judged.elsewhere.clone().unwrap();
    assert_eq!((elsewhere.host.as_deref(), elsewhere.epoch), (Some("worker"), 1));
    // The agent's own branch is all that is new.
    let head = judged.head.clone().unwrap();
    assert_eq!(machines.references(), format!("refs/heads/cocode/7-a {head}\n{before}"));
    assert_eq!(fs::read_to_string(judged.worktree.join("done-7-a")).unwrap(), "x\n");
    assert_eq!(home.git_in(&judged.worktree, &["status", "--porcelain"]), "");
    assert!(diff(&home.config(), &judged, true).unwrap().contains("done-7-a"));
    // The same once more: the record has its verdict.
    assert_eq!(judge(&runner, &record, &work.delivery).unwrap(), judged);
    let kept = runner.clean(true, false).unwrap().remove(0);
    assert_eq!(kept.why.as_deref(), Some("it has unmerged commits"));
    assert_eq!(runner.pick(&judged, false).unwrap().way, PickWay::FastForward);
    assert!(runner.clean(true, false).unwrap().remove(0).removed);
    assert!(!judged.worktree.exists());
    assert_eq!(fs::read_dir(home.root.join("state/delivered")).unwrap().count(), 0);
    home.git(&["fsck", "--strict"]);
}

#[test]
fn the_check_runs_at_home_and_confined() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let config = machines.home.repository().join(".git/config");
    let settings = fs::read(&config).unwrap();
    let checks = [
        ("holds", "test -f done-7-holds".to_owned(), true),
        ("fails", "test -f missing".to_owned(), false),
        ("settings", format!("echo x >> {}", config.display()), false),
        ("issue", "grep -q 'Fix it' \"$COCODE_ISSUE_BODY_FILE\"".to_owned(), true),
        ("commits", "git commit -q --allow-empty -m more".to_owned(), true),
        // An own variable, which no record holds.
        ("variable", "test \"$TOKEN\" = t".to_owned(), true),
    ];
    let agents: Vec<_> = checks.iter().map(|(name, ..)| agent(name, MARKED)).collect();
    let works = machines.work(agents.clone());
    for (((name, check, passes), agent), work) in checks.into_iter().zip(agents).zip(works) {
        let record = machines.begin(&runner, AgentDefinition { check: Some(check), ..agent });
        let environment = [("TOKEN".to_owned(), "t".to_owned())].into();
        let judged = judge(&runner, &record, &Delivery { environment, ..work.delivery }).unwrap();
        let failed: &[&str] = if passes { &[] } else { &["check"] };
        assert_eq!(failures(&judged), failed, "{name}: {judged:?}");
        // The verdict is on what was delivered, whatever the check has made of it.
        assert_eq!(judged.head, work.local.head, "{name}");
        assert!(!work.local.verdict.unwrap().is_checked());
    }
    assert_eq!(fs::read(&config).unwrap(), settings);
}

#[test]
fn claims_make_a_verdict_worse_and_never_better() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let cases = [
        ("ready", AgentState::Ready, Some(0), AgentState::Ready, Some(0)),
        ("completed", AgentState::Completed, Some(0), AgentState::Ready, Some(0)),
        ("one", AgentState::Ready, Some(1), AgentState::Failed, Some(1)),
        ("unknown", AgentState::Ready, None, AgentState::Failed, None),
        ("late", AgentState::TimedOut, Some(0), AgentState::TimedOut, Some(124)),
        ("cancelled", AgentState::Cancelled, Some(0), AgentState::Cancelled, Some(130)),
        ("failed", AgentState::Failed, Some(0), AgentState::Failed, None),
        ("lost", AgentState::Lost, Some(0), AgentState::Lost, None),
    ];
    let works = machines.work(cases.iter().map(|(name, ..)| agent(name, MARKED)).collect());
    for ((name, state, exit_code, expected, code), work) in cases.into_iter().zip(works) {
        let record = machines.begin(&runner, agent(name, MARKED));
        let judged = judge(&runner, &record, &Delivery { state, exit_code, ..work.delivery }).unwrap();
        assert_eq!((judged.state, judged.exit_code), (expected, code), "{name}: {judged:?}");
        let is_ready = judged.verdict.as_ref().unwrap().ready;
        assert_eq!(is_ready, expected == AgentState::Ready, "{name}");
        // The work is there in any case.
        assert_eq!(judged.commits, 1, "{name}");
    }
    // An agent without work is not ready, whatever is claimed.
    let record = machines.begin(&runner, agent("idle", "true"));
    let idle = machines.work(vec![agent("idle", "true")]).remove(0);
    let judged = judge(&runner, &record, &Delivery { state: AgentState::Ready, ..idle.delivery }).unwrap();
    assert_eq!(judged.state, AgentState::Completed);
    assert!(!judged.worktree.exists());
    assert!(runner.clean_by_force(&judged, false).unwrap().removed);
}

#[test]
fn a_clean_tree_is_claimed_by_the_other_machine() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    for (name, is_clean, failed) in
        [("yes", Some(true), &[][..]), ("no", Some(false), &["clean_tree"]), ("open", None, &["clean_tree"])]
    {
        let definition = AgentDefinition { clean_tree: true, ..agent(name, MARKED) };
        let record = machines.begin(&runner, definition.clone());
        let work = machines.work(vec![definition]).remove(0);
        assert_eq!(work.delivery.is_clean, Some(true));
        let judged = judge(&runner, &record, &Delivery { is_clean, ..work.delivery }).unwrap();
        assert_eq!(failures(&judged), failed, "{name}");
    }
}

#[test]
fn a_repository_with_long_names_is_judged_like_others() {
    let machines = Machines::new();
    let home = &machines.home;
    fs::remove_dir_all(home.repository().join(".git")).unwrap();
    home.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    home.git(&["add", "."]);
    home.git(&["commit", "-q", "-m", "start"]);
    let judged = machines.run(agent("a", MARKED));
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
    assert_eq!(judged.head.unwrap().len(), 64);
    // Git's own bundle of such a repository.
    let runner = home.runner();
    let record = machines.begin(&runner, agent("b", MARKED));
    let judged =
        judge(&runner, &record, &machines.forge(&format!("echo b > b; git add b; {MARKED}"))).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
}
