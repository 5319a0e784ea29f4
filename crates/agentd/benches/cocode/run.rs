//! One run of agents, watched from outside as any program would: by its events.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::ground::{Ground, most_megabytes};

/// What was seen of a run.
pub(crate) struct Run {
    /// From the start of the program to the first line of an agent.
    pub(crate) first_line: Option<Duration>,
    /// The most memory of the process that runs the agents, in megabytes.
    pub(crate) most_megabytes: f64,
    /// Of the process that starts theirs.
    pub(crate) most_spawner_megabytes: f64,
    delays: Vec<(String, Duration)>,
}

impl Run {
    /// Runs agents, each a name and a script, all at once.
    pub(crate) fn of(ground: &Ground, issue: usize, agents: &[(String, String)]) -> Run {
        let mut arguments: Vec<String> =
            ["run", "--json", "--issue-body", "x", "--parallel", "20", "--issue"].map(str::to_owned).to_vec();
        arguments.push(issue.to_string());
        for (name, script) in agents {
            arguments.extend(["--agent-cmd".to_owned(), format!("{name}={script}")]);
        }
        let began = Instant::now();
        let mut child = ground
            .cocode(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program is built");
        let events = BufReader::new(child.stdout.take().expect("it was asked for"));
        let process = child.id();
        let is_over = AtomicBool::new(false);
        let mut run =
            Run { first_line: None, most_megabytes: 0.0, most_spawner_megabytes: 0.0, delays: Vec::new() };
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

    /// How long after it was said a text of this kind was seen.
    pub(crate) fn delays_of(&self, kind: &str) -> Vec<Duration> {
        self.delays.iter().filter(|(one, _)| one == kind).map(|(_, delay)| *delay).collect()
    }

    fn take(&mut self, line: &str, began: Instant) {
        let seen = SystemTime::now();
        let event: Value = serde_json::from_str(line).expect("an event is JSON");
        let said = match event["event"].as_str() {
            Some("log") => &event["message"],
            Some("commit") => &event["subject"],
            _ => return,
        };
        let Some((kind, time)) = said.as_str().and_then(|said| said.split_once(' ')) else { return };
        let Ok(nanoseconds) = time.parse() else { return };
        self.first_line.get_or_insert(began.elapsed());
        let said = SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds);
        self.delays.push((kind.to_owned(), seen.duration_since(said).unwrap_or_default()));
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
