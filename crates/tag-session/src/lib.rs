//! Bracket-tag sessions on disk: inbox, outbox, session files, and the round trip between them.
//!
//! The journal is the source of truth. A session, its outboxes and its replies are documents in it; the files for users are
//! projections of those documents and are rewritten whenever they are missing or outdated ([`Sessions::open`]).
//!
//! One round, [`Sessions::apply`]: decide whether the reply is new, finished or interrupted → read and repair it → let
//! [`tagproto::execute`] drive a [`wap_core::Workspace`] → commit results, session and next outbox together → write the files →
//! move the reply to `processed/`. After a crash at any point, the reply resumes where it stopped: it makes the same calls, and
//! the engine answers completed ones from its record.
//!
//! The crate executes nothing itself, and is generic over the workspace.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod answered;
mod applied;
mod beginning;
mod documents;
mod error;
mod folders;
mod inbox;
mod needed;
mod outcome;
mod projection;
mod reconcile;
mod replay;
mod round;
mod sessions;
mod stopped;
mod summary;
mod transcript;
mod unattended;
mod undone;

pub use applied::{Applied, ApplyOptions, Executed, Review};
pub use error::SessionError;
pub use folders::StateFolders;
pub use inbox::file::{InboxFile, REPLY_LIMIT_BYTES, Unusable};
pub use inbox::moving::SetAside;
pub use inbox::{Inbox, InboxEvent, Waited};
pub use needed::needed_contents;
pub use reconcile::Reconciled;
pub use replay::Difference;
pub use sessions::{Claim, NewSession, Sessions, TextFilter};
pub use summary::{
    SessionPage, SessionSummary, StepSummary, read_outbox_text, read_session, session_page, session_steps,
    session_summaries,
};
pub use transcript::{
    LeftOut, Transcript, TranscriptContent, TranscriptError, TranscriptFile, TranscriptRound,
};
pub use unattended::{StopReason, Totals, Unattended};
