//! The progress of a flow: lines for a person, or one JSON object a line.

use std::cell::{Cell, RefCell};

use codali_envelope::critic::CriticStatus;
use codali_session::{FlowEnd, FlowEvent, FlowEvents};

use super::session_engine::HAS_RUN;
use crate::views::console::{Console, Tone};
use crate::views::count::counted;
use crate::views::progress::{one_line, printable};

/// Shows the events of a flow, and keeps what its summary needs.
pub(super) struct FlowView {
    console: Console,
    /// The commands of the builder that have run in this process.
    commands: Cell<usize>,
    /// The user's command with its last result.
    last_test: RefCell<Option<String>>,
}

impl FlowView {
    pub(super) fn new(console: Console) -> FlowView {
        FlowView { console, commands: Cell::default(), last_test: RefCell::default() }
    }

    /// Returns the lines of the summary about commands.
    pub(super) fn command_lines(&self) -> Vec<String> {
        let number = self.commands.get();
        let mut lines = Vec::new();
        if number > 0 {
            lines.push(if number == 1 { "1 command".to_owned() } else { format!("{number} commands") });
        }
        lines.extend(self.last_test.borrow().as_ref().map(|last| format!("the last test: {last}")));
        lines
    }
}

impl FlowEvents for FlowView {
    fn event(&self, event: &FlowEvent) {
        let console = self.console;
        if console.json {
            console.result(&serde_json::to_string(event).expect("events have string keys"));
        }
        match event {
            FlowEvent::Applied { results, .. } => {
                let ran = results.iter().filter(|result| result.summary.starts_with(HAS_RUN)).count();
                self.commands.set(self.commands.get() + ran);
            }
            FlowEvent::Tested { command, outcome, .. } => {
                self.last_test.replace(Some(format!("{}: {}", one_line(command), one_line(outcome))));
            }
            _ => {}
        }
        match event {
            FlowEvent::Resumed { steps } => {
                console.progress(&format!("resumed after {}", counted(*steps, "step")));
            }
            FlowEvent::Round { round, of } => {
                console.styled(Tone::Strong, &format!("round {round} of {of}"));
            }
            FlowEvent::Called { role, tokens } => {
                console.styled(Tone::Faint, &format!("  {role}: about {}", tokens_of(*tokens)));
            }
            FlowEvent::Replied { role, tokens, elapsed_ms } => {
                let seconds = *elapsed_ms as f64 / 1_000.0;
                let tokens = tokens_of(*tokens);
                console.progress(&format!("  {role}: reply after {seconds:.1} s, about {tokens}"));
            }
            FlowEvent::Responded { role, results, warnings, .. } => {
                let results = counted(*results, "result");
                console.progress(&format!("  {role}: asked, {results} given"));
                for warning in warnings {
                    console.styled(Tone::Faint, &format!("    {}", one_line(warning)));
                }
            }
            FlowEvent::Planned { plan } => {
                console.progress(&format!("  plan for {}", one_line(&plan.targets.join(", "))));
            }
            // The blocks were shown while they were carried out.
            FlowEvent::Applied { refusal: Some(refusal), .. } => {
                console.notice(&format!("  nothing was carried out: {}", one_line(refusal)));
            }
            FlowEvent::Tested { command, succeeded, outcome } => {
                let tone = if *succeeded { Tone::Good } else { Tone::Bad };
                console.styled(tone, &format!("  {}: {}", one_line(command), one_line(outcome)));
            }
            FlowEvent::Judged { result, .. } => {
                let (word, tone) = status(result.status);
                console.styled(tone, &format!("  {word}"));
                for reason in &result.reasons {
                    console.progress(&format!("    {}", printable(&one_line(reason))));
                }
            }
            _ => {}
        }
    }
}

fn tokens_of(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "token")
}

/// Returns the lines that stand for the end of a flow.
pub(super) fn result_lines(end: &FlowEnd) -> Vec<String> {
    let FlowEnd { result, rounds, summary } = end;
    let rounds = counted(*rounds as usize, "round");
    let mut lines = vec![format!("{} after {rounds}", status(result.status).0)];
    lines.extend(result.reasons.iter().map(|reason| format!("  {}", printable(reason))));
    lines.extend(summary.lines().map(printable));
    lines.extend(result.touched_files.iter().map(|path| format!("changed: {}", printable(path))));
    lines
}

fn status(status: CriticStatus) -> (&'static str, Tone) {
    match status {
        CriticStatus::Pass => ("PASS", Tone::Good),
        CriticStatus::Fail => ("FAIL", Tone::Bad),
    }
}
