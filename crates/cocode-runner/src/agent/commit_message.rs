//! The messages of an agent's commits.

use cocode_env::AgentContext;

/// The most characters of the subject of a commit.
const SUBJECT_CHARACTERS: usize = 72;

/// Returns the message of the commit that declares the work done: the summary, the issue and the marker.
#[must_use]
pub fn finished_message(context: &AgentContext, summary: &str) -> String {
    let summary = summary.trim();
    let (subject, body) = match summary.split_once('\n').unwrap_or((summary, "")) {
        (first, rest) if !first.is_empty() && first.chars().count() <= SUBJECT_CHARACTERS => {
            (first.to_owned(), rest.trim())
        }
        _ => (format!("Work on issue #{}", context.issue), summary),
    };
    // The issue is in between, so that the marker is not read as part of a quote at the summary's end.
    let issue = format!("For issue #{} ({})", context.issue, context.issue_url);
    let parts = [subject.as_str(), body, &issue, context.marker.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Returns the message of the commit of unfinished work.
#[must_use]
pub fn unfinished_message(context: &AgentContext) -> String {
    format!("Unfinished work on issue #{}", context.issue)
}
