//! A session: the task, its progress, and the versions that the model was shown. Plain data that the caller stores.

mod clipped;

pub use clipped::Clipped;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wap_core::{Call, LastAnswer, LineSpan, ShownVersions, Workspace};

use crate::{
    CommandResult, Dialect, Execution, HeldReply, Outbox, ReplyTo, SessionId, WholeViews, paste_parts,
};

/// One task, from its first outbox to DONE.
///
/// As JSON it has exactly the members of the original document, then further ones, all of which may be absent; unknown
/// members are ignored. Times are texts (ISO 8601 in UTC) from the caller.
///
/// Source: bracket-tag protocol, Session State.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The name of the session.
    pub session_id: SessionId,
    /// The task as the user gave it.
    pub task: String,
    /// The 1-based number of the pending outbox; for a complete session, the number of the last outbox.
    pub sequence_number: u32,
    /// True if DONE was received.
    pub is_complete: bool,
    /// The time at which the session began.
    pub created_at: String,
    /// The time of its last change.
    pub updated_at: String,
    /// The results of the blocks of the last reply, in their order.
    #[serde(default)]
    pub last_results: Vec<CommandResult>,
    /// The notes of the next outbox in addition to the results, one line each: for instance about the user's own work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The work that this session continues, which its first message shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handover>,
    /// The user's review of the last reply, which the next outbox shows; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub review: String,
    /// The answers of the user to the model's question in the last reply, which the pending outbox shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// The files that the last reply requested, each once, in the order of the requests.
    #[serde(default)]
    pub read_file_requests: Vec<String>,
    /// The requested lines of files that the last reply did not request whole: by canonical path, sorted and disjoint.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub read_file_ranges: BTreeMap<String, Vec<LineSpan>>,
    /// The rules by which replies are carried out.
    #[serde(default)]
    pub dialect: Dialect,
    /// Sentences about the surroundings of commands, shown with the rules in each outbox that has all of them; none in the
    /// dialect [`Dialect::CodingAgent`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surroundings: Vec<String>,
    /// The versions of files that the model was shown.
    #[serde(default)]
    pub shown_versions: ShownVersions,
    /// The state of the shown files when the pending outbox was written; `None` in the dialect [`Dialect::CodingAgent`], and
    /// in sessions of earlier versions until their next outbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_answer: Option<LastAnswer>,
    /// The lines of the list of files, as shown to the model; empty if no list was shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<String>,
    /// The files that the model was shown whole in one of the last messages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whole_views: WholeViews,
    /// The maximum number of tokens of an outbox, estimated; `None` for no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u32>,
    /// The maximum number of characters of one paste; longer messages are written in parts, too. `None` for no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paste_characters: Option<u32>,
    /// The numbers at which the session was complete and was reopened, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reopened: Vec<u32>,
    /// The summary of DONE; `None` until it is received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<String>,
    /// The reply that was cut off and that the next reply should continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldReply>,
}

/// The work of another conversation that a session continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Handover {
    /// The conversation, as the journal names it.
    pub from: String,
    /// The work so far, as text for the model.
    pub text: String,
}

impl Session {
    /// Begins a session at sequence 1; `now` is the time as text, ISO 8601 in UTC.
    #[must_use]
    pub fn new(
        id: SessionId,
        task: impl Into<String>,
        now: &str,
        dialect: Dialect,
        token_budget: Option<u32>,
    ) -> Session {
        Session {
            session_id: id,
            task: task.into(),
            sequence_number: 1,
            is_complete: false,
            created_at: now.to_owned(),
            updated_at: now.to_owned(),
            last_results: Vec::new(),
            notes: Vec::new(),
            handover: None,
            review: String::new(),
            answers: Vec::new(),
            read_file_requests: Vec::new(),
            read_file_ranges: BTreeMap::new(),
            dialect,
            surroundings: Vec::new(),
            shown_versions: ShownVersions::default(),
            last_answer: None,
            listed: Vec::new(),
            whole_views: WholeViews::new(),
            token_budget,
            paste_characters: None,
            reopened: Vec::new(),
            done: None,
            held: None,
        }
    }

    /// Returns the name of the pending outbox's file, for example `a1b2c3d4_seq0001.txt`.
    #[must_use]
    pub fn outbox_file_name(&self) -> String {
        format!("{}_seq{:04}.txt", self.session_id, self.sequence_number)
    }

    /// Returns the parts of the pending outbox with their file names, for example `a1b2c3d4_seq0001_part2of3.txt`; empty if the
    /// outbox fits into one paste.
    #[must_use]
    pub fn outbox_parts(&self, outbox: &str) -> Vec<(String, String)> {
        let Some(characters) = self.paste_characters else { return Vec::new() };
        let parts = paste_parts(outbox, usize::try_from(characters).unwrap_or(usize::MAX));
        let count = parts.len();
        if count < 2 {
            return Vec::new();
        }
        let prefix = self.outbox_part_prefix();
        let named = |(index, text)| (format!("{prefix}{}of{count}.txt", index + 1), text);
        parts.into_iter().enumerate().map(named).collect()
    }

    /// Returns the beginning of the names of all parts of the pending outbox.
    #[must_use]
    pub fn outbox_part_prefix(&self) -> String {
        format!("{}_seq{:04}_part", self.session_id, self.sequence_number)
    }

    /// Returns the name of the session's file, for example `a1b2c3d4.json`.
    #[must_use]
    pub fn session_file_name(&self) -> String {
        format!("{}.json", self.session_id)
    }

    /// Returns the token of the pending outbox.
    #[must_use]
    pub fn reply_to(&self) -> ReplyTo {
        ReplyTo { session: self.session_id, sequence: self.sequence_number }
    }

    /// Records the versions and the list of files in an outbox, and the state of the files when it is written.
    ///
    /// Forgets the versions of files beyond [`LastAnswer::FILES`].
    pub fn note_outbox<W: Workspace + ?Sized>(&mut self, outbox: &Outbox, workspace: &W, call: &Call<'_>) {
        self.shown_versions = outbox.shown_versions.clone();
        self.listed = outbox.listed.clone();
        self.whole_views = outbox.whole_views.clone();
        // In the other dialect, line numbers refer to the current file, so it needs no earlier versions.
        if self.dialect == Dialect::Agentd {
            let answer = self.last_answer.get_or_insert_default();
            answer.take(workspace, call, &mut self.shown_versions);
        }
    }

    /// Checks whether the pending outbox has all rules and the whole list of files: true for the first outbox of a chat, and for
    /// every outbox in the dialect [`Dialect::CodingAgent`].
    #[must_use]
    pub fn shows_everything(&self) -> bool {
        let is_reopened = self.reopened.last().is_some_and(|last| last + 1 == self.sequence_number);
        self.dialect == Dialect::CodingAgent || self.sequence_number == 1 || is_reopened
    }

    /// Applies the outcome of a reply, at the time `now`. With DONE the session is complete and keeps its number, because there
    /// is no further outbox; else the next outbox is pending. Notes belonged to the last outbox and are removed.
    ///
    /// In the dialect [`Dialect::Agentd`], a reply without results adds a note that nothing was recognised, and DONE in a reply
    /// with a failed block does not complete the session: a note explains that, and the next outbox has the results.
    pub fn advance(&mut self, execution: Execution, now: &str) {
        let failed = execution.failed_blocks();
        self.last_results = execution.results;
        self.notes.clear();
        self.review.clear();
        self.answers.clear();
        self.held = None;
        self.read_file_requests = execution.read_file_requests;
        self.read_file_ranges = execution.read_file_ranges;
        self.shown_versions = execution.shown_versions;
        self.updated_at = now.to_owned();
        if self.last_results.is_empty() && self.dialect == Dialect::Agentd {
            self.notes.push(NOTHING_RECOGNISED.to_owned());
        }
        match execution.done {
            // The model wrote DONE before it could read the failure.
            Some(_) if failed > 0 && self.dialect == Dialect::Agentd => {
                self.sequence_number += 1;
                self.notes.push(done_is_early(failed));
            }
            Some(summary) => {
                self.is_complete = true;
                self.done = Some(summary);
            }
            None => self.sequence_number += 1,
        }
    }

    /// Makes the next outbox of a complete session pending, at the time `now`; does nothing to any other session.
    ///
    /// The results of the last reply stay, and the only note is that the user reopened the session.
    pub fn reopen(&mut self, now: &str) {
        if !self.is_complete {
            return;
        }
        self.review.clear();
        self.answers.clear();
        self.reopened.push(self.sequence_number);
        self.sequence_number += 1;
        self.is_complete = false;
        self.done = None;
        self.updated_at = now.to_owned();
        self.notes = vec![REOPENED.to_owned()];
    }
}

/// The note about a reply without a block.
const NOTHING_RECOGNISED: &str = "nothing in your last reply was recognised as a block, so nothing was done: write each tag alone on its line, for \
     example [READ_FILE path=\"relative/path\"] or [RUN_COMMAND] with [/RUN_COMMAND], as the section PROTOCOL shows; a \
     question to the user belongs in [MESSAGE], and [DONE] ends the session";

/// The note about a session that the user reopened after DONE.
const REOPENED: &str = "the user has reopened the session after your [DONE]: the task is not complete yet; ask with [MESSAGE] if it is \
     not clear what is missing";

/// Returns the note about DONE in a reply with failed blocks.
fn done_is_early(failed: usize) -> String {
    let blocks =
        if failed == 1 { "1 block of it failed".to_owned() } else { format!("{failed} blocks of it failed") };
    format!(
        "your [DONE] did not end the session, because {blocks}: look at the results, and send [DONE] again, alone, when \
         the task is complete"
    )
}
