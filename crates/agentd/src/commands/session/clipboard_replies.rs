//! A session by the clipboard: each message is put there, and a text there that answers it is its reply.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tag_session::{REPLY_LIMIT_BYTES, StateFolders};
use tagproto::{Clipped, Session};

use crate::exit::{Exit, Failure};
use crate::views::clipboard::DesktopClipboard;

/// The time between two looks at the clipboard: no desktop tells every program about changes.
const INTERVAL: Duration = Duration::from_millis(300);

/// The time after a text that is too long to be a reply: each look reads all of it.
const LONG_INTERVAL: Duration = Duration::from_secs(5);

/// A thread that holds the clipboard of the desktop. It ends with this value.
pub(super) struct ClipboardReplies {
    messages: Option<Sender<Message>>,
    thread: Option<JoinHandle<()>>,
}

/// A pending message, and the channel for whether it is on the clipboard.
struct Message {
    session: Session,
    outbox: String,
    is_put: Sender<bool>,
}

impl ClipboardReplies {
    /// Connects to the clipboard. Replies go to the inbox of this state folder.
    pub(super) fn start(base: &Path) -> Result<ClipboardReplies, Failure> {
        let folders = StateFolders::open(base)
            .map_err(|error| Failure::new(Exit::Failed, format!("the inbox cannot be opened: {error}")))?;
        let clipboard = DesktopClipboard::open().ok_or_else(|| {
            Failure::new(Exit::Missing, "the clipboard of the desktop cannot be reached from here")
                .advise("without --clipboard, replies are saved as files in the inbox; --copy puts messages on a clipboard by other programs, or by the terminal over ssh")
        })?;
        let (messages, received) = channel();
        let thread = std::thread::spawn(move || watch(clipboard, &folders, &received));
        Ok(ClipboardReplies { messages: Some(messages), thread: Some(thread) })
    }

    /// Puts a pending message on the clipboard and begins to look for its reply. Returns false if it could not be put there.
    pub(super) fn put(&self, session: &Session, outbox: String) -> bool {
        let (is_put, put) = channel();
        let message = Message { session: session.clone(), outbox, is_put };
        let sent = self.messages.as_ref().is_some_and(|messages| messages.send(message).is_ok());
        sent && put.recv().unwrap_or(false)
    }
}

impl Drop for ClipboardReplies {
    fn drop(&mut self) {
        self.messages.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Holds each message and looks for its reply, until no more messages come.
///
/// Of all other texts, only the last is kept, in memory, to recognise a change.
fn watch(mut clipboard: DesktopClipboard, folders: &StateFolders, messages: &Receiver<Message>) {
    let mut pending: Option<Session> = None;
    let mut last = clipboard.read().unwrap_or_default();
    let mut interval = INTERVAL;
    loop {
        match messages.recv_timeout(interval) {
            Ok(Message { session, outbox, is_put }) => {
                let _ = is_put.send(clipboard.write(&outbox));
                last = outbox;
                interval = INTERVAL;
                pending = Some(session);
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let Some(session) = &pending else { continue };
        let text = clipboard.read().unwrap_or_default();
        let is_long = text.len() as u64 > REPLY_LIMIT_BYTES;
        interval = if is_long { LONG_INTERVAL } else { INTERVAL };
        if is_long || text == last {
            continue;
        }
        // The message stays pending: after a declined or refused reply, another may be copied. One too many is refused.
        let is_reply = session.clipped(&text) == Clipped::Reply;
        if is_reply && !save(folders, session, &text) {
            continue;
        }
        last = text;
    }
}

/// Saves a reply in the inbox, where it is treated like one that was saved by hand. Returns false if that failed.
fn save(folders: &StateFolders, session: &Session, text: &str) -> bool {
    let name = format!("{}_seq{:04}_clipboard.txt", session.session_id, session.sequence_number);
    // It answers this message, whatever other processes wait for in this inbox.
    let text = match tagproto::ReplyTo::find(text) {
        Some(_) => text.to_owned(),
        None => format!("Reply-To: {}\n{text}", session.reply_to()),
    };
    folders.put_reply(&name, &text).is_ok()
}
