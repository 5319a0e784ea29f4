//! Forwards the progress of the calls that the owner carries out for a client.

use secret_placeholders::KeyTracker;
use serde::Serialize;
use tagproto::{CommandResult, ExecutionObserver, Item};
use wap_core::{CommandObserver, FileChanged, OutputStream};

use crate::json_rpc;
use crate::owner::connection::Client;
use crate::owner::protocol::{
    BLOCK_FINISHED, BLOCK_STARTED, BlockFinished, BlockStarted, PRINTED, Printed, STARTED, Started,
};

/// The maximum number of bytes of a piece of output that are sent to a watching client.
const MOST_SHOWN_BYTES: usize = 2_000;

/// The maximum number of bytes of a line that are held until it ends; a longer one is not shown.
pub(super) const MOST_HELD_BYTES: usize = 64 * 1_024;

/// Forwards the output of a command. The owner's commands must not wait for a slow client: output that would reach a
/// client late is dropped.
pub(super) struct Forward<'a> {
    client: &'a Client,
    id: u64,
    streams: [HeldLines; 2],
}

/// The lines of a stream on their way to a client.
#[derive(Default)]
struct HeldLines {
    /// The line that has not ended yet.
    held: Vec<u8>,
    /// True for a line that is too long to hold: the rest of it is not shown either.
    skips: bool,
    /// The lines so far, shown or not.
    keys: KeyTracker,
    /// True if lines were dropped since the last ones sent to the client.
    has_gap: bool,
}

impl<'a> Forward<'a> {
    pub(super) fn new(client: &'a Client, id: u64) -> Forward<'a> {
        Forward { client, id, streams: Default::default() }
    }

    fn send<T: Serialize>(&self, method: &str, params: &T) -> bool {
        self.client.outgoing.try_send(json_rpc::message(None, method, params))
    }
}

impl CommandObserver for Forward<'_> {
    fn started(&mut self, sandbox: &str) {
        self.send(STARTED, &Started { id: self.id, sandbox: sandbox.to_owned() });
    }

    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let is_error = stream == OutputStream::Stderr;
        if let Some(text) = self.streams[usize::from(is_error)].push(bytes) {
            let is_sent = self.send(PRINTED, &Printed { id: self.id, is_error, text });
            self.streams[usize::from(is_error)].has_gap = !is_sent;
        }
    }
}

impl HeldLines {
    /// Takes the next bytes and returns the text for the client; `None` if there is none yet.
    fn push(&mut self, mut bytes: &[u8]) -> Option<String> {
        if self.skips {
            let at = memchr::memchr(b'\n', bytes)?;
            bytes = &bytes[at + 1..];
            self.skips = false;
        }
        self.held.extend_from_slice(bytes);
        // Whole lines: text dropped between two pieces must not cut a secret, of which the client would not have the
        // rest.
        let Some(end) = memchr::memrchr(b'\n', &self.held).map(|at| at + 1) else {
            if self.held.len() > MOST_HELD_BYTES {
                self.held.clear();
                (self.skips, self.has_gap) = (true, true);
            }
            return None;
        };
        let lines: Vec<u8> = self.held.drain(..end).collect();
        // Only the end is useful to a person who watches.
        let from = lines.len().saturating_sub(MOST_SHOWN_BYTES);
        let from =
            if from == 0 { 0 } else { memchr::memchr(b'\n', &lines[from - 1..]).map_or(end, |at| from + at) };
        self.has_gap |= from > 0;
        self.keys.push(&String::from_utf8_lossy(&lines[..from]));
        let text = String::from_utf8_lossy(&lines[from..]);
        // So that the client recognises the lines of a key whose first line it did not receive.
        let first = if self.has_gap { self.keys.first_line() } else { "" };
        self.keys.push(&text);
        (!text.is_empty()).then(|| format!("{first}{text}"))
    }
}

impl ExecutionObserver for Forward<'_> {
    fn block_started(&mut self, index: usize, _: &Item<'_>) {
        self.send(BLOCK_STARTED, &BlockStarted { id: self.id, index });
    }

    fn command_started(&mut self, sandbox: &str) {
        CommandObserver::started(self, sandbox);
    }

    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        CommandObserver::output(self, stream, bytes);
    }

    fn block_finished(
        &mut self,
        index: usize,
        _: &Item<'_>,
        result: &CommandResult,
        changed: Option<&FileChanged>,
    ) {
        let (result, changed) = (result.clone(), changed.cloned());
        self.send(BLOCK_FINISHED, &BlockFinished { id: self.id, index, result, changed });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use secret_placeholders::{MemoryStore, Secrets, StreamMask};

    use super::HeldLines;

    /// Returns the text that a client prints for output in pieces, of which it receives those for which `got` returns
    /// true.
    fn printed(pieces: &[&str], got: impl Fn(usize) -> bool) -> String {
        let secrets = Arc::new(Secrets::open(MemoryStore::default()).unwrap());
        let (mut lines, mut mask) = (HeldLines::default(), StreamMask::new(&secrets));
        let mut text = String::new();
        for (index, piece) in pieces.iter().enumerate() {
            if let Some(piece) = lines.push(piece.as_bytes()) {
                lines.has_gap = !got(index);
                if got(index) {
                    text += &mask.push(piece.as_bytes());
                }
            }
        }
        text + &mask.finish()
    }

    #[test]
    fn no_line_of_a_key_is_shown_of_which_the_first_is_left_out() {
        let boundary = format!("-----BEGIN {}{}-----\n", "PRIVATE ", "KEY");
        let body: String = (0..60).map(|line| format!("{line:02}{}\n", "Ab3/".repeat(15))).collect();
        let half = body.len() / 2;
        let long = "x".repeat(super::MOST_HELD_BYTES + 1) + "\n";
        // The last piece ends the key, with no last line of one.
        let cases: [&[&str]; 4] = [
            &[&format!("{boundary}{body}and more\n")],
            &["a\n", &boundary, &body[..half], &body[half..], "and more\n"],
            &[&boundary, &long, &body, "and more\n"],
            &[&boundary, &body[..half], &format!("{}and more\n", &body[half..]), "and more\n"],
        ];
        for (case, pieces) in cases.into_iter().enumerate() {
            for lost in 0..=pieces.len() {
                let text = printed(pieces, |index| index != lost);
                assert!(!text.contains("Ab3/"), "{case}, {lost}: {text}");
                assert!(text.contains("and more\n") || lost < pieces.len(), "{case}, {lost}: {text}");
            }
        }
        // The control: lines that belong to no key are shown as they are, before and after a gap.
        let plain = format!("{body}and more\n");
        let text = printed(&["a\n", &plain, "b\n"], |index| index != 1);
        assert_eq!(text, "a\nb\n");
        assert!(printed(&[&plain], |_| true).contains("59Ab3/"));
    }
}
