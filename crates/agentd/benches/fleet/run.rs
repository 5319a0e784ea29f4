//! One run of agents, watched from outside by its events.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::network::Network;
use crate::site::Site;

static NEXT_ISSUE: AtomicU32 = AtomicU32::new(1);

/// The moments of a run, from the start of the command.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) first_queued: Option<Duration>,
    pub(crate) last_queued: Option<Duration>,
    pub(crate) first_line: Option<Duration>,
    pub(crate) took: Duration,
}

impl Run {
    /// Runs an agent on this machine.
    pub(crate) fn alone(site: &Site, agent: &str) -> Run {
        let mut command = site.agentd(None, "home");
        command.args(["cocode", "run", "--json", "--issue-body", "x", "--agent", agent]);
        Run::of(site, command)
    }

    /// Runs agents of a kind on the hosts of the fleet, or only submits them.
    pub(crate) fn fleet(site: &Site, network: &Network, agent: &str, count: usize, detach: bool) -> Run {
        let mut command = site.agentd(Some(&network.server), "home");
        command.args(["cocode", "run", "--json", "--issue-body", "x", "--agent", agent]);
        command.args(["--fleet", &Site::url(), "--count"]).arg(count.to_string());
        command.args(detach.then_some("--detach"));
        site.reach(&mut command, "home");
        Run::of(site, command)
    }

    fn of(site: &Site, mut command: Command) -> Run {
        // An agent of a name works on an issue once.
        let issue = NEXT_ISSUE.fetch_add(1, Ordering::Relaxed).to_string();
        command.arg("--issue").arg(issue).arg("--agents-file").arg(site.definitions());
        let began = Instant::now();
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut run = Run::default();
        for line in BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok) {
            // What is not an event is for people.
            let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
            match event["event"].as_str() {
                Some("fleet") if event["text"] == "queued" => {
                    run.first_queued.get_or_insert(began.elapsed());
                    run.last_queued = Some(began.elapsed());
                }
                Some("log") => {
                    run.first_line.get_or_insert(began.elapsed());
                }
                _ => {}
            }
        }
        // An agent that is not ready has worked, too; one that was not started has said nothing.
        process.wait().unwrap();
        assert!(run.first_queued.or(run.first_line).is_some(), "nothing was started; the log says why");
        run.took = began.elapsed();
        run
    }
}
