//! Replays a session and compares it with its transcript.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use tagproto::{CommandResult, ExecutionObserver, OutboxParts, Session, read_outbox};
use wap_core::{CancelFlag, Workspace};

use crate::applied::{Applied, ApplyOptions};
use crate::error::SessionError;
use crate::sessions::{NewSession, Sessions};
use crate::transcript::Transcript;

/// The prefix of the name of a command's whole output. The rest of the name depends on earlier commands.
const OUTPUT_PREFIX: &str = "@output/";

/// A difference between a replay and its transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Difference {
    /// The 1-based number of the message to which it belongs.
    pub sequence: u32,
    /// The part that differs: a result, or a part of a message.
    pub what: String,
    /// The text in the transcript.
    pub expected: String,
    /// The text of the replay.
    #[serde(rename = "found")]
    pub actual: String,
}

impl<W: Workspace> Sessions<W> {
    /// Replays the session of a transcript from its task to its last reply, and returns the differences.
    ///
    /// The workspace must contain the files of [`Transcript::lay_out`], and there must be no session with that id. Neither the
    /// report of the confinement nor files that the transcript leaves out are compared.
    ///
    /// # Errors
    ///
    /// Those of [`Sessions::create`] and [`Sessions::apply`].
    pub fn replay(
        &self,
        transcript: &Transcript,
        timeout: Duration,
        cancel: &CancelFlag,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<Vec<Difference>, SessionError> {
        let mut differences = Vec::new();
        let Transcript { session: id, task, dialect, token_budget, task_files, read_files, .. } = transcript;
        let new = NewSession {
            id: *id,
            task,
            dialect: *dialect,
            token_budget: *token_budget,
            paste_characters: None,
            task_files,
            read_files,
            surroundings: &[],
            handover: None,
        };
        let mut session = self.create_as(&new, cancel)?;
        for round in &transcript.rounds {
            session = self.reopened_for(session, round.sequence, cancel)?;
            let outbox = self.outbox(&session)?.unwrap_or_default();
            compare_outboxes(transcript, round.sequence, &round.outbox, &outbox, &mut differences);
            // The transcript has every executed reply: a text that occurs twice was executed twice.
            let options = ApplyOptions { again: true, ..ApplyOptions::default() };
            let Applied::Executed(executed) =
                self.apply(*id, &round.reply, timeout, options, cancel, observer)?
            else {
                continue;
            };
            compare_results(round.sequence, &round.results, &executed.results, &mut differences);
            session = executed.session;
        }
        if let Some(pending) = &transcript.pending {
            session = self.reopened_for(session, u32::MAX, cancel)?;
            let outbox = self.outbox(&session)?.unwrap_or_default();
            compare_outboxes(transcript, session.sequence_number, pending, &outbox, &mut differences);
        }
        Ok(differences)
    }

    /// Reopens a complete session if a message with this number follows, since the user reopened it.
    fn reopened_for(
        &self,
        session: Session,
        sequence: u32,
        cancel: &CancelFlag,
    ) -> Result<Session, SessionError> {
        if session.is_complete && session.sequence_number < sequence {
            return self.reopen(session.session_id, cancel);
        }
        Ok(session)
    }
}

fn compare_results(
    sequence: u32,
    expected: &[CommandResult],
    actual: &[CommandResult],
    differences: &mut Vec<Difference>,
) {
    for index in 0..expected.len().max(actual.len()) {
        let [expected, actual] = [expected.get(index), actual.get(index)].map(result_text);
        let what = format!("result {}", index + 1);
        add(sequence, what, expected, actual, differences);
    }
}

/// One part of a message as a text.
type Part<'a> = dyn Fn(&OutboxParts) -> String + 'a;

fn compare_outboxes(
    transcript: &Transcript,
    sequence: u32,
    expected: &str,
    actual: &str,
    differences: &mut Vec<Difference>,
) {
    let (Ok(expected), Ok(actual)) = (read_outbox(expected), read_outbox(actual)) else {
        return add(sequence, "message".to_owned(), plain(expected), plain(actual), differences);
    };
    // A replay does not have the files that the transcript leaves out.
    let left_out: BTreeSet<&str> = transcript.left_out.iter().map(|left_out| &*left_out.what).collect();
    // The results of the round were already compared.
    let parts: [(&str, &Part<'_>); 5] = [
        ("task", &|parts| parts.task.clone()),
        ("protocol", &|parts| parts.protocol.clone()),
        ("list of files", &|parts| listing(parts, &left_out)),
        ("requested files", &files),
        ("prompt", &|parts| parts.prompt.clone()),
    ];
    for (what, part) in parts {
        add(sequence, what.to_owned(), plain(&part(&expected)), plain(&part(&actual)), differences);
    }
}

fn add(sequence: u32, what: String, expected: String, actual: String, differences: &mut Vec<Difference>) {
    if expected != actual {
        differences.push(Difference { sequence, what, expected, actual });
    }
}

fn result_text(result: Option<&CommandResult>) -> String {
    let Some(result) = result else { return "(none)\n".to_owned() };
    // The confinement's refusals are not compared, since they depend on the machine.
    let mark = if result.success { "OK" } else { "FAILED" };
    plain(&format!("[{mark}] {}: {}\n{}", result.command_type, result.summary, result.text()))
}

fn listing(parts: &OutboxParts, left_out: &BTreeSet<&str>) -> String {
    let entries = parts.listing.iter().filter(|entry| !left_out.contains(&*entry.path));
    let mut text: String = entries
        .map(|entry| match entry.kind {
            None => format!("{} ({} bytes)\n", entry.path, entry.size_bytes),
            Some(kind) => format!("{} ({kind:?})\n", entry.path),
        })
        .collect();
    if left_out.is_empty() {
        text.push_str(parts.listing_note.as_deref().unwrap_or_default());
    }
    text
}

fn files(parts: &OutboxParts) -> String {
    let text = |file: &tagproto::ShownFile| {
        let note = file.note.as_deref().unwrap_or_default();
        let lines =
            file.lines.map(|lines| format!(" lines {}-{} of {}", lines.first, lines.last, lines.total));
        format!(
            "{}{} {note}\n{}\n",
            file.path,
            lines.unwrap_or_default(),
            file.text.as_deref().unwrap_or("(not readable)")
        )
    };
    parts.files.iter().map(text).collect()
}

/// Removes the numbers in the names of whole outputs.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(OUTPUT_PREFIX) {
        let (before, name) = rest.split_at(at + OUTPUT_PREFIX.len());
        plain.push_str(before);
        rest = name.trim_start_matches(|character: char| character.is_ascii_digit() || character == '-');
    }
    plain + rest
}
