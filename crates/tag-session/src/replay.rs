//! Letting a session go again, and comparing.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use tagproto::{CommandResult, ExecutionObserver, OutboxParts, Session, read_outbox};
use wap_core::{CancelFlag, Workspace};

use crate::applied::{Applied, ApplyOptions};
use crate::error::SessionError;
use crate::sessions::Sessions;
use crate::transcript::Transcript;

/// What the name of a whole output of a command begins with. The rest of the name depends on what ran before.
const OUTPUT_PREFIX: &str = "@output/";

/// One thing that came out otherwise than in the transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Difference {
    /// The number of the message that it belongs to, 1-based.
    pub sequence: u32,
    /// What it is: a result, or a part of a message.
    pub what: String,
    /// As the transcript has it.
    pub expected: String,
    /// As it came out now.
    pub found: String,
}

impl<W: Workspace> Sessions<W> {
    /// Lets the session of a transcript go again, from its task to its last reply, and returns what came out otherwise.
    ///
    /// The workspace must hold what [`Transcript::lay_out`] makes, and there must be no session of that id. The report of
    /// what confines commands is not compared, nor are files that the transcript leaves out.
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
        let Transcript { session: id, task, dialect, token_budget, .. } = transcript;
        let mut session = self.create_as(*id, task, *dialect, *token_budget, cancel)?;
        for round in &transcript.rounds {
            session = self.reopened_for(session, round.sequence, cancel)?;
            let outbox = self.outbox(&session)?.unwrap_or_default();
            compare_outboxes(transcript, round.sequence, &round.outbox, &outbox, &mut differences);
            // A text that came twice was meant twice.
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

    /// Reopens a complete session, as the user did, if a message of this number followed.
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
    found: &[CommandResult],
    differences: &mut Vec<Difference>,
) {
    for index in 0..expected.len().max(found.len()) {
        let [expected, found] = [expected.get(index), found.get(index)].map(result_text);
        let what = format!("result {}", index + 1);
        add(sequence, what, expected, found, differences);
    }
}

/// One part of a message as a text.
type Part<'a> = dyn Fn(&OutboxParts) -> String + 'a;

fn compare_outboxes(
    transcript: &Transcript,
    sequence: u32,
    expected: &str,
    found: &str,
    differences: &mut Vec<Difference>,
) {
    let (Ok(expected), Ok(found)) = (read_outbox(expected), read_outbox(found)) else {
        return add(sequence, "message".to_owned(), plain(expected), plain(found), differences);
    };
    let left_out: BTreeSet<&str> = transcript.left_out.iter().map(|left_out| &*left_out.what).collect();
    // The results were compared when they came.
    let parts: [(&str, &Part<'_>); 5] = [
        ("task", &|parts| parts.task.clone()),
        ("protocol", &|parts| parts.protocol.clone()),
        ("list of files", &|parts| listing(parts, &left_out)),
        ("requested files", &files),
        ("prompt", &|parts| parts.prompt.clone()),
    ];
    for (what, part) in parts {
        add(sequence, what.to_owned(), plain(&part(&expected)), plain(&part(&found)), differences);
    }
}

fn add(sequence: u32, what: String, expected: String, found: String, differences: &mut Vec<Difference>) {
    if expected != found {
        differences.push(Difference { sequence, what, expected, found });
    }
}

fn result_text(result: Option<&CommandResult>) -> String {
    let Some(result) = result else { return "(none)\n".to_owned() };
    let mark = if result.success { "OK" } else { "FAILED" };
    plain(&format!("[{mark}] {}: {}\n{}", result.command_type, result.summary, result.output))
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

/// A text without the numbers in the names of whole outputs.
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
