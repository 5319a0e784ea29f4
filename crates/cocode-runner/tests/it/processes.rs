use std::fs;
use std::time::{Duration, Instant};

use cocode_env::AgentState;
use cocode_runner::{AgentDefinition, AgentRecord, RunEvent, RunObserver, StopFlag, log_files};

use crate::fixture::{Fixture, Log, MARKED, agent, failures, request};
use test_support::is_alive;

fn limited(script: &str, seconds: u64) -> cocode_runner::AgentDefinition {
    let timeout = Some(Duration::from_secs(seconds));
    cocode_runner::AgentDefinition { timeout, ..agent("a", script) }
}

/// Runs an agent that commits once and then runs into its deadline; again with more time if the machine was too busy for
/// the commit.
fn timed_out(script: &str) -> (AgentRecord, Duration) {
    let mut seconds = 1;
    loop {
        let began = Instant::now();
        let record = Fixture::new().run_agent(limited(script, seconds));
        if record.commits == 1 || seconds > 60 {
            return (record, began.elapsed());
        }
        seconds *= 6;
    }
}

#[test]
fn the_deadline_ends_everything() {
    let (record, took) = timed_out(&format!("{MARKED}; sleep 314.151"));
    assert_eq!((record.state, record.exit_code), (AgentState::TimedOut, Some(124)));
    assert!(record.verdict.unwrap().marker_present);
    assert!(!is_alive("sleep 314.151"));
    assert!(took < Duration::from_secs(120), "a hang guard");
}

#[test]
fn an_agent_that_is_asked_to_end_can_still_commit() {
    let script = "trap 'git commit -q --allow-empty -m saved; exit 0' TERM; while :; do sleep 0.1; done";
    let (record, _) = timed_out(script);
    assert_eq!((record.state, record.exit_code, record.commits), (AgentState::TimedOut, Some(124), 1));
}

#[test]
fn an_agent_that_ignores_the_request_is_killed() {
    let began = Instant::now();
    let record = Fixture::new().run_agent(limited("trap '' TERM; while :; do sleep 1; done", 1));
    assert_eq!((record.state, record.exit_code), (AgentState::TimedOut, Some(124)));
    assert!(began.elapsed() >= Duration::from_secs(6), "it has five seconds to end");
}

#[test]
fn orphans_and_held_pipes_end_with_the_agent() {
    let began = Instant::now();
    let record = Fixture::new().run("setsid sleep 314.152 & (sleep 314.153 &) ; echo done");
    assert_eq!(record.exit_code, Some(0));
    assert!(!is_alive("sleep 314.152") && !is_alive("sleep 314.153"));
    assert!(began.elapsed() < Duration::from_secs(120), "a hang guard");
}

#[test]
fn cancelling_ends_the_running_and_the_waiting() {
    let fixture = Fixture::new();
    let (runner, stop, log) = (fixture.runner(), StopFlag::new(), Log::default());
    let mut request = request(vec![agent("a", "sleep 60"), agent("b", "sleep 60")]);
    request.limits.parallel = std::num::NonZeroU32::MIN;
    let records = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !log.lines().contains(&"a started".to_owned()) {
                std::thread::sleep(Duration::from_millis(20));
            }
            stop.raise();
        });
        runner.run(&request, &stop, &log).unwrap()
    });
    for record in &records {
        assert_eq!((record.state, record.exit_code), (AgentState::Cancelled, Some(130)));
    }
    assert!(records[1].launched_at_ms.is_none());
}

#[test]
fn one_agent_is_cancelled_by_a_request_on_disk() {
    let fixture = Fixture::new();
    let (runner, log) = (fixture.runner(), Log::default());
    let request = request(vec![agent("a", "sleep 60"), agent("b", MARKED)]);
    let state_folder = fixture.config().state_folder;
    let records = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !log.lines().contains(&"a started".to_owned()) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let records = cocode_runner::read_records(&state_folder).unwrap();
            let record = records.iter().find(|record| record.agent.as_str() == "a").unwrap();
            cocode_runner::request_cancel(&state_folder, record).unwrap();
        });
        runner.run(&request, &StopFlag::new(), &log).unwrap()
    });
    assert_eq!(records[0].state, AgentState::Cancelled);
    assert_eq!(records[1].state, AgentState::Ready);
}

#[test]
fn output_is_bounded_and_bad_bytes_do_not_stop_it() {
    let fixture = Fixture::new();
    let runner = fixture.runner();
    let log = Log::default();
    let script = "printf '\\377\\n'; echo '{\"level\":\"info\",\"message\":\"hello\"}'; \
                  head -c 30000000 /dev/zero | tr '\\0' 'x' | fold -w 20000; echo; echo after";
    let record = runner.run(&request(vec![agent("a", script)]), &StopFlag::new(), &log).unwrap().remove(0);
    assert_eq!(record.exit_code, Some(0));
    let lines = log.lines();
    assert_eq!(lines[1..3], ["\u{fffd}", "hello"]);
    assert!(lines.contains(&"after".to_owned()));
    let files = log_files(&fixture.config().state_folder, &record);
    assert_eq!(files.len(), 3);
    assert!(files.iter().map(|file| file.metadata().unwrap().len()).sum::<u64>() <= 3 * (4 << 20));
    assert!(std::fs::read_to_string(&files[2]).unwrap().ends_with("after\n"));
}

#[test]
fn commits_are_seen_as_they_come() {
    let fixture = Fixture::new();
    let (runner, log) = (fixture.runner(), Log::default());
    let script = "git commit -q --allow-empty -m one; until test -e one; do sleep 0.05; done; echo later; \
                  until test -e later; do sleep 0.05; done; git commit -q --allow-empty -m two";
    std::thread::scope(|scope| {
        scope.spawn(|| runner.run(&request(vec![agent("a", script)]), &StopFlag::new(), &log).unwrap());
        log.wait_for("commit one");
        fs::write(fixture.worktree().join("one"), "").unwrap();
        log.wait_for("later");
        fs::write(fixture.worktree().join("later"), "").unwrap();
    });
    assert_eq!(log.lines(), ["a started", "commit one", "later", "commit two", "a completed"]);
}

#[test]
fn a_worktree_that_is_deleted_meanwhile_is_not_ready() {
    let record = Fixture::new().run(&format!("{MARKED}; cd /; rm -rf \"$COCODE_REPO_PATH\"/* ; exit 0"));
    // Only its files are deleted: the commit is still its work.
    assert_eq!(record.state, AgentState::Ready);
    let fixture = Fixture::new();
    let (runner, log) = (fixture.runner(), Log::default());
    let records = std::thread::scope(|scope| {
        scope.spawn(|| {
            log.wait_for("go");
            fs::remove_dir_all(fixture.worktree()).unwrap();
        });
        let script = format!("{MARKED}; echo go; while test -e a.txt; do sleep 0.05; done; sleep 0.5");
        runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap()
    });
    assert_eq!(records[0].state, AgentState::Completed);
    assert_eq!(records[0].warnings, ["its worktree is gone or at no commit"]);
}

#[test]
fn an_agent_whose_check_is_cancelled_is_cancelled() {
    let fixture = Fixture::new();
    let stop = StopFlag::new();
    let go = fixture.worktrees();
    let definition = AgentDefinition { check: Some("touch checking; sleep 60".into()), ..agent("a", MARKED) };
    let record = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            fixture.runner().run(&request(vec![definition]), &stop, &Log::default()).unwrap().remove(0)
        });
        let began = Instant::now();
        let is_checking = || {
            let folders = fs::read_dir(&go).into_iter().flatten().flatten();
            folders.into_iter().any(|folder| folder.path().join("7-a/checking").exists())
        };
        while !is_checking() {
            assert!(began.elapsed() < Duration::from_secs(60), "a hang guard");
            std::thread::sleep(Duration::from_millis(20));
        }
        stop.raise();
        running.join().unwrap()
    });
    assert_eq!((record.state, record.exit_code), (AgentState::Cancelled, Some(130)), "{record:?}");
    // The control: a check that fails by itself is part of the verdict.
    let definition = AgentDefinition { check: Some("exit 143".into()), ..agent("b", MARKED) };
    let record = fixture.run_agent(definition);
    assert_eq!((record.state, record.exit_code), (AgentState::Completed, Some(0)), "{record:?}");
}

#[test]
fn a_check_that_is_asked_to_end_has_not_passed_whatever_its_exit_code() {
    // It ends with exit code 0 when it is asked to end, or by itself.
    let script = "trap 'exit 0' TERM; touch checking; until test -e go; do sleep 0.05; done";
    for is_cancelled in [true, false] {
        let fixture = Fixture::new();
        let stop = StopFlag::new();
        let definition = AgentDefinition { check: Some(script.into()), ..agent("a", MARKED) };
        let record = std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                fixture.runner().run(&request(vec![definition]), &stop, &Log::default()).unwrap().remove(0)
            });
            let began = Instant::now();
            let folder = loop {
                let folders = fs::read_dir(fixture.worktrees()).into_iter().flatten().flatten();
                let mut worktrees = folders.map(|folder| folder.path().join("7-a"));
                if let Some(folder) = worktrees.find(|folder| folder.join("checking").exists()) {
                    break folder;
                }
                assert!(began.elapsed() < Duration::from_secs(60), "a hang guard");
                std::thread::sleep(Duration::from_millis(20));
            };
            if is_cancelled {
                stop.raise();
            } else {
                fs::write(folder.join("go"), "").unwrap();
            }
            running.join().unwrap()
        });
        let state = if is_cancelled { AgentState::Cancelled } else { AgentState::Ready };
        assert_eq!(record.state, state, "{record:?}");
        assert_eq!(record.verdict.as_ref().unwrap().ready, !is_cancelled, "{record:?}");
        assert_eq!(failures(&record).contains(&"check"), is_cancelled, "{record:?}");
    }
    // A check that runs into its deadline has not passed either.
    let definition = AgentDefinition { check: Some(script.into()), ..limited(MARKED, 5) };
    let record = Fixture::new().run_agent(definition);
    assert!(failures(&record).contains(&"check"), "{record:?}");
}

/// An observer that takes long for the first commit: until the agent's process is gone, and the run is asked to stop.
struct SlowObserver<'a> {
    log: Log,
    stop: &'a StopFlag,
    process: &'a str,
}

impl RunObserver for SlowObserver<'_> {
    fn event(&self, event: &RunEvent) {
        self.log.event(event);
        if matches!(event, RunEvent::Commit { .. }) {
            let began = Instant::now();
            while is_alive(self.process) {
                assert!(began.elapsed() < Duration::from_secs(60), "a hang guard");
                std::thread::sleep(Duration::from_millis(20));
            }
            // The runner notices the end a moment later, and the flag within a look of the watcher.
            std::thread::sleep(Duration::from_secs(1));
            self.stop.raise();
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

#[test]
fn an_agent_that_has_ended_is_not_cancelled_while_its_last_commits_are_read() {
    let fixture = Fixture::new();
    let stop = StopFlag::new();
    let process = "sleep 1.314159";
    let observer = SlowObserver { log: Log::default(), stop: &stop, process };
    let script = format!("{MARKED}; {process}");
    let record =
        fixture.runner().run(&request(vec![agent("a", &script)]), &stop, &observer).unwrap().remove(0);
    assert_eq!((record.state, record.exit_code), (AgentState::Ready, Some(0)), "{record:?}");
    let lines = observer.log.lines();
    assert!(!lines.iter().any(|line| line.starts_with("stopping")), "{lines:?}");
    // The control: the flag was raised, and an agent that starts later is cancelled.
    let later = fixture.runner().run(&request(vec![agent("b", MARKED)]), &stop, &Log::default()).unwrap();
    assert_eq!(later[0].state, AgentState::Cancelled);
}

#[test]
fn gits_error_about_locked_packed_references_is_not_logged() {
    // A cherry-pick deletes a reference of git's own, for which git tries to lock the packed references.
    let script = "echo x > f; git add f; git commit -qm one; git cherry-pick -n HEAD; git cherry-pick HEAD; \
                  ls $(git rev-parse --git-common-dir)/packed-refs.lock; echo \"error: Unable to create 'x'\"";
    let run = |fixture: &Fixture| {
        let log = Log::default();
        fixture.runner().run(&request(vec![agent("a", script)]), &StopFlag::new(), &log).unwrap();
        log.lines()
    };
    let of_it = |line: &&String| line.contains("Unable to create") && line.contains("packed-refs.lock");
    let lines = run(&Fixture::new());
    assert_eq!(lines.iter().find(of_it), None, "{lines:?}");
    assert!(lines.contains(&"error: Unable to create 'x'".to_owned()), "others are shown: {lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("packed-refs.lock")),
        "so are other lines about it: {lines:?}"
    );
}

#[test]
fn commits_that_an_agent_invents_are_not_reported() {
    let script = "L=$(git rev-parse --git-path logs/HEAD); H=$(git rev-parse HEAD); \
         say() { printf '%s %s A <a@b> 1 +0000\\tcommit: %s\\n' $H $1 \"$2\" >> $L; }; \
         say deadbeefdeadbeefdeadbeefdeadbeefdeadbeef invented; say $(git rev-parse HEAD:a.txt) 'a file'; \
         echo x > b; git add b; git commit -q -m 'cocode ready for check'; say $(git rev-parse HEAD) 'another name'";
    for fixture in [Fixture::new(), Fixture::shared()] {
        let log = Log::default();
        let record = fixture
            .runner()
            .run(&request(vec![agent("a", script)]), &StopFlag::new(), &log)
            .unwrap()
            .remove(0);
        assert_eq!(record.state, AgentState::Ready, "{record:?}");
        let lines = log.lines();
        let mut commits: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("commit ")).collect();
        commits.dedup();
        // The control: the commit that is there, by its own name.
        assert_eq!(commits, ["cocode ready for check"], "{lines:?}");
    }
}
