//! The cases of a run on one machine, through a delivery.

use cocode_env::AgentState;

use crate::elsewhere::machines::{Machines, judge};
use crate::fixture::{agent, failures};
use crate::verdicts;

#[test]
fn a_delivery_has_the_verdict_of_a_local_run() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let mut cases = verdicts::cases();
    cases.push(("honest", crate::fixture::MARKED.to_owned(), &[]));
    // Two agents that make the very same commit would be one that delivers the other's.
    let own = |(index, case): (usize, &(&str, String, &[&str]))| {
        agent(&format!("a{index}"), &format!("export GIT_AUTHOR_NAME=a{index}; {}", case.1))
    };
    let agents: Vec<_> = (0..).zip(&cases).map(own).collect();
    let works = machines.work(agents.clone());
    for (((name, _, expected), agent), work) in cases.into_iter().zip(agents).zip(works) {
        assert_eq!(failures(&work.local), expected, "{name}: {:?}", work.local);
        let record = machines.begin(&runner, agent);
        let judged = judge(&runner, &record, &work.delivery).unwrap();
        // The one exception: a commit's time is by the clock of another machine, and is not compared.
        let expected = if name == "an old date" { &[] } else { expected };
        assert_eq!(failures(&judged), expected, "{name}: {judged:?}");
        assert_eq!(judged.state == AgentState::Ready, expected.is_empty(), "{name}");
        assert_eq!((judged.commits, judged.head), (work.local.commits, work.local.head), "{name}");
    }
}

#[test]
fn a_start_commit_with_the_marker_is_inherited() {
    let machines = Machines::new();
    machines.home.git(&["commit", "-q", "--allow-empty", "-m", "cocode ready for check"]);
    let judged = machines.run(agent("a", "true"));
    assert_eq!(judged.state, AgentState::Completed);
    assert_eq!(failures(&judged), ["descends", "new", "changes", "marker"]);
}
