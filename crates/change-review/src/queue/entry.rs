//! The entry of a proposal in the queue: the data for lists and limits, kept separately so that neither reads whole
//! proposals.

use std::collections::BTreeMap;

use change_journal::{DocumentHead, DocumentWrite};
use content_hash::ContentHash;
use serde::{Deserialize, Serialize};

use super::documents::encoded;
use super::{Queue, QueueError};
use crate::proposal::{Proposal, ProposalId, ProposalSummary, State};

/// The documents of the queue, and the kinds of them that belong to one proposal.
const DOCUMENTS: &str = "review/";
const KINDS: [&str; 4] = ["proposal", "summary", "draft", "tried"];

/// The form of this version's documents. Documents of another form are made again.
const FORM: u32 = 2;

/// The document that is kept alongside a proposal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SummaryDocument {
    /// The form; see [`FORM`].
    #[serde(default)]
    form: u32,
    /// The hash of its proposal. If it differs, a version without summaries has written the proposal.
    of: String,
    /// The hash of what was requested.
    request: String,
    progress: Progress,
    summary: ProposalSummary,
}

/// The progress of a proposal without its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Progress {
    Pending,
    Landing,
    Decided,
    /// Decided, and the model's end has received the outcome.
    Answered,
    /// The proposal cannot be read.
    Unreadable,
}

/// An entry of the queue.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) request: String,
    pub(super) progress: Progress,
    pub(super) summary: ProposalSummary,
    /// The length of all its documents.
    pub(super) bytes: u64,
}

impl Entry {
    pub(super) fn is_pending(&self) -> bool {
        self.progress == Progress::Pending
    }

    pub(super) fn is_decided(&self) -> bool {
        matches!(self.progress, Progress::Decided | Progress::Answered)
    }
}

/// The documents of one proposal.
#[derive(Default)]
struct Stored<'a> {
    proposal: Option<&'a DocumentHead>,
    has_summary: bool,
    bytes: u64,
}

impl SummaryDocument {
    fn of(proposal: &Proposal, hash: ContentHash) -> SummaryDocument {
        let progress = match &proposal.state {
            State::Pending => Progress::Pending,
            State::Landing { .. } => Progress::Landing,
            State::Decided(decision) if decision.is_answered => Progress::Answered,
            State::Decided(_) => Progress::Decided,
        };
        let request = proposal.content.request_hash();
        SummaryDocument { form: FORM, of: hash.to_string(), request, progress, summary: proposal.summary() }
    }
}

impl Queue {
    /// Returns the entries of all proposals, by their numbers.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, QueueError> {
        let heads = self.journal.reader().documents(DOCUMENTS)?;
        let mut all: BTreeMap<ProposalId, Stored<'_>> = BTreeMap::new();
        for head in &heads {
            // An unknown name was written by another version.
            let Some((kind, number)) =
                head.name.strip_prefix(DOCUMENTS).and_then(|name| name.split_once('/'))
            else {
                continue;
            };
            let Ok(number) = number.parse() else { continue };
            let stored = all.entry(ProposalId(number)).or_default();
            stored.bytes += head.length_bytes;
            match kind {
                "proposal" => stored.proposal = Some(head),
                "summary" => stored.has_summary = true,
                _ => {}
            }
        }
        let stored = all.into_iter().filter_map(|(id, stored)| Some((id, stored.proposal?, stored)));
        Ok(stored.map(|(id, head, stored)| self.entry(id, head, &stored)).collect())
    }

    fn entry(&self, id: ProposalId, head: &DocumentHead, stored: &Stored<'_>) -> Entry {
        let kept: Option<SummaryDocument> = match stored.has_summary {
            // An unreadable summary is made again.
            true => self.read(&name("summary", id), id).unwrap_or_default(),
            false => None,
        };
        let kept = kept
            .filter(|kept| kept.form == FORM && kept.of == head.hash.to_string() && kept.summary.id == id);
        let document = match kept {
            Some(kept) => Ok(kept),
            None => self.proposal(id).map(|proposal| {
                let made = SummaryDocument::of(&proposal, head.hash);
                let (name, bytes) = (name("summary", id), encoded(&made));
                // Otherwise it would only be made once more.
                let _ =
                    self.journal.write_documents_lazily(&[DocumentWrite::Put { name: &name, bytes: &bytes }]);
                made
            }),
        };
        let bytes = stored.bytes;
        match document {
            Ok(SummaryDocument { request, progress, summary, .. }) => {
                Entry { request, progress, summary, bytes }
            }
            Err(error) => Entry {
                request: String::new(),
                progress: Progress::Unreadable,
                summary: ProposalSummary::unreadable(id, &error.to_string()),
                bytes,
            },
        }
    }

    /// Writes a proposal with its summary, and further documents, in one commit.
    pub(super) fn put_with(&self, proposal: &Proposal, more: &[DocumentWrite<'_>]) -> Result<(), QueueError> {
        let bytes = encoded(proposal);
        let summary = encoded(&SummaryDocument::of(proposal, ContentHash::of(&bytes)));
        let names = ["proposal", "summary"].map(|kind| name(kind, proposal.id));
        let mut writes = vec![
            DocumentWrite::Put { name: &names[0], bytes: &bytes },
            DocumentWrite::Put { name: &names[1], bytes: &summary },
        ];
        writes.extend(more.iter().copied());
        self.journal.write_documents(&writes)?;
        Ok(())
    }
}

/// Returns the names of all documents about a proposal.
pub(super) fn all_names(id: ProposalId) -> [String; 4] {
    KINDS.map(|kind| name(kind, id))
}

/// Returns the name of a document, with the number padded so that names sort by number.
pub(super) fn name(kind: &str, id: ProposalId) -> String {
    format!("{DOCUMENTS}{kind}/{:012}", id.0)
}
