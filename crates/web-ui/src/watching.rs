//! Watches of the inbox and the journal, which publish events.

use std::sync::{Arc, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use drop_folder::FolderWatcher;
use rel_path::RelPath;
use serde::Serialize;
use tag_session::{Inbox, InboxEvent, InboxFile, Waited, session_page};
use tagproto::ReplyTo;
use wap_core::CancelFlag;
use workspace_host::{Exit, Failure, SharedSessions};

use crate::page::Page;

/// The time in which several commits become one event.
const SETTLING: Duration = Duration::from_millis(100);

/// The most waiting replies in the inbox.
const MOST_WAITING: usize = 16;

/// The replies that have arrived through the inbox and were not executed by this page.
#[derive(Debug, Default)]
pub(crate) struct InboxState {
    pub(crate) waiting: Vec<InboxFile>,
}

/// A reply in the inbox, without its text.
#[derive(Debug, Serialize)]
pub(crate) struct WaitingReply {
    name: String,
    characters: usize,
    /// The session that it names; `None` if it names none.
    session: Option<String>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Watched {
    Inbox { waiting: Vec<WaitingReply> },
    Notice { text: String },
    Changed,
}

impl Page {
    /// Returns the replies that wait in the inbox, without those that another process has executed or the user has removed.
    pub(crate) fn waiting_replies(&self, sessions: &SharedSessions) -> Vec<WaitingReply> {
        let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.waiting.retain(|file| {
            let now = sessions.folders().reply(&file.name.to_string());
            matches!(now, Ok(Some(now)) if now == *file)
        });
        let waiting = inbox.waiting.iter().map(|file| WaitingReply {
            name: file.name.to_string(),
            characters: file.text.chars().count(),
            session: ReplyTo::find(&file.text).map(|reply_to| reply_to.session.to_string()),
        });
        waiting.collect()
    }

    /// Returns a reply that waits in the inbox.
    pub(crate) fn waiting_reply(&self, name: &str) -> Option<InboxFile> {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.waiting.iter().find(|file| file.name.to_string() == name).cloned()
    }

    pub(crate) fn publish_inbox(&self, sessions: &SharedSessions) {
        self.events.publish(&Watched::Inbox { waiting: self.waiting_replies(sessions) });
    }
}

/// Starts both threads. They end with the page.
pub(crate) fn begin(page: &Arc<Page>, sessions: &Arc<SharedSessions>) -> Result<(), Failure> {
    let failed = |error| Failure::new(Exit::Failed, format!("the page cannot watch the inbox: {error}"));
    let (watched, of) = (Arc::downgrade(page), Arc::clone(sessions));
    thread::Builder::new()
        .name("page-inbox".to_owned())
        .spawn(move || inbox(&watched, &of))
        .map_err(failed)?;
    let (watched, of) = (Arc::downgrade(page), Arc::clone(sessions));
    thread::Builder::new()
        .name("page-journal".to_owned())
        .spawn(move || journal(&watched, &of))
        .map_err(failed)?;
    Ok(())
}

fn inbox(of: &Weak<Page>, sessions: &SharedSessions) {
    let Some(stop) = of.upgrade().map(|page| page.config.stop.clone()) else { return };
    let mut inbox = Inbox::default();
    // The last failure that was published.
    let mut failure = None;
    loop {
        let waited = inbox.wait(sessions.folders(), &stop);
        let Some(page) = of.upgrade() else { return };
        let event = match waited {
            Ok(Waited::Event(event)) => event,
            Ok(Waited::Cancelled) => return,
            // A full disk or too many open files may be transient, and later replies must not be missed.
            Err(error) => {
                let text = format!("the inbox could not be looked through: {error}; it is tried again");
                if failure.as_ref() != Some(&text) {
                    page.events.publish(&Watched::Notice { text: text.clone() });
                    failure = Some(text);
                }
                drop(page);
                FolderWatcher::new(&sessions.folders().inbox_path(), &stop).wait(None);
                continue;
            }
        };
        failure = None;
        match event {
            InboxEvent::Reply(file) => {
                // Left in the inbox: `agentd new`, if it waits for this session, executes it.
                inbox.leave(&file.name);
                drop(page);
                if !wait_for_room(of, sessions, &stop, &file.name) {
                    return;
                }
                let Some(page) = of.upgrade() else { return };
                let mut state = page.inbox.lock().unwrap_or_else(PoisonError::into_inner);
                state.waiting.retain(|waiting| waiting.name != file.name);
                state.waiting.push(file);
                drop(state);
                page.publish_inbox(sessions);
            }
            InboxEvent::Unusable { name, why, .. } => {
                page.events.publish(&Watched::Notice { text: format!("inbox/{name} {why}") });
            }
        }
    }
}

/// Waits until another reply may be held: a reply that was dropped in favour of another would never be shown again. Returns
/// false if the page is gone.
fn wait_for_room(of: &Weak<Page>, sessions: &SharedSessions, stop: &CancelFlag, name: &RelPath) -> bool {
    let watcher = FolderWatcher::new(&sessions.folders().inbox_path(), stop);
    let mut is_said = false;
    while !stop.is_cancelled() {
        let Some(page) = of.upgrade() else { return false };
        // Drops those that were run or removed meanwhile.
        page.waiting_replies(sessions);
        let has_room = {
            let state = page.inbox.lock().unwrap_or_else(PoisonError::into_inner);
            state.waiting.len() < MOST_WAITING || state.waiting.iter().any(|waiting| waiting.name == *name)
        };
        if has_room {
            return true;
        }
        if !is_said {
            let text = format!(
                "{MOST_WAITING} replies wait in the inbox: inbox/{name} and later ones are shown when one of those is run or removed"
            );
            page.events.publish(&Watched::Notice { text });
            is_said = true;
        }
        drop(page);
        watcher.wait(None);
    }
    false
}

/// The newest entries of the journal, to notice changes.
type Newest = (Option<u64>, bool, Option<u64>, u64);

fn journal(page: &Weak<Page>, sessions: &SharedSessions) {
    let Some(stop) = page.upgrade().map(|page| page.config.stop.clone()) else { return };
    let watcher = FolderWatcher::new(&sessions.paths().base.join("journal"), &stop);
    let mut last = newest(sessions);
    let mut queue = newest_of_queue(sessions);
    while !stop.is_cancelled() {
        watcher.wait(None);
        // Several commits in a row become one event; a timer, since there is no event for "no more commits".
        thread::sleep(SETTLING);
        let now = newest(sessions);
        let Some(page) = page.upgrade() else { return };
        if now != last {
            last = now;
            page.events.publish(&Watched::Changed);
        }
        let queue_now = newest_of_queue(sessions);
        if queue_now != queue {
            queue = queue_now;
            page.publish_reviews(sessions);
            // The reply of a finished proposal has left the inbox.
            page.publish_inbox(sessions);
        }
    }
}

fn newest(sessions: &SharedSessions) -> Option<Newest> {
    let reader = sessions.paths().journal_reader().ok().flatten()?;
    let run = reader.runs(&change_journal::RunFilter::default(), 1).ok()?.pop();
    let change = reader.latest_changes(None, 1).ok()?.pop();
    let version = session_page(&reader, 0, 0).ok()?.version;
    Some((
        run.as_ref().map(|run| run.number.0),
        run.is_some_and(|run| run.finished_at.is_some()),
        change.map(|change| change.number.0),
        version,
    ))
}

/// Returns the newest version of any document of the review queue, and their number: another process may add, change and
/// remove documents.
fn newest_of_queue(sessions: &SharedSessions) -> Option<(usize, u64)> {
    let heads = sessions.paths().journal_reader().ok().flatten()?.documents("review/").ok()?;
    Some((heads.len(), heads.iter().map(|head| head.version.0).max().unwrap_or(0)))
}
