//! A proposal: changes and commands that wait for a person.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use content_hash::ContentHash;
use serde::{Deserialize, Serialize};
use wap_core::{ExecuteCommand, FileChange};

use crate::recording::RecordedStep;
use crate::resolution::Resolution;
use crate::step::ProposedStep;

/// The number of a proposal in one state folder, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProposalId(pub u64);

impl fmt::Display for ProposalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for ProposalId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<ProposalId, Self::Err> {
        text.trim_start_matches('#').parse().map(ProposalId)
    }
}

/// A run that has not landed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// Its number.
    pub id: ProposalId,
    /// The session or the client that it is from.
    pub conversation: String,
    /// The front end that it came through: `session`, `mcp`, `http`, `llm4s`, `wap` or `codali`.
    pub front_end: String,
    /// The time at which it came, in seconds since 1970.
    pub came_at: u64,
    /// Its subject, in one line.
    pub subject: String,
    /// The reply or the calls that are carried out when it lands.
    pub content: Content,
    /// The steps: as planned, or with their real results once all of them were tried.
    pub steps: Vec<ProposedStep>,
    /// True if the steps are those of a trial: then the differences made by a command are real.
    pub is_tried: bool,
    /// Its progress.
    pub state: State,
}

/// The reply or the calls that are carried out when a proposal lands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// A reply to a session, in the form of the sessions' owner. If it was read from a file, `file` is an object, with
    /// the file's state at that time as `stamp`.
    Reply(serde_json::Value),
    /// Calls of tools.
    Calls {
        /// The name of the run that they are carried out as.
        run: String,
        /// The calls, in their order; each is one step.
        calls: Vec<ProposedCall>,
    },
}

impl Content {
    /// Returns a hash that only equals that of another content if both request the same: the same reply, whenever its
    /// file was saved, or the same calls in any run.
    #[must_use]
    pub fn request_hash(&self) -> String {
        let bytes = match self {
            Content::Reply(reply) => {
                let mut reply = reply.clone();
                // The file that it was read from may have been saved again since, or touched.
                if let Some(file) = reply.get_mut("file").and_then(serde_json::Value::as_object_mut) {
                    file.remove("stamp");
                }
                serde_json::to_vec(&("reply", reply))
            }
            Content::Calls { calls, .. } => {
                let calls: Vec<ProposedCall> = calls.iter().map(ProposedCall::as_requested).collect();
                serde_json::to_vec(&("calls", calls))
            }
        };
        ContentHash::of(&bytes.expect("contents have string keys")).to_string()
    }
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProposedCall {
    /// A batch of file changes.
    Changes(Vec<FileChange>),
    /// A command.
    Command(ExecuteCommand),
}

impl ProposedCall {
    /// Returns the call as the client made it, without the adapter's data on the versions that the client was shown and
    /// by which the call was judged.
    fn as_requested(&self) -> ProposedCall {
        let mut call = self.clone();
        if let ProposedCall::Changes(changes) = &mut call {
            for change in changes {
                match change {
                    FileChange::Modify(modify) => {
                        modify.seen_versions = None;
                        modify.judged = None;
                    }
                    FileChange::Write(write) => write.judged = None,
                    FileChange::Delete(_) => {}
                }
            }
        }
        call
    }
}

/// The progress of a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// It waits for a person.
    Pending,
    /// A choice is about to land. After a crash, the journal says whether it has.
    Landing {
        /// The choice.
        resolution: Resolution,
        /// The review for the model.
        review: String,
        /// The steps as they were on the adopted overlay; `None` if they are carried out again.
        adopted: Option<Vec<RecordedStep>>,
        /// The files that the steps were planned on, by path: the hash of the content, or `None` if there was no file.
        #[serde(default)]
        expected: BTreeMap<String, Option<String>>,
    },
    /// It is over.
    Decided(Decision),
}

/// The end of a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The choice that was carried out.
    pub resolution: Resolution,
    /// The review for the model.
    pub review: String,
    /// True if anything landed.
    pub has_landed: bool,
    /// The answers to calls, in the form of the workspace's owner; null for a reply.
    #[serde(default)]
    pub answers: serde_json::Value,
    /// True if the model's end has received the outcome.
    #[serde(default)]
    pub is_answered: bool,
    /// True if it was ended without an answer: its session has moved on, or its file has another reply. Nothing was
    /// carried out, and nothing may be.
    #[serde(default)]
    pub is_closed: bool,
}

impl Decision {
    /// Returns the way in which the proposal ended.
    #[must_use]
    pub fn end(&self) -> ProposalEnd {
        match (self.has_landed, self.is_closed) {
            (true, _) => ProposalEnd::Landed,
            (false, false) => ProposalEnd::SentBack,
            (false, true) => ProposalEnd::Closed,
        }
    }
}

/// The way in which a proposal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProposalEnd {
    /// A part or all of it landed.
    Landed,
    /// It was sent back, and nothing landed.
    SentBack,
    /// It was ended without an answer; see [`Decision::is_closed`].
    Closed,
}

impl ProposalEnd {
    /// Returns the words that complete "it was …" for a person or a model.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            ProposalEnd::Landed => "landed",
            ProposalEnd::SentBack => "sent back",
            ProposalEnd::Closed => "closed without an answer",
        }
    }
}

/// A proposal in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposalSummary {
    /// Its number.
    pub id: ProposalId,
    /// The session or the client that it is from.
    pub conversation: String,
    /// The front end that it came through.
    pub front_end: String,
    /// The time at which it came, in seconds since 1970.
    pub came_at: u64,
    /// Its subject, in one line.
    pub subject: String,
    /// The number of files that it changes.
    pub files: usize,
    /// The number of commands that it runs.
    pub commands: usize,
    /// True while it waits for a person.
    pub is_pending: bool,
    /// The way in which it ended; `None` if it has not, or cannot be read.
    pub end: Option<ProposalEnd>,
    /// The reason why it cannot be read; `None` if it can. Everything else but its number is unknown then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

impl ProposalSummary {
    /// Describes a proposal that cannot be read.
    pub(crate) fn unreadable(id: ProposalId, fault: &str) -> ProposalSummary {
        ProposalSummary {
            id,
            conversation: String::new(),
            front_end: String::new(),
            came_at: 0,
            subject: String::new(),
            files: 0,
            commands: 0,
            is_pending: false,
            end: None,
            fault: Some(fault.to_owned()),
        }
    }
}

impl Proposal {
    /// Returns its entry in a list.
    #[must_use]
    pub fn summary(&self) -> ProposalSummary {
        let mut paths: Vec<&str> = self.steps.iter().filter_map(ProposedStep::path).collect();
        let commands = self.steps.len() - paths.len();
        paths.sort_unstable();
        paths.dedup();
        ProposalSummary {
            id: self.id,
            conversation: self.conversation.clone(),
            front_end: self.front_end.clone(),
            came_at: self.came_at,
            subject: self.subject.clone(),
            files: paths.len(),
            commands,
            is_pending: self.is_pending(),
            end: self.end(),
            fault: None,
        }
    }

    /// Returns the way in which it ended; `None` if it has not.
    #[must_use]
    pub fn end(&self) -> Option<ProposalEnd> {
        match &self.state {
            State::Decided(decision) => Some(decision.end()),
            State::Pending | State::Landing { .. } => None,
        }
    }

    /// Checks whether it waits for a person.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        matches!(self.state, State::Pending)
    }
}
