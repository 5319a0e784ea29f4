//! A proposal as text.

use change_review::{
    CommandStep, CommentPosition, FileStep, Hunk, Proposal, ProposedStep, StepEffect, StepOutcome,
    StepVerdict, Tried,
};
use workspace_host::ShownProposal;

use crate::views::console::{Console, Tone};
use crate::views::progress::{one_line, printable};

/// The most lines of one hunk that are printed.
const MOST_LINES: usize = 400;

/// The most lines of one output that are printed.
const MOST_OUTPUT: usize = 200;

/// The most variables of a command that are printed, and the most characters of each.
const MOST_SURROUNDINGS: usize = 200;
const MOST_CHARACTERS: usize = 2_000;

/// Returns the hunks of a step; none of a command.
pub(super) fn hunks(step: &ProposedStep) -> &[Hunk] {
    match &step.effect {
        StepEffect::File(file) => &file.hunks,
        StepEffect::Command(_) => &[],
    }
}

/// Prints a proposal with its hunks, verdicts and comments.
///
/// With `is_since`, changes of files are those since the last review, where there was one.
pub(super) fn proposal(console: Console, review: &ShownProposal, is_since: bool) {
    title(console, &review.proposal);
    for dropped in review.since.iter().flat_map(|since| &since.dropped) {
        console.result_row(&[(Tone::Faint, &format!("not proposed again: {}", one_line(dropped)))]);
    }
    for index in 0..review.proposal.steps.len() {
        step(console, review, index, is_since);
    }
    if let Some(tried) = &review.tried {
        self::tried(console, &review.proposal, tried);
    }
}

/// Prints the number and the subject of a proposal, and its end if it is over.
pub(super) fn title(console: Console, proposal: &Proposal) {
    let end = proposal.end().map(|end| format!("  ({})", end.words())).unwrap_or_default();
    let title = format!("proposal {}: {}{end}", proposal.id, one_line(&proposal.subject));
    console.result_row(&[(Tone::Strong, &title)]);
}

/// Prints a step, by its index, with its verdict and the comments on it. With `is_since`, the change of a file is the one since
/// the last review, if it was sent back there.
pub(super) fn step(console: Console, review: &ShownProposal, index: usize, is_since: bool) {
    let ShownProposal { proposal, draft, positions, .. } = review;
    let Some(step) = proposal.steps.get(index) else { return };
    let verdict = match draft.selection.verdict(step.step) {
        StepVerdict::Take => "",
        StepVerdict::LeaveOut => "  (left out)",
        StepVerdict::Hunks(_) => "  (in part)",
    };
    let number = index + 1;
    console.result_row(&[(Tone::Strong, &format!("\n{number}. {}{verdict}", one_line(&step.title)))]);
    if let Some(problem) = &step.problem {
        console.result_row(&[(Tone::Bad, &format!("would fail: {}", one_line(problem)))]);
    }
    let since = review.since.as_ref().and_then(|since| since.steps.get(&step.step));
    if let Some(since) = since {
        let at = format!("your review of proposal {}", since.review);
        let row = match &since.changed {
            None => format!("  the same as at {at}"),
            Some(_) if is_since => format!("  the difference to {at}:"),
            Some(_) => format!("  not as at {at}: --since shows the difference"),
        };
        console.result_row(&[(Tone::Faint, &row)]);
    } else if review.since.is_some() {
        console.result_row(&[(Tone::Faint, "  new since your last review")]);
    }
    match (&step.effect, since.filter(|_| is_since)) {
        (StepEffect::File(_), Some(since)) => {
            // Hunks that were left out are only in the other form, whose hunks are those against the folder.
            if let Some(changed) = &since.changed {
                self::file(console, changed, |_| true);
            }
        }
        (StepEffect::Command(command), _) => {
            surroundings(console, command);
            for line in command.command.lines() {
                console.result_row(&[(Tone::Plain, &format!("  $ {}", printable(line)))]);
            }
            for effect in &command.effects {
                console.result_row(&[(Tone::Faint, &format!("  changes {}", printable(&effect.path)))]);
            }
        }
        (StepEffect::File(file), None) => {
            self::file(console, file, |hunk| draft.selection.takes_hunk(step.step, &hunk.id))
        }
    }
    let comments = draft.comments.iter().zip(positions).filter(|(comment, _)| comment.step == step.step);
    for (comment, position) in comments {
        let at = match position {
            CommentPosition::Step => String::new(),
            CommentPosition::Lines { first, last } if first == last => format!(" line {first}"),
            CommentPosition::Lines { first, last } => format!(" lines {first} to {last}"),
            CommentPosition::Outdated => " outdated".to_owned(),
        };
        console.result_row(&[(Tone::Good, &format!("  comment{at}: {}", one_line(&comment.text)))]);
    }
}

/// Prints a command's settings before its text: a variable can matter more than the command does.
fn surroundings(console: Console, command: &CommandStep) {
    if let Some(folder) = &command.folder {
        console.result_row(&[(Tone::Plain, &format!("  in the folder {}", one_line(folder)))]);
    }
    if let Some(name) = &command.background {
        console.result_row(&[(Tone::Plain, &format!("  left running as {}", one_line(name)))]);
    }
    for line in command.surroundings().take(MOST_SURROUNDINGS) {
        let more = line.chars().count().saturating_sub(MOST_CHARACTERS);
        let start: String = line.chars().take(MOST_CHARACTERS).collect();
        let end =
            if more > 0 { format!("… [{more} more characters; --json has all]") } else { String::new() };
        console.result_row(&[(Tone::Plain, &format!("  {}{end}", printable(&start)))]);
    }
    let more = command.surroundings().count().saturating_sub(MOST_SURROUNDINGS);
    if more > 0 {
        console.result_row(&[(Tone::Faint, &format!("  … {more} more variables; --json has all"))]);
    }
}

/// Prints what came of a trial.
pub(super) fn tried(console: Console, proposal: &Proposal, tried: &Tried) {
    console.result_row(&[(Tone::Strong, "\ntried out:")]);
    outcomes(console, proposal, tried.steps.iter());
    changed_files(console, Some(tried));
    if !tried.is_held && proposal.end().is_none() {
        console.result_row(&[(Tone::Faint, "  this trial is over: try it again before you land it")]);
    }
}

/// Prints the paths that a trial changed.
pub(super) fn changed_files(console: Console, trial: Option<&Tried>) {
    for file in trial.iter().flat_map(|tried| &tried.files) {
        console.result_row(&[(Tone::Faint, &format!("  changes {}", printable(&file.path)))]);
    }
}

/// Prints the outcome of each step.
pub(super) fn outcomes<'a>(
    console: Console,
    proposal: &Proposal,
    outcomes: impl Iterator<Item = &'a StepOutcome>,
) {
    for outcome in outcomes {
        let title = proposal.steps.iter().find(|step| step.step == outcome.step);
        let title = title.map_or(String::new(), |step| format!("{}: ", one_line(&step.title)));
        let tone = match (outcome.is_left_out, outcome.success) {
            (true, _) => Tone::Faint,
            (false, true) => Tone::Good,
            (false, false) => Tone::Bad,
        };
        console.result_row(&[(tone, &format!("  {title}{}", one_line(&outcome.summary)))]);
        let lines: Vec<&str> = outcome.output.lines().collect();
        let skipped = lines.len().saturating_sub(MOST_OUTPUT);
        if skipped > 0 {
            console.result_row(&[(Tone::Faint, &format!("    … {skipped} lines before these"))]);
        }
        for line in &lines[skipped..] {
            console.result_row(&[(Tone::Plain, &format!("    {line}"))]);
        }
    }
}

fn file(console: Console, file: &FileStep, is_taken: impl Fn(&Hunk) -> bool) {
    if let Some(note) = &file.note {
        console.result_row(&[(Tone::Faint, &format!("  {}", one_line(note)))]);
    }
    if file.hunks.is_empty() {
        let (mark, tone, text) = match (&file.before, &file.after) {
            (None, Some(after)) => ('+', Tone::Good, after.as_str()),
            (Some(before), None) => ('-', Tone::Bad, before.as_str()),
            _ => return,
        };
        lines(console, mark, tone, text);
    }
    for (number, hunk) in (1..).zip(&file.hunks) {
        self::hunk(console, number, hunk, is_taken(hunk));
    }
}

/// Prints a hunk, with its number in the step, from 1 on.
pub(super) fn hunk(console: Console, number: usize, hunk: &Hunk, is_taken: bool) {
    let state = if is_taken { "" } else { "  (left out)" };
    console.result_row(&[(Tone::Faint, &format!("  hunk {number}, line {}{state}", hunk.new_first))]);
    lines(console, '-', Tone::Bad, &hunk.old_text);
    lines(console, '+', Tone::Good, &hunk.new_text);
}

fn lines(console: Console, mark: char, tone: Tone, text: &str) {
    let count = text.lines().count();
    for line in text.lines().take(MOST_LINES) {
        console.result_row(&[(tone, &format!("  {mark}{}", printable(line)))]);
    }
    if count > MOST_LINES {
        console
            .result_row(&[(Tone::Faint, &format!("  … {} more lines; --json has all", count - MOST_LINES))]);
    }
}
