use std::fs;

use cocode_env::AgentState;
use cocode_runner::{
    AgentCommand, AgentDefinition, DeliveryError, RunnerError, diff, log_files, read_records, request_cancel,
};

use crate::elsewhere::machines::{Machines, chain, judge};
use crate::fixture::{MARKED, agent, refused, request};

#[test]
fn records_outlive_the_process_that_made_them() {
    let machines = Machines::new();
    let home = &machines.home;
    // The program need not exist here.
    let command = AgentCommand::Program { program: "no-such-program".into(), arguments: Vec::new() };
    let program = AgentDefinition { command, ..agent("a", "true") };
    let agents = vec![program, agent("b", MARKED)];
    let records = home.runner().begin_elsewhere(&request(agents.clone()), "nats://fleet").unwrap();
    assert_eq!(read_records(&home.root.join("state")).unwrap(), records);
    assert!(records.iter().all(|one| one.state == AgentState::Pending && one.is_pending_elsewhere()));
    request_cancel(&home.root.join("state"), &records[1]).unwrap();
    let runner = home.runner();
    assert_eq!(runner.records().unwrap(), records);
    assert_eq!(runner.issue_text(&records[0]).unwrap(), request(Vec::new()).body);
    assert!(runner.is_cancel_requested(&records[1]) && !runner.is_cancel_requested(&records[0]));
    let running =
        runner.set_elsewhere_state(&records[0], AgentState::Running, Some("w1\n"), 2, None).unwrap();
    drop(runner);
    let runner = home.runner();
    assert_eq!(runner.records().unwrap()[0], running);
    let elsewhere = running.elsewhere.clone().unwrap();
    assert_eq!((elsewhere.host.as_deref(), elsewhere.epoch), (Some("w1 "), 2));
    // Nothing was made, and nothing is removed.
    assert!(!home.worktrees().exists());
    for cleaned in runner
        .clean(true, false)
        .unwrap()
        .into_iter()
        .chain([runner.clean_by_force(&running, false).unwrap()])
    {
        let why = "it runs on another machine, and its work is not judged yet";
        assert_eq!((cleaned.removed, cleaned.why.as_deref()), (false, Some(why)));
    }
    assert!(runner.pick(&running, true).is_err() && diff(&home.config(), &running, false).is_err());
    // Nothing at their paths says so.
    let twice = refused(runner.begin_elsewhere(&request(agents), "nats://fleet"));
    assert!(matches!(twice, RunnerError::StillElsewhere { .. }), "{twice}");
    let local = refused(runner.plan(&request(vec![agent("b", "true")])));
    assert!(matches!(local, RunnerError::StillElsewhere { .. }), "{local}");
}

#[test]
fn states_are_those_that_another_machine_may_claim() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    let set = |state, epoch| runner.set_elsewhere_state(&record, state, Some("w1"), epoch, None);
    set(AgentState::Running, 3).unwrap();
    let work = machines.work(vec![agent("a", MARKED)]).remove(0);
    let mut errors = vec![
        refused(set(AgentState::Ready, 3)),
        refused(set(AgentState::Completed, 3)),
        refused(set(AgentState::Running, 2)),
        refused(judge(&runner, &record, &work.delivery)),
    ];
    // A task that was given up, and begins again.
    let lost = set(AgentState::Lost, 3).unwrap();
    assert!(lost.ended_at_ms.is_some());
    let delivery = cocode_runner::Delivery { epoch: 4, ..work.delivery };
    errors.push(refused(judge(&runner, &record, &delivery)));
    assert_eq!(set(AgentState::Pending, 4).unwrap().ended_at_ms, None);
    assert_eq!(judge(&runner, &record, &delivery).unwrap().state, AgentState::Ready);
    errors.push(refused(set(AgentState::Lost, 5)));
    let local =
        runner.run(&request(vec![agent("b", "true")]), &Default::default(), &cocode_runner::Unobserved);
    let local = local.unwrap().remove(0);
    errors.push(refused(judge(&runner, &local, &delivery)));
    assert!(matches!(&errors[0], RunnerError::Delivery { source: DeliveryError::OnlyByVerdict { .. }, .. }));
    let lines: Vec<String> = errors.iter().map(|error| chain(error)).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_log_is_written_as_lines_come() {
    let machines = Machines::new();
    let runner = machines.home.runner();
    let record = machines.begin(&runner, agent("a", MARKED));
    let text = || {
        let files = log_files(&machines.home.root.join("state"), &record);
        files.iter().map(|file| fs::read_to_string(file).unwrap()).collect::<String>()
    };
    let mut log = runner.elsewhere_log(&record).unwrap();
    log.add("one");
    assert!(text().ends_with("one\n"), "{}", text());
    log.add("two\nthree\n");
    assert_eq!(text().lines().count(), 3, "{}", text());
    // Bounded as a local one, which has two files.
    let long = "x".repeat(1000);
    for _ in 0..40_000 {
        log.add(&long);
    }
    assert_eq!(log.failure(), None);
    let bytes = text().len();
    assert!((1 << 20..36 << 20).contains(&bytes), "{bytes}");
    assert!(!text().contains("three"));
    drop(log);
    assert!(runner.elsewhere_log(&record).is_ok());
    assert_eq!(text(), "");
}
