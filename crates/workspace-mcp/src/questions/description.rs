//! The steps of a proposal as text without secrets.

use std::fmt::Write as _;

use change_review::{CommandStep, Content, FileStep, Proposal, ProposedCall, ProposedStep, StepEffect};
use wap_core::ExecuteCommand;
use workspace_host::{SecretRules, visible_file_step};

/// The description of one step.
pub(super) struct StepDescription {
    /// Its lines; the first one says what it is.
    pub(super) text: String,
    /// True if the text is incomplete: a file has credentials, is too long, or is not a text.
    pub(super) is_withheld: bool,
}

/// Returns the inputs of a proposal's commands in addition to their texts.
pub(super) fn surroundings_of(proposal: &Proposal, rules: &SecretRules) -> String {
    let Content::Calls { calls, .. } = &proposal.content else { return String::new() };
    let commands = calls.iter().filter_map(|call| match call {
        ProposedCall::Command(command) => Some(rules.mask_file_text(&surroundings(command))),
        ProposedCall::Changes(_) => None,
    });
    commands.collect()
}

/// Describes a step.
pub(super) fn step(step: &ProposedStep, rules: &SecretRules) -> StepDescription {
    // Masked before anything is cut: the rest of a secret is not recognised.
    let mut described = match &step.effect {
        StepEffect::Command(command) => {
            StepDescription { text: rules.mask_rest(&command_text(command)), is_withheld: false }
        }
        StepEffect::File(file) => change(&step.title, file, rules),
    };
    if let Some(problem) = &step.problem {
        let _ = writeln!(described.text, "! {}", rules.mask_rest(problem));
    }
    described
}

/// Describes a change of a file.
pub(super) fn change(title: &str, file: &FileStep, rules: &SecretRules) -> StepDescription {
    if rules.leaves_out(&file.path) {
        let title = rules.mask_rest(title);
        let text = format!("{title}\n! its content is left out, since it usually holds credentials\n");
        return StepDescription { text, is_withheld: true };
    }
    let text = rules.mask_rest(&file_text(title, &visible_file_step(file, rules)));
    StepDescription { text, is_withheld: file.before.is_none() && file.after.is_none() }
}

/// Describes the inputs of a command in addition to its text. Values are quoted, so that none can look like
/// another line.
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
    let whole = |text: &mut String, marker: char, side: &Option<String>| {
        for line in side.iter().flat_map(|side| side.lines()) {
            let _ = writeln!(text, "{marker} {line}");
        }
    };
    if file.hunks.is_empty() {
        // Both sides of a file that is created or removed; one of them exists.
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
