//! One run of agents, watched from outside as any program would: by its events.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::repository::{Repository, most_megabytes};

/// The events of a run.
#[derive(Default)]
pub(crate) struct Run {
    /// From the start of the program to the first line of an agent.
    pub(crate) first_line: Option<Duration>,
    /// The most memory of the process that runs the agents, in megabytes.
    pub(crate) most_megabytes: f64,
    /// Of the process that starts theirs.
    pub(crate) most_spawner_megabytes: f64,
    lines: Vec<Duration>,
    /// The times at which the commits of an agent, by its name and their numbers, were made, as it reports them.
    made: BTreeMap<(String, String), SystemTime>,
    /// The times at which they were noticed.
    noticed: BTreeMap<(String, String), SystemTime>,
}

impl Run {
    /// Runs agents, each a name and a script, all at once.
    pub(crate) fn of(repository: &Repository, issue: usize, agents: &[(String, String)]) -> Run {
        let mut arguments: Vec<String> =
            ["run", "--json", "--issue-body", "x", "--parallel", "20", "--issue"].map(str::to_owned).to_vec();
        arguments.push(issue.to_string());
        for (name, script) in agents {
            arguments.extend(["--agent-cmd".to_owned(), format!("{name}={script}")]);
        }
        let began = Instant::now();
        let mut child = repository
            .cocode(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program is built");
        let events = BufReader::new(child.stdout.take().expect("it was asked for"));
        let process = child.id();
        let is_over = AtomicBool::new(false);
        let mut run = Run::default();
        let (most, most_spawner) = thread::scope(|scope| {
            let watcher = scope.spawn(|| watch(process, &is_over));
            for line in events.lines().map_while(Result::ok) {
                run.take(&line, began);
            }
            is_over.store(true, Ordering::Release);
            watcher.join().expect("it does not panic")
        });
        // The agents are not ready, and that is no failure here.
        let _ = child.wait();
        Run { most_megabytes: most, most_spawner_megabytes: most_spawner, ..run }
    }

    /// Returns the delays between the printing of lines and their events.
    pub(crate) fn line_delays(&self) -> Vec<Duration> {
        self.lines.clone()
    }

    /// Returns the delays between the end of git and the events of commits; zero if the event came first.
    pub(crate) fn commit_delays(&self) -> Vec<Duration> {
        let made = self.made.iter().filter_map(|(commit, made)| Some((made, self.noticed.get(commit)?)));
        made.map(|(made, noticed)| noticed.duration_since(*made).unwrap_or_default()).collect()
    }

    fn take(&mut self, line: &str, began: Instant) {
        let now = SystemTime::now();
        let event: Value = serde_json::from_str(line).expect("an event is JSON");
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        match (text("event").as_str(), text("message").split(' ').collect::<Vec<_>>().as_slice()) {
            ("commit", _) => {
                let number = text("subject").trim_start_matches("commit ").to_owned();
                self.noticed.insert((text("agent"), number), now);
            }
            ("log", [kind, number, time]) => {
                self.first_line.get_or_insert(began.elapsed());
                let Ok(nanoseconds) = time.parse() else { return };
                let said = SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds);
                if *kind == "line" {
                    self.lines.push(now.duration_since(said).unwrap_or_default());
                } else {
                    self.made.insert((text("agent"), (*number).to_owned()), said);
                }
            }
            _ => {}
        }
    }
}

/// The most memory of a process and of what it starts others with, until it is over.
fn watch(process: u32, is_over: &AtomicBool) -> (f64, f64) {
    let (mut most, mut most_spawner) = (0.0_f64, 0.0_f64);
    while !is_over.load(Ordering::Acquire) {
        most = most.max(most_megabytes(process).unwrap_or(0.0));
        let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
        for child in children.unwrap_or_default().split_whitespace() {
            let line = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&line).contains("spawner") {
                let spawner = child.parse().ok().and_then(most_megabytes);
                most_spawner = most_spawner.max(spawner.unwrap_or(0.0));
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    (most, most_spawner)
}
