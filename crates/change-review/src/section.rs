//! The review as the model reads it.

use std::fmt::Write;

use crate::anchor::Anchor;
use crate::draft::{Comment, CommentPosition, Draft};
use crate::step::{ProposedStep, StepEffect};
use crate::verdict::{Selection, StepVerdict};

/// The maximum number of lines quoted for a comment.
const MOST_QUOTED: usize = 12;

/// The maximum number of characters of a quoted line.
const MOST_CHARACTERS: usize = 200;

/// Returns the review for the model: the parts left out, and all comments with their lines. Empty if everything was
/// taken without comments.
///
/// `mask` returns a text as the model may see it. Lines and commands that it changes are not quoted: quotations are
/// truncated, and a truncated secret is not recognised. Files for which `hides` holds are not quoted.
#[must_use]
pub fn review_text(
    steps: &[ProposedStep],
    selection: &Selection,
    draft: &Draft,
    mask: &dyn Fn(&str) -> String,
    hides: &dyn Fn(&str) -> bool,
) -> String {
    let selection = selection.normal(steps);
    let left_out: Vec<String> = steps.iter().filter_map(|step| left_out(step, &selection, mask)).collect();
    let has_words = !draft.comments.is_empty() || !draft.summary.trim().is_empty();
    if left_out.is_empty() && !has_words {
        return String::new();
    }
    let mut text = format!("{}\n", verdict(steps, &selection));
    let is_nothing_taken = steps.iter().all(|step| is_left_out(step, &selection));
    if !draft.summary.trim().is_empty() {
        let _ = writeln!(text, "\n{}", draft.summary.trim());
    }
    if !left_out.is_empty() && !is_nothing_taken {
        let _ = writeln!(text, "\nLeft out:");
        for line in left_out {
            let _ = writeln!(text, "- {line}");
        }
    }
    for comment in &draft.comments {
        let _ = write!(text, "\n{}", commented(comment, steps, mask, hides));
    }
    text
}

/// Describes in one sentence what was carried out.
fn verdict(steps: &[ProposedStep], selection: &Selection) -> String {
    let whole = steps.iter().filter(|step| *selection.verdict(step.step) == StepVerdict::Take).count();
    let left_out = steps.iter().filter(|step| is_left_out(step, selection)).count();
    let parts = steps.len() - whole - left_out;
    match (steps.len(), whole, parts) {
        (1, 1, _) => "The user reviewed your change and carried it out.".to_owned(),
        (1, _, 1) => "The user reviewed your change and carried out a part of it.".to_owned(),
        (_, 0, 0) => "The user reviewed this and carried out nothing of it.".to_owned(),
        (all, whole, _) if all == whole => {
            "The user reviewed your changes and carried out all of them.".to_owned()
        }
        (all, whole, 0) => format!("The user reviewed your {all} changes and carried out {whole} of them."),
        (all, 0, parts) => {
            format!("The user reviewed your {all} changes and carried out {parts} of them in part.")
        }
        (all, whole, parts) => {
            format!("The user reviewed your {all} changes: {whole} were carried out, and {parts} in part.")
        }
    }
}

fn is_left_out(step: &ProposedStep, selection: &Selection) -> bool {
    *selection.verdict(step.step) == StepVerdict::LeaveOut
}

/// Describes the parts of a step that were left out; `None` if there are none.
fn left_out(step: &ProposedStep, selection: &Selection, mask: &dyn Fn(&str) -> String) -> Option<String> {
    match (selection.verdict(step.step), &step.effect) {
        (StepVerdict::Take, _) => None,
        (StepVerdict::Hunks(taken), StepEffect::File(file)) => {
            let lines: Vec<String> = file
                .hunks
                .iter()
                .filter(|hunk| !taken.contains(&hunk.id))
                .map(|hunk| match hunk.new_count {
                    0 => format!("the removal of old {}", range(hunk.old_first, hunk.old_count)),
                    count => range(hunk.new_first, count),
                })
                .collect();
            Some(format!("{}, of your version: {}", file.path, lines.join(", ")))
        }
        (_, StepEffect::File(_)) => Some(step.title.clone()),
        (_, StepEffect::Command(command)) => {
            Some(format!("the command {}", one_line(&command.command, mask)))
        }
    }
}

fn range(first: usize, count: usize) -> String {
    match count {
        1 => format!("line {first}"),
        _ => format!("lines {first} to {}", first + count - 1),
    }
}

fn commented(
    comment: &Comment,
    steps: &[ProposedStep],
    mask: &dyn Fn(&str) -> String,
    hides: &dyn Fn(&str) -> bool,
) -> String {
    let step = steps.iter().find(|step| step.step == comment.step);
    let subject = match step.map(|step| &step.effect) {
        Some(StepEffect::Command(command)) => format!("The command {}", one_line(&command.command, mask)),
        _ => comment.path.clone(),
    };
    let lines = match comment.position(steps) {
        CommentPosition::Step => String::new(),
        CommentPosition::Lines { first, last } => format!(", {}", range(first, last - first + 1)),
        CommentPosition::Outdated => ", lines that have changed since".to_owned(),
    };
    let mut text = format!("### {subject}{lines}\n");
    if let Some(anchor) = &comment.anchor {
        if hides(&comment.path) || is_masked(comment, anchor, steps, mask) {
            let _ = writeln!(text, "> (lines that hold a secret)");
        } else {
            quote(&mut text, &anchor.quoted);
        }
    }
    let _ = writeln!(text, "{}", comment.text.trim());
    text
}

fn quote(text: &mut String, quoted: &str) {
    let lines: Vec<&str> = quoted.lines().collect();
    for line in lines.iter().take(MOST_QUOTED) {
        let _ = writeln!(text, "> {}", cut(line));
    }
    if lines.len() > MOST_QUOTED {
        let _ = writeln!(text, "> … {} more lines", lines.len() - MOST_QUOTED);
    }
}

/// Checks whether the model may not see the lines of a comment. They are masked within their whole text, since lines
/// from the middle of a key cannot be recognised by themselves.
fn is_masked(
    comment: &Comment,
    anchor: &Anchor,
    steps: &[ProposedStep],
    mask: &dyn Fn(&str) -> String,
) -> bool {
    if mask(&anchor.quoted) != anchor.quoted {
        return true;
    }
    let (Some(text), CommentPosition::Lines { first, last }) =
        (comment.text_of(steps), comment.position(steps))
    else {
        return false;
    };
    let masked = mask(text);
    let lines = |text: &str| -> Vec<String> {
        text.lines().skip(first - 1).take(last + 1 - first).map(str::to_owned).collect()
    };
    masked != text && lines(&masked) != lines(text)
}

fn one_line(command: &str, mask: &dyn Fn(&str) -> String) -> String {
    if mask(command) != command {
        return "(which holds a secret)".to_owned();
    }
    let line = command.lines().next().unwrap_or_default();
    let more = if command.lines().nth(1).is_some() { " …" } else { "" };
    format!("`{}`{more}", cut(line))
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
