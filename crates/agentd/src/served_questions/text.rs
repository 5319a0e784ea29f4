//! The text of a question.

use std::fmt::Write as _;

use change_review::{CommandStep, FileStep, Proposal, StepEffect};
use wap_core::visible_text;

/// The most lines of a question; what is left out is said, and can be seen in the review.
const MOST_LINES: usize = 60;

/// The longest line in characters.
const MOST_CHARACTERS: usize = 400;

/// Returns the question about a proposal, for a person.
pub(super) fn of(proposal: &Proposal) -> String {
    let id = proposal.id;
    let mut body = String::new();
    for step in &proposal.steps {
        match &step.effect {
            StepEffect::Command(command) => write_command(&mut body, command),
            StepEffect::File(file) => write_file(&mut body, &step.title, file),
        }
        if let Some(problem) = &step.problem {
            let _ = writeln!(body, "! {problem}");
        }
    }
    let body = visible_text(&body);
    let lines: Vec<&str> = body.lines().collect();
    let mut text = format!("May this be carried out? (proposal {id})\n");
    for line in lines.iter().take(MOST_LINES) {
        text.extend(line.chars().take(MOST_CHARACTERS).map(plain));
        if line.chars().nth(MOST_CHARACTERS).is_some() {
            text.push('…');
        }
        text.push('\n');
    }
    let is_cut =
        lines.len() > MOST_LINES || lines.iter().any(|line| line.chars().nth(MOST_CHARACTERS).is_some());
    if is_cut {
        let left_out = lines.len().saturating_sub(MOST_LINES);
        let _ = writeln!(
            text,
            "NOT ALL OF IT IS SHOWN: {left_out} lines and the ends of long ones are left out. `agentd review {id}` shows it."
        );
    }
    text
}

fn write_command(text: &mut String, command: &CommandStep) {
    let folder = command.folder.as_ref().map(|folder| format!(" in {folder}")).unwrap_or_default();
    let background =
        command.background.as_ref().map(|name| format!(", left running as '{name}'")).unwrap_or_default();
    // Writing to a `String` never fails.
    let _ = writeln!(text, "Run{folder}{background}:");
    for line in command.command.lines() {
        let _ = writeln!(text, "$ {line}");
    }
}

fn write_file(text: &mut String, title: &str, file: &FileStep) {
    let _ = writeln!(text, "{title}");
    if let Some(note) = &file.note {
        let _ = writeln!(text, "! {note}");
    }
    let whole = |text: &mut String, sign: char, side: &Option<String>| {
        for line in side.iter().flat_map(|side| side.lines()) {
            let _ = writeln!(text, "{sign} {line}");
        }
    };
    if file.hunks.is_empty() {
        // Both sides of a file that appears or goes; one of them is there.
        if file.before.is_none() || file.after.is_none() {
            whole(text, '-', &file.before);
            whole(text, '+', &file.after);
        }
        return;
    }
    for hunk in &file.hunks {
        let _ = writeln!(text, "line {}:", hunk.old_first);
        whole(text, '-', &Some(hunk.old_text.clone()));
        whole(text, '+', &Some(hunk.new_text.clone()));
    }
}

/// Replaces a character that would change the order in which others are shown, or is not seen.
fn plain(character: char) -> char {
    match character {
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
            '\u{fffd}'
        }
        other => other,
    }
}
