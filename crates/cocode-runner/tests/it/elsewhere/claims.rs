//! Claims of another machine about an agent's end: they make a verdict worse, never better.

use cocode_env::AgentState;
use cocode_runner::{Delivery, DeliveryError, RunnerError};

use crate::elsewhere::machines::{Machines, delivery, judge};
use crate::fixture::{MARKED, agent, failures};

#[test]
fn a_claim_makes_a_verdict_worse_and_never_better() {
    use AgentState::{Cancelled, Completed, Failed, Lost, Ready, TimedOut};
    let machines = Machines::new();
    let runner = machines.home.runner();
    let good = |index: usize| machines.forge(&format!("echo {index} > x; git add .; {MARKED}"));
    let bad = |index: usize| machines.forge(&format!("echo {index} > x; git add x; git commit -q -m x"));
    // Work, claimed state and exit code; state, exit code and failed parts afterwards.
    type Case = (bool, AgentState, Option<i32>, AgentState, Option<i32>, &'static [&'static str]);
    let cases: [Case; 12] = [
        (true, Ready, Some(0), Ready, Some(0), &[]),
        (true, Completed, Some(0), Ready, Some(0), &[]),
        (false, Ready, Some(0), Completed, Some(0), &["marker"]),
        (true, Ready, Some(1), Failed, Some(1), &["exit_code"]),
        (true, Ready, None, Failed, None, &["exit_code"]),
        (true, Failed, Some(0), Failed, None, &["exit_code"]),
        (true, Failed, Some(7), Failed, Some(7), &["exit_code"]),
        (true, TimedOut, Some(0), TimedOut, Some(124), &["exit_code"]),
        (true, Cancelled, Some(0), Cancelled, Some(130), &["exit_code"]),
        (true, Lost, Some(0), Lost, None, &["exit_code"]),
        (false, TimedOut, None, TimedOut, Some(124), &["exit_code", "marker"]),
        (true, Ready, Some(130), Cancelled, Some(130), &["exit_code"]),
    ];
    for (index, (is_good, state, exit_code, judged_state, judged_code, failed)) in
        cases.into_iter().enumerate()
    {
        let record = machines.begin(&runner, agent(&format!("a{index}"), "true"));
        let work = if is_good { good(index) } else { bad(index) };
        let judged = judge(&runner, &record, &Delivery { state, exit_code, ..work }).unwrap();
        assert_eq!((judged.state, judged.exit_code), (judged_state, judged_code), "{index}: {judged:?}");
        assert_eq!(failures(&judged), failed, "{index}: {judged:?}");
        // The commits are there in any case.
        assert!(judged.worktree.join("x").exists());
    }
}

#[test]
fn texts_from_elsewhere_are_short_and_plain() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", "true"));
    let text = format!("\u{1b}[31mred\n{}", "x".repeat(10_000));
    let claimed = Delivery { detail: Some(text.clone()), host: text, ..delivery(None, None) };
    let judged = judge(&runner, &record, &claimed).unwrap();
    for text in [judged.detail.unwrap(), judged.elsewhere.unwrap().host.unwrap()] {
        assert!(text.starts_with(" [31mred xx") && text.len() == 400, "{text:?}");
    }
}

#[test]
fn late_premature_and_further_deliveries_change_nothing() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", "true"));
    let honest = machines.forge(MARKED);
    let running = runner.set_elsewhere_state(&record, AgentState::Running, Some("w"), 2, None).unwrap();
    let error = |delivery: &Delivery| match judge(&runner, &record, delivery).unwrap_err() {
        RunnerError::Delivery { source, .. } => source,
        error => panic!("{error:?}"),
    };
    let late = error(&honest);
    assert!(
        matches!(late, DeliveryError::Late { epoch: 1, current: 2 }) && !late.is_about_delivery(),
        "{late}"
    );
    let second = Delivery { epoch: 2, ..honest.clone() };
    let premature = error(&Delivery { state: AgentState::Running, ..second.clone() });
    assert!(
        matches!(premature, DeliveryError::NotEnded { .. }) && premature.is_about_delivery(),
        "{premature}"
    );
    assert_eq!(runner.records().unwrap(), [running]);
    let judged = judge(&runner, &record, &second).unwrap();
    assert_eq!(judged.state, AgentState::Ready);
    // The verdict stands, whatever comes later.
    for later in [second.clone(), Delivery { epoch: 3, ..delivery(None, None) }] {
        assert_eq!(judge(&runner, &record, &later).unwrap(), judged);
    }
    let set = runner.set_elsewhere_state(&record, AgentState::Cancelled, None, 9, None);
    assert!(matches!(set, Err(RunnerError::Delivery { source: DeliveryError::Over { .. }, .. })), "{set:?}");
    assert_eq!(runner.records().unwrap(), [judged]);
    // A task that was given up is not judged any more.
    let record = machines.begin(&runner, agent("b", "true"));
    runner.set_elsewhere_state(&record, AgentState::Cancelled, None, 2, Some("given up")).unwrap();
    let over = judge(&runner, &record, &Delivery { epoch: 3, ..honest });
    assert!(
        matches!(over, Err(RunnerError::Delivery { source: DeliveryError::Over { .. }, .. })),
        "{over:?}"
    );
}
