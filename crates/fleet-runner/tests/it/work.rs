//! A host's work.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use cocode_fleet::{ClaimedState, ExecuteError, StopReason, StopSignal, Task, TaskExecutor, TaskOutcome};
use fleet_runner::HostWork;

use crate::fixture::{Home, Lines, MARKED, Machine};

/// A host, and a task whose base it has.
struct Site {
    /// Before the machine, so that it ends first: it prepares a slot in the machine's folder for the next task.
    work: HostWork,
    machine: Machine,
    task: Task,
    _home: Home,
}

impl Site {
    fn new(script: &str, slots: usize) -> Site {
        Site::on(Machine::new(), script, slots)
    }

    /// Makes one whose agent is done, on a machine that `change` has changed.
    fn with(change: impl FnOnce(&mut Machine)) -> Site {
        let mut machine = Machine::new();
        change(&mut machine);
        Site::on(machine, MARKED, 1)
    }

    fn on(machine: Machine, script: &str, slots: usize) -> Site {
        let home = Home::new();
        let work = machine.host_work(script, slots);
        let submitted = cocode_fleet::ResultJudge::task(&home.journal, &home.name).unwrap();
        for base in &submitted.bases {
            work.add_base(&base.path, &base.base.tip).unwrap();
        }
        Site { work, machine, task: submitted.task, _home: home }
    }

    fn execute(&self, stop: &StopSignal) -> Result<TaskOutcome, ExecuteError> {
        self.work.execute(&self.task, stop, &mut Lines::default(), &self.result())
    }

    fn result(&self) -> PathBuf {
        self.machine.root.join("result.bundle")
    }
}

fn names_in_slots(machine: &Machine) -> Vec<String> {
    let slots = fs::read_dir(machine.root.join("slots")).unwrap();
    let entries = slots.flat_map(|slot| fs::read_dir(slot.unwrap().path()).unwrap());
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn each_end_of_an_agent_is_claimed() {
    let cases = [
        (MARKED, ClaimedState::Ready, Some(0), true, Some(true)),
        ("true", ClaimedState::Completed, Some(0), false, Some(true)),
        ("echo x > new; exit 3", ClaimedState::Failed, Some(3), false, Some(false)),
        ("echo x > new; git add .; git commit -q -m x", ClaimedState::Completed, Some(0), true, Some(true)),
    ];
    for (script, state, exit_code, has_bundle, is_clean) in cases {
        let site = Site::new(script, 1);
        let outcome = site.execute(&StopSignal::new()).unwrap();
        assert_eq!(outcome.state, state, "{script}: {outcome:?}");
        assert_eq!(outcome.exit_code, exit_code, "{script}");
        assert_eq!((outcome.has_bundle, outcome.head.is_some()), (has_bundle, has_bundle), "{script}");
        assert_eq!(site.result().exists(), has_bundle, "{script}");
        assert_eq!(outcome.is_clean, is_clean, "{script}");
    }
}

#[test]
fn work_that_a_failing_host_cannot_read_is_not_claimed() {
    let site = Site::with(|machine| {
        // Git fails as on a full disk, from the moment on at which the agent has ended.
        let (folder, path) = (machine.root.join("full"), std::env::var_os("PATH").unwrap());
        fs::create_dir(&folder).unwrap();
        let git = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file());
        let text = format!(
            "#!/bin/sh\ncase \" $* \" in *' cat-file commit '*) echo 'fatal: No space left on device' >&2; exit 128;; esac\n\
             exec {} \"$@\"\n",
            git.unwrap().display()
        );
        // Another process writes it, so that no child of another test holds it open for writing.
        let mut writer = Command::new("sh");
        writer
            .args(["-c", "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", &text])
            .arg(folder.join("git"));
        assert!(writer.status().unwrap().success());
        let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).unwrap();
        machine.host.own_path = path;
    });
    let failed = site.execute(&StopSignal::new()).unwrap_err().to_string();
    assert!(failed.contains("could not be judged here") && failed.contains("No space left"), "{failed}");
    // The control: without the fault, the same work is ready.
    let site = Site::with(|_| {});
    assert_eq!(site.execute(&StopSignal::new()).unwrap().state, ClaimedState::Ready);
}

#[test]
fn a_stopped_agent_is_cancelled() {
    let site = Site::new("echo here; sleep 600", 1);
    let stop = StopSignal::new();
    stop.raise(StopReason::Cancelled);
    let outcome = site.execute(&stop).unwrap();
    assert_eq!(outcome.state, ClaimedState::Cancelled, "{outcome:?}");
}

#[test]
fn a_task_takes_a_slot_and_leaves_it_empty() {
    let site = Site::new(
        "mkfifo \"$HOME/../fifo\" && echo begun > \"$HOME/../begun\"; read line < \"$HOME/../fifo\"",
        1,
    );
    assert_eq!(site.work.offers().slots, 1);
    let (begun, fifo) = (site.machine.root.join("begun"), site.machine.root.join("fifo"));
    thread::scope(|scope| {
        let first = scope.spawn(|| site.execute(&StopSignal::new()));
        let began = Instant::now();
        while !begun.exists() {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "a hang guard: {:?}",
                names_in_slots(&site.machine)
            );
            thread::sleep(Duration::from_millis(20));
        }
        assert!(!names_in_slots(&site.machine).is_empty());
        let second = site.execute(&StopSignal::new()).unwrap_err();
        assert!(matches!(&second, ExecuteError::Failed(why) if why == "every slot is taken"), "{second}");
        fs::write(fifo, "end\n").unwrap();
        assert_eq!(first.join().unwrap().unwrap().state, ClaimedState::Completed);
    });
    // Then it is prepared for the next task. It is empty when the host ends.
    let Site { machine, work, .. } = site;
    drop(work);
    assert_eq!(names_in_slots(&machine), Vec::<String>::new());
}

#[test]
fn tasks_that_fit_no_definition_or_no_base_fail_without_a_claim() {
    let mut site = Site::new("true", 1);
    site.task.definition = "b".parse().unwrap();
    let error = site.execute(&StopSignal::new()).unwrap_err().to_string();
    assert_eq!(error, "there is no definition of the agent b here");
    site.task.definition = "a".parse().unwrap();
    site.task.base_commit = "1".repeat(40);
    assert!(!site.work.has_base(&site.task.base_commit));
    site.execute(&StopSignal::new()).unwrap_err();
    let garbage = site.machine.root.join("garbage");
    fs::write(&garbage, "# v2 git bundle\n\nPACK").unwrap();
    let refused = site.work.add_base(&garbage, &site.task.base_commit).unwrap_err();
    assert!(matches!(refused, ExecuteError::BaseUnusable(_)), "{refused}");
}
