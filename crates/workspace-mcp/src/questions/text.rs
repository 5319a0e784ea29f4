//! The text of a question.

use std::fmt::Write as _;

use wap_core::{is_invisible, visible_line, visible_text};
use workspace_host::{SecretRules, ShownProposal};

use super::description;

/// The maximum number of lines of a question; omissions are reported, and visible in the review.
const MOST_LINES: usize = 60;

/// The longest line in characters.
const MOST_CHARACTERS: usize = 400;

/// The maximum number of deleted files that are named at the start.
const MOST_DELETIONS: usize = 20;

/// Returns the question about a proposal, for a person. Secrets are placeholders: a client may log it.
pub(super) fn of(review: &ShownProposal, rules: &SecretRules) -> String {
    let proposal = &review.proposal;
    let id = proposal.id;
    let mut body = description::surroundings_of(proposal, rules);
    body.push_str(&deletions(review, rules));
    for step in &proposal.steps {
        body.push_str(&description::step(step, rules).text);
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

/// Names the files that were deleted in the trial, before everything else.
fn deletions(review: &ShownProposal, rules: &SecretRules) -> String {
    let deleted = review.deletions();
    if deleted.is_empty() {
        return String::new();
    }
    let files = if deleted.len() == 1 { "file" } else { "files" };
    let mut text = format!("It deletes {} {files}:\n", deleted.len());
    for path in deleted.iter().take(MOST_DELETIONS) {
        let _ = writeln!(text, "- {}", visible_line(&rules.mask_rest(path), MOST_CHARACTERS));
    }
    if let Some(more) = deleted.len().checked_sub(MOST_DELETIONS).filter(|more| *more > 0) {
        let _ = writeln!(text, "and {more} more");
    }
    text
}

/// Replaces a character that would change the display order of others, or is invisible.
pub(super) fn plain(character: char) -> char {
    if is_invisible(character) { '\u{fffd}' } else { character }
}
