//! Forwards the progress of the calls that the owner carries out for a client.

use serde::Serialize;
use tagproto::{CommandResult, ExecutionObserver, Item};
use wap_core::{CommandObserver, FileChanged, OutputStream};

use crate::json_rpc;
use crate::owner::connection::Client;
use crate::owner::protocol::{
    BLOCK_FINISHED, BLOCK_STARTED, BlockFinished, BlockStarted, PRINTED, Printed, STARTED, Started,
};

/// The most bytes of a piece of output that are sent to a watching client.
const MOST_SHOWN_BYTES: usize = 2_000;

/// The most bytes of a line that are held until it ends; a longer one is not shown.
pub(super) const MOST_HELD_BYTES: usize = 64 * 1_024;

/// Forwards the output of a command. The owner's commands must not wait for a slow client: output that a client would
/// get late is left out.
pub(super) struct Forward<'a> {
    client: &'a Client,
    id: u64,
    /// The lines of both streams that have not ended yet.
    held: [Vec<u8>; 2],
    /// True for a stream whose line is too long to be held: the rest of it is not shown either.
    skips: [bool; 2],
}

impl<'a> Forward<'a> {
    pub(super) fn new(client: &'a Client, id: u64) -> Forward<'a> {
        Forward { client, id, held: Default::default(), skips: [false; 2] }
    }

    fn send<T: Serialize>(&self, method: &str, params: &T) {
        self.client.outgoing.send_unless_behind(json_rpc::message(None, method, params));
    }
}

impl CommandObserver for Forward<'_> {
    fn started(&mut self, sandbox: &str) {
        self.send(STARTED, &Started { id: self.id, sandbox: sandbox.to_owned() });
    }

    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let is_error = stream == OutputStream::Stderr;
        let held = &mut self.held[usize::from(is_error)];
        let skips = &mut self.skips[usize::from(is_error)];
        let mut bytes = bytes;
        if *skips {
            let Some(at) = memchr::memchr(b'\n', bytes) else { return };
            bytes = &bytes[at + 1..];
            *skips = false;
        }
        held.extend_from_slice(bytes);
        // Whole lines: what is left out between two pieces must not cut a secret, of which the client would not know the
        // rest.
        let Some(end) = memchr::memrchr(b'\n', held).map(|at| at + 1) else {
            if held.len() > MOST_HELD_BYTES {
                held.clear();
                *skips = true;
            }
            return;
        };
        let lines: Vec<u8> = held.drain(..end).collect();
        // Only the end is of use to a person who watches.
        let from = lines.len().saturating_sub(MOST_SHOWN_BYTES);
        let from =
            if from == 0 { 0 } else { memchr::memchr(b'\n', &lines[from - 1..]).map_or(end, |at| from + at) };
        let text = String::from_utf8_lossy(&lines[from..]).into_owned();
        if !text.is_empty() {
            self.send(PRINTED, &Printed { id: self.id, is_error, text });
        }
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
