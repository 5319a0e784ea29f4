//! The pending message of a session: where it is, and how it gets to the clipboard.

use tagproto::Session;
use workspace_host::SharedSessions;

use crate::commands::session::clipboard_replies::ClipboardReplies;
use crate::common_options::CommonOptions;
use crate::exit::Failure;
use crate::views::clipboard::{self, NO_CLIPBOARD};
use crate::views::console::Console;

/// Says where the pending message is, and where its reply goes: this process waits for it.
pub(super) fn announce(console: Console, sessions: &SharedSessions, session: &Session) {
    announce_message(console, sessions, session);
    console.progress("save the reply as a .txt file in:");
    console.progress(&format!("  {}", sessions.folders().inbox_path().display()));
}

/// Says where the pending message is, and how its reply is executed, where no process waits for it in the inbox.
pub(super) fn announce_one_step(console: Console, sessions: &SharedSessions, session: &Session) {
    announce_message(console, sessions, session);
    console.progress("save the reply as a file, and execute it:");
    console.progress("  agentd apply FILE");
    console.progress("or start `agentd`, which waits for replies in the inbox");
}

fn announce_message(console: Console, sessions: &SharedSessions, session: &Session) {
    let number = session.sequence_number;
    let parts = parts(sessions, session);
    if parts.is_empty() {
        console.progress(&format!("message {number} to copy into the chat:"));
        console.progress(&format!("  {}", outbox_path(sessions, session)));
    } else {
        console.progress(&format!("message {number} to copy into the chat, in {} parts:", parts.len()));
        parts.iter().for_each(|part| console.progress(&format!("  {part}")));
    }
}

/// Returns the files of the parts of the pending message; none if it fits into one paste.
pub(super) fn parts(sessions: &SharedSessions, session: &Session) -> Vec<String> {
    let text = session.paste_characters.and_then(|_| sessions.outbox(session).ok().flatten());
    let parts = text.map(|text| session.outbox_parts(&text)).unwrap_or_default();
    let path = |(name, _): (String, String)| sessions.folders().outbox_path(&name).display().to_string();
    parts.into_iter().map(path).collect()
}

/// Puts the pending message on the clipboard, or the first part of it, or says that it cannot be.
pub(super) fn copy(
    common: &CommonOptions,
    console: Console,
    sessions: &SharedSessions,
    session: &Session,
) -> Result<(), Failure> {
    let text = sessions.outbox(session)?.unwrap_or_default();
    let number = session.sequence_number;
    let (what, text) = match session.outbox_parts(&text).into_iter().next() {
        Some((_, part)) => (format!("the first part of message {number}"), part),
        None => (format!("message {number}"), text),
    };
    match clipboard::copy(&common.own_programs(), &text) {
        Some(program) => console.progress(&format!("{what} is on the clipboard ({program})")),
        None => {
            console.notice(&format!("the clipboard cannot be used: {NO_CLIPBOARD}; copy the file instead"));
        }
    }
    Ok(())
}

/// Puts the pending message on the clipboard that is watched for its reply, or says where it is.
pub(super) fn put_on(
    clipboard: &ClipboardReplies,
    console: Console,
    sessions: &SharedSessions,
    session: &Session,
) {
    let outbox = sessions.outbox(session).ok().flatten().unwrap_or_default();
    let number = session.sequence_number;
    if clipboard.put(session, outbox) {
        console.progress(&format!(
            "message {number} is on the clipboard: paste it into the chat, then copy the reply"
        ));
    } else {
        console.notice(&format!("message {number} cannot be put on the clipboard"));
        announce(console, sessions, session);
    }
}

/// Returns the path of the file that holds the pending message.
pub(super) fn outbox_path(sessions: &SharedSessions, session: &Session) -> String {
    sessions.folders().outbox_path(&session.outbox_file_name()).display().to_string()
}
