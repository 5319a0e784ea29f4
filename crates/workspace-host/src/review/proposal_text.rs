//! A proposal as text for a model: its steps with their differences, and the outcome of its review.

use std::fmt::Write;

use change_review::{CommandStep, FileStep, ProposalEnd, ProposedStep, State, StepEffect};

use crate::SecretRules;
use crate::review::calls::ShownProposal;
use crate::review::visible_file_step::visible_file_step;

/// The maximum number of characters of a line about a step.
const LINE_CHARACTERS: usize = 200;

/// The maximum number of lines about the variables of a command.
const MOST_SURROUNDINGS: usize = 100;

/// Renders a proposal without secrets, and without the contents of files that hold credentials.
#[must_use]
pub fn proposal_text(view: &ShownProposal, rules: &SecretRules) -> String {
    let proposal = &view.proposal;
    let state = match &proposal.state {
        State::Pending => "waits for the user",
        State::Landing { .. } => "is landing",
        State::Decided(decision) => match decision.end() {
            ProposalEnd::Landed => "has landed",
            ProposalEnd::SentBack => "was sent back",
            ProposalEnd::Closed => "was closed without an answer, and nothing of it was done",
        },
    };
    let subject = rules.mask_line(&proposal.subject, LINE_CHARACTERS);
    let from = rules.mask_rest(&format!("From {} through {}", proposal.conversation, proposal.front_end));
    let mut text = format!("Proposal {} {state}: {subject}\n{from}\n", proposal.id);
    for step in &proposal.steps {
        text.push_str(&step_text(step, rules));
    }
    if let State::Decided(decision) = &proposal.state
        && !decision.review.is_empty()
    {
        let _ = write!(text, "\n{}", rules.mask_rest(&decision.review));
    }
    text
}

fn step_text(step: &ProposedStep, rules: &SecretRules) -> String {
    let title = rules.mask_line(&step.title, LINE_CHARACTERS);
    let mut text = format!("\n{}. {title}\n", step.step + 1);
    if let Some(problem) = &step.problem {
        text.push_str(&rules.mask_rest(&format!("It would fail: {problem}\n")));
    }
    match &step.effect {
        StepEffect::File(file) => text.push_str(&file_text(file, rules)),
        StepEffect::Command(command) => {
            text.push_str(&rules.mask_rest(&format!("{}\n", command.command.trim_end())));
            text.push_str(&surroundings(command, rules));
            for file in &command.effects {
                text.push_str(&file_text(file, rules));
            }
        }
    }
    text
}

/// Renders the inputs of a command in addition to its text. Values are masked before escaping: with escapes in it, a
/// secret is not recognised.
fn surroundings(command: &CommandStep, rules: &SecretRules) -> String {
    let variables = command.environment.iter().map(|(name, value)| format!("with {name}={value}"));
    let ready = command.ready.iter().map(|ready| format!("ready as soon as it prints {ready}"));
    let lines = variables.chain(ready).take(MOST_SURROUNDINGS);
    let mut text: String = lines.map(|line| rules.mask_line(&line, LINE_CHARACTERS) + "\n").collect();
    let all = command.environment.len() + usize::from(command.ready.is_some());
    let more = all.saturating_sub(MOST_SURROUNDINGS);
    if more > 0 {
        let _ = writeln!(text, "[{more} more of these lines]");
    }
    text
}

/// Renders the change of a file as a diff without context: the hunks among which a reviewer chooses.
fn file_text(file: &FileStep, rules: &SecretRules) -> String {
    if rules.leaves_out(&file.path) {
        let path = rules.mask_rest(&file.path);
        return format!("{path}: its content is left out, since it usually holds credentials\n");
    }
    let file = visible_file_step(file, rules);
    let mut text = String::new();
    let (old, new) = (file.before.as_deref(), file.after.as_deref());
    if old.is_some() || new.is_some() {
        let name = |side: Option<&str>, letter: char| match side {
            Some(_) => format!("{letter}/{}", file.path),
            None => "/dev/null".to_owned(),
        };
        let _ = writeln!(text, "--- {}\n+++ {}", name(old, 'a'), name(new, 'b'));
    }
    for hunk in &file.hunks {
        let (old, new) = ((hunk.old_first, hunk.old_count), (hunk.new_first, hunk.new_count));
        add_hunk(&mut text, old, new, &hunk.old_text, &hunk.new_text);
    }
    match (old, new) {
        (None, Some(new)) => add_hunk(&mut text, (0, 0), (1, new.lines().count()), "", new),
        (Some(old), None) => add_hunk(&mut text, (1, old.lines().count()), (0, 0), old, ""),
        _ => {}
    }
    if let Some(note) = &file.note {
        let _ = writeln!(text, "[{}: {note}]", file.path);
    }
    rules.mask_rest(&text)
}

fn add_hunk(text: &mut String, old: (usize, usize), new: (usize, usize), old_text: &str, new_text: &str) {
    // By the rules of unified diffs, a side without lines names the line before.
    let first = |(first, count): (usize, usize)| if count == 0 { first.saturating_sub(1) } else { first };
    let _ = writeln!(text, "@@ -{},{} +{},{} @@", first(old), old.1, first(new), new.1);
    for (sign, side) in [('-', old_text), ('+', new_text)] {
        for line in side.split_inclusive('\n') {
            let _ = write!(text, "{sign}{line}");
            if !line.ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}
