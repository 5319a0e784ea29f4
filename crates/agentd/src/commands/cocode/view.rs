//! Showing agents at work: a live line for each on a terminal, plain lines elsewhere, events as JSON on demand.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cocode_env::{AgentName, AgentState};
use cocode_runner::{AgentConfinement, AgentRecord, RunEvent, RunObserver, RunRequest};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde::Serialize;

use super::compare::rank;
use crate::views::console::{Console, Tone};
use crate::views::progress::{one_line, short_output};
use crate::views::terminal_text::visible;

#[cfg(feature = "fleet")]
mod fleet;

/// The most agents with their own line on a terminal.
const MOST_LIVE: usize = 40;

/// Shows the events of a run.
pub(crate) struct View {
    console: Console,
    live: Option<Live>,
}

/// A line for each agent.
struct Live {
    lines: MultiProgress,
    agents: Mutex<BTreeMap<AgentName, Line>>,
}

struct Line {
    bar: ProgressBar,
    commits: u32,
    said: String,
}

impl View {
    pub(crate) fn new(console: Console, request: &RunRequest) -> View {
        View::of(console, request.agents.iter().map(|agent| agent.name.clone()))
    }

    /// Shows the events of these agents. More than fit on a screen have no live lines.
    pub(crate) fn of(console: Console, agents: impl Iterator<Item = AgentName>) -> View {
        let agents: Vec<AgentName> = agents.collect();
        let is_live = !console.json && std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        let live = (is_live && agents.len() <= MOST_LIVE).then(|| Live::new(agents));
        View { console, live }
    }

    /// Prints the steps of an agent's confinement that are not in force, if details are wanted.
    fn show_missing(&self, agent: &AgentName, confinement: &AgentConfinement) {
        for step in &confinement.missing {
            self.console.detail(&format!("{agent}: not in force: {step}"));
        }
    }

    /// Prints the outcomes of the agents.
    pub(crate) fn finish(&self, records: &[AgentRecord]) {
        #[derive(Serialize)]
        struct Finished {
            event: &'static str,
            ready: usize,
            /// The number of those that have passed a check.
            checked: usize,
            agents: usize,
        }
        if let Some(live) = &self.live {
            let _ = live.lines.clear();
        }
        let ready = records.iter().filter(|record| record.state == AgentState::Ready).count();
        if self.console.json {
            let checked = records.iter().filter(|record| rank(record) == 0).count();
            json_line(self.console, &Finished { event: "finished", ready, checked, agents: records.len() });
            return;
        }
        let mut records: Vec<&AgentRecord> = records.iter().collect();
        records.sort_by_key(|record| rank(record));
        for record in records {
            self.console.result(&outcome(record));
        }
    }
}

impl Live {
    fn new(agents: Vec<AgentName>) -> Live {
        let lines = MultiProgress::new();
        let style = ProgressStyle::with_template("{prefix:12} {spinner} {elapsed:>4}  {wide_msg}")
            .expect("the template names only known fields");
        let agents = agents.into_iter().map(|agent| {
            let bar = lines.add(ProgressBar::new_spinner().with_style(style.clone()));
            bar.set_prefix(agent.to_string());
            bar.set_message("pending");
            (agent, Line { bar, commits: 0, said: String::new() })
        });
        let agents = Mutex::new(agents.collect());
        Live { lines, agents }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<AgentName, Line>> {
        // A thread that panicked here leaves at most a line that is not up to date.
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, event: &RunEvent) {
        let mut agents = self.lock();
        let mut with = |agent: &AgentName, change: &dyn Fn(&mut Line)| {
            if let Some(line) = agents.get_mut(agent) {
                change(line);
            }
        };
        match event {
            RunEvent::Started { agent, .. } => with(agent, &|line| {
                line.bar.reset_elapsed();
                line.bar.enable_steady_tick(Duration::from_millis(120));
                line.say("running");
            }),
            RunEvent::Log { agent, line: log } if log.wants_attention() => {
                // Above the table, where it stays and is not cut.
                let _ = self.lines.println(format!("{agent}: {}", one_line_of(&log.message)));
                with(agent, &|line| {
                    line.said = "waits for a person, see above".to_owned();
                    line.say("running");
                });
            }
            RunEvent::Log { agent, line: log } => with(agent, &|line| {
                if !log.message.trim().is_empty() {
                    line.said = short_output(&log.message);
                    line.say("running");
                }
            }),
            RunEvent::Commit { agent, subject, .. } => with(agent, &|line| {
                line.commits += 1;
                line.said = format!("committed: {}", one_line(subject));
                line.say("running");
            }),
            RunEvent::Stopping { agent, state } => with(agent, &|line| line.say(state.name())),
            RunEvent::Ended { record } => with(&record.agent, &|line| {
                line.bar.finish_with_message(format!("{} {}", record.state, reason(record)));
            }),
            _ => {}
        }
    }
}

impl Line {
    fn say(&self, state: &str) {
        self.bar.set_message(format!("{state}  {} commits  {}", self.commits, self.said));
    }
}

impl RunObserver for View {
    fn event(&self, event: &RunEvent) {
        if self.console.json {
            json_line(self.console, event);
            return;
        }
        if let Some(live) = &self.live {
            live.show(event);
            if let RunEvent::Started { agent, confinement, .. } = event {
                self.show_missing(agent, confinement);
            }
            return;
        }
        match event {
            RunEvent::Started { agent, branch, worktree, confinement } => {
                let started = format!("{agent}: started on {branch} in {}", worktree.display());
                self.console.progress(&format!("{started}, at {confinement}"));
                self.show_missing(agent, confinement);
            }
            RunEvent::Log { agent, line } if line.wants_attention() => {
                self.console.notice(&format!("{agent}: {}", one_line_of(&line.message)));
            }
            RunEvent::Log { agent, line } => {
                let level = line.level.map(|level| format!("[{level}] ")).unwrap_or_default();
                self.console.styled(Tone::Faint, &format!("{agent}: {level}{}", short_output(&line.message)));
            }
            RunEvent::Commit { agent, commit, subject } => {
                let commit = commit.get(..10).unwrap_or(commit);
                self.console.progress(&format!("{agent}: committed {commit} {}", one_line(subject)));
            }
            RunEvent::Stopping { agent, state } => {
                self.console.progress(&format!("{agent}: is asked to end ({state})"));
            }
            _ => {}
        }
    }
}

/// Prints one value on one line.
fn json_line<T: Serialize>(console: Console, value: &T) {
    console.result(&serde_json::to_string(value).expect("events have string keys"));
}

/// Renders the outcome of an agent as one line.
pub(crate) fn outcome(record: &AgentRecord) -> String {
    let commits = match record.commits {
        1 => "1 commit".to_owned(),
        count => format!("{count} commits"),
    };
    let seconds = seconds(record).map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1} s"));
    let line = format!(
        "{:<12} {:<10} {commits:>10} {seconds:>8}  {}  {}",
        record.agent,
        record.state,
        record.branch,
        reason(record)
    );
    line.trim_end().to_owned()
}

/// Returns the run time of an agent's process, in seconds.
pub(crate) fn seconds(record: &AgentRecord) -> Option<f64> {
    let milliseconds = record.ended_at_ms?.saturating_sub(record.launched_at_ms?);
    Some(Duration::from_millis(milliseconds).as_secs_f64())
}

/// Renders why an agent is not ready, or that its claim is unchecked, with the warnings of its record.
fn reason(record: &AgentRecord) -> String {
    let failure = record.verdict.as_ref().and_then(|verdict| verdict.first_failure());
    let why = failure.map(|part| part.why.clone()).filter(|_| record.state != AgentState::Cancelled);
    let unchecked = (rank(record) == 1).then(|| "unchecked".to_owned());
    let lowered = record.confinement.as_ref().filter(|confinement| confinement.is_lowered());
    let lowered = lowered.map(|confinement| format!("it ran at {confinement}"));
    let details = unchecked.into_iter().chain(record.detail.clone()).chain(lowered);
    let parts: Vec<String> = why.into_iter().chain(details).chain(record.warnings.iter().cloned()).collect();
    one_line_of(&parts.join("; "))
}

fn one_line_of(text: &str) -> String {
    visible(&text.replace('\n', " ")).into_owned()
}
