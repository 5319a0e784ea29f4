//! The text of a question.

use std::fmt::Write as _;

use change_review::{CommandStep, Content, FileStep, Proposal, ProposedCall, StepEffect};
use wap_core::{ExecuteCommand, visible_text};
use workspace_host::SecretRules;

/// The most lines of a question; what is left out is said, and can be seen in the review.
const MOST_LINES: usize = 60;

/// The longest line in characters.
const MOST_CHARACTERS: usize = 400;

/// Returns the question about a proposal, for a person. Secrets are placeholders: a client may log it.
pub(super) fn of(proposal: &Proposal, rules: &SecretRules) -> String {
    let id = proposal.id;
    let mut body = String::new();
    if let Content::Calls { calls, .. } = &proposal.content {
        for call in calls {
            if let ProposedCall::Command(command) = call {
                body.push_str(&rules.mask_file_text(&surroundings(command)));
            }
        }
    }
    for step in &proposal.steps {
        // Masked before anything is cut: the rest of a secret is not recognised.
        match &step.effect {
            StepEffect::Command(command) => body.push_str(&rules.mask_rest(&command_text(command))),
            StepEffect::File(file) if rules.secrets.is_some() && rules.withheld.may_leave_out(&file.path) => {
                let title = rules.mask_rest(&step.title);
                let _ =
                    writeln!(body, "{title}\n! its content is left out, since it usually holds credentials");
            }
            StepEffect::File(file) => {
                // Lines from the middle of a key say nothing by themselves: in the whole texts they are recognised, and kept.
                for side in [&file.before, &file.after].into_iter().flatten() {
                    let _ = rules.mask_file_text(side);
                }
                body.push_str(&rules.mask_file_text(&file_text(&step.title, file)));
            }
        }
        if let Some(problem) = &step.problem {
            let _ = writeln!(body, "! {}", rules.mask_rest(problem));
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

/// Describes what a command is given besides its text. Values are quoted, so that none can look like another line.
fn surroundings(command: &ExecuteCommand) -> String {
    let mut text = String::new();
    for (name, value) in command.environment.iter().flatten() {
        let _ = writeln!(text, "With the variable {name}={value:?}");
    }
    if let Some(ready) = &command.ready {
        let _ = writeln!(text, "Ready as soon as it prints {ready:?}");
    }
    text
}

fn command_text(command: &CommandStep) -> String {
    let mut text = String::new();
    let folder = command.folder.as_ref().map(|folder| format!(" in {folder}")).unwrap_or_default();
    let background =
        command.background.as_ref().map(|name| format!(", left running as '{name}'")).unwrap_or_default();
    // Writing to a `String` never fails.
    let _ = writeln!(text, "Run{folder}{background}:");
    for line in command.command.lines() {
        let _ = writeln!(text, "$ {line}");
    }
    text
}

fn file_text(title: &str, file: &FileStep) -> String {
    let mut text = format!("{title}\n");
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
            whole(&mut text, '-', &file.before);
            whole(&mut text, '+', &file.after);
        }
        return text;
    }
    for hunk in &file.hunks {
        let _ = writeln!(text, "line {}:", hunk.old_first);
        whole(&mut text, '-', &Some(hunk.old_text.clone()));
        whole(&mut text, '+', &Some(hunk.new_text.clone()));
    }
    text
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
