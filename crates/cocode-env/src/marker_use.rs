//! Distinguishes the agent's own statement from a quotation: the marker may be copied from the issue or a commit.

use serde::{Deserialize, Serialize};

use crate::marker::ReadyMarker;

/// The use of the marker in a commit message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkerUse {
    /// The message does not contain the marker.
    Absent,
    /// The message states the marker as the author's own words.
    Said,
    /// The marker occurs only in the subject of the commit that this one reverts or reapplies.
    Reverted,
    /// The marker occurs only in quoted text: after `>`, or copied from the issue.
    Quoted,
}

impl MarkerUse {
    /// Classifies a message. `issue_body` is the text of the issue that the agent received.
    ///
    /// An issue line that contains more than the marker is a quotation wherever it occurs. A line with the marker
    /// alone is a quotation if an adjacent line comes from the issue as well: an issue may ask for "a line with …" and
    /// show it.
    ///
    /// ```
    /// use cocode_env::{MarkerUse, ReadyMarker};
    /// let marker = ReadyMarker::default();
    /// let of = |message| MarkerUse::of(&marker, message, "Say 'cocode ready for check' when done.");
    /// assert_eq!(of("fix: issue #5\n\ncocode ready for check"), MarkerUse::Said);
    /// assert_eq!(of("fix\n\nSay 'cocode ready for check' when done."), MarkerUse::Quoted);
    /// assert_eq!(of("Revert \"fix: cocode ready for check\""), MarkerUse::Reverted);
    /// assert_eq!(of("Cocode Ready For Check"), MarkerUse::Absent);
    /// ```
    pub fn of(marker: &ReadyMarker, message: &str, issue_body: &str) -> MarkerUse {
        if !marker.is_in(message) {
            return MarkerUse::Absent;
        }
        let lines: Vec<&str> = message.lines().map(str::trim).collect();
        let body: Vec<&str> = issue_body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut only = MarkerUse::Quoted;
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| marker.is_in(line)) {
            if index == 0 && is_revert(line) {
                only = MarkerUse::Reverted;
            } else if !line.starts_with('>') && !is_quote(marker, &lines, index, &body) {
                return MarkerUse::Said;
            }
        }
        only
    }
}

/// Returns true for a subject that `git revert` writes.
fn is_revert(subject: &str) -> bool {
    subject.starts_with("Revert \"") || subject.starts_with("Reapply \"")
}

fn is_quote(marker: &ReadyMarker, lines: &[&str], index: usize, body: &[&str]) -> bool {
    let line = lines[index];
    if line == marker.as_str() {
        return has_neighbour_of_the_issue(marker, lines, index, body);
    }
    // The agent may add its own statement to a quoted line, so only the quotation is removed.
    let mut rest = line.to_owned();
    for quoted in body.iter().filter(|quoted| marker.is_in(quoted) && **quoted != marker.as_str()) {
        rest = rest.replace(quoted, " ");
    }
    !marker.is_in(&rest)
}

/// Returns true if the line before or after a line with the marker alone is the same as in the issue.
fn has_neighbour_of_the_issue(marker: &ReadyMarker, lines: &[&str], index: usize, body: &[&str]) -> bool {
    let is_filled = |line: &&&str| !line.is_empty();
    let before = lines[..index].iter().rev().find(is_filled);
    let after = lines[index + 1..].iter().find(is_filled);
    let mut in_body = body.iter().enumerate().filter(|(_, line)| **line == marker.as_str());
    in_body.any(|(index, _)| {
        let body_before = index.checked_sub(1).map(|before| &body[before]);
        let body_after = body.get(index + 1);
        (before.is_some() && before == body_before) || (after.is_some() && after == body_after)
    })
}
