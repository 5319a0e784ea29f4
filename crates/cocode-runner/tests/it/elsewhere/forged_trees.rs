//! Trees that git stores and would not check out, and files that name programs.

use std::fs;

use cocode_env::AgentState;
use test_support::write_program;

use crate::elsewhere::machines::{Machines, judge};
use crate::fixture::{MARKED, agent, failures};
use crate::soundness::{FUNCTIONS, REFUSED};

#[test]
fn a_tree_that_git_does_not_check_out_is_not_checked_out() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let script = |entries: &str| format!("{FUNCTIONS} {{ {entries}; }} | commit");
    // Git makes no bundle of the two that it cannot parse.
    let cases: Vec<_> = REFUSED
        .iter()
        .filter(|(_, reason)| !["null sha1", "empty filename in tree entry"].contains(reason))
        .collect();
    let sound = "entry 100644 a $B; entry 120000 b $B; entry 40000 c $T";
    let mut agents: Vec<_> =
        (0..).zip(&cases).map(|(index, case)| agent(&format!("a{index}"), &script(case.0))).collect();
    agents.push(agent("sound", &script(sound)));
    let mut works = machines.work(agents.clone());
    let control = works.pop().unwrap();
    for (((entries, reason), agent), work) in cases.into_iter().zip(&agents).zip(works) {
        assert!(work.delivery.bundle.is_some(), "{entries}");
        let record = machines.begin(&runner, agent.clone());
        let judged = match judge(&runner, &record, &work.delivery) {
            Ok(judged) => judged,
            Err(error) => panic!("{entries}: {}", crate::elsewhere::machines::chain(&error)),
        };
        assert_eq!(failures(&judged), ["sound"], "{entries}: {judged:?}");
        let why = judged.verdict.as_ref().unwrap().first_failure().unwrap().why.clone();
        assert!(why.contains(reason), "{entries}: {why}");
        assert!(!judged.worktree.exists() && !machines.references().contains(&judged.branch), "{entries}");
        assert!(runner.pick(&judged, true).is_err());
    }
    let record = machines.begin(&runner, agents.pop().unwrap());
    let judged = judge(&runner, &record, &control.delivery).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
    assert!(judged.worktree.join("deep/b").is_symlink());
    assert!(!machines.home.root.join("state/checked/7-sound").exists());
}

#[test]
fn a_checkout_runs_no_filter_and_no_hook() {
    let machines = Machines::new();
    let home = &machines.home;
    let ran = home.root.join("ran");
    let program = home.root.join("program");
    write_program(&program, &format!("#!/bin/sh\necho x >> {}\ncat\n", ran.display()));
    let text = program.to_string_lossy().into_owned();
    for key in ["filter.evil.smudge", "filter.evil.clean"] {
        home.git(&["config", key, &text]);
    }
    let hooks = home.repository().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        fs::copy(&program, hooks.join(hook)).unwrap();
    }
    fs::create_dir(home.repository().join("h")).unwrap();
    let runner = home.runner();
    let script = format!("echo '* filter=evil' > .gitattributes; git add .gitattributes; {MARKED}");
    let record = machines.begin(&runner, agent("a", &script));
    let work = machines.work(vec![agent("a", &script)]).remove(0);
    let _ = fs::remove_file(&ran);
    let judged = judge(&runner, &record, &work.delivery).unwrap();
    assert_eq!(judged.state, AgentState::Ready, "{judged:?}");
    assert_eq!(fs::read_to_string(judged.worktree.join("done-7-a")).unwrap(), "x\n");
    assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap());
    // The control: git by itself runs them.
    let other = home.root.join("other").to_string_lossy().into_owned();
    home.git(&["worktree", "add", "-q", "--detach", &other, &judged.branch]);
    assert!(ran.exists());
}
