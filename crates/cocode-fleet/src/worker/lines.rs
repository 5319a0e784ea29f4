//! A bounded queue of log lines for home.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::context::WorkerContext;
use crate::contract::EventSink;
use crate::names::TaskName;
use crate::task::{EVENT_LIMIT_BYTES, EventKind};

/// The maximum number of lines waiting to be sent.
const WAITING_LINES: usize = 1024;
/// The maximum number of bytes sent per line.
const LINE_BYTES: usize = 8 << 10;
/// The pause between two messages, in which lines gather.
const GATHERING: Duration = Duration::from_millis(25);

/// A line, with the number of lines before it that were dropped.
type Line = (String, u64);

/// The end at the agent. It never blocks.
pub(super) struct LineSink {
    sender: mpsc::Sender<Line>,
    left_out: Arc<AtomicU64>,
}

/// The end at the server.
pub(super) struct LineSource {
    receiver: mpsc::Receiver<Line>,
    /// The number of lines dropped since the last one sent.
    left_out: Arc<AtomicU64>,
}

impl EventSink for LineSink {
    fn log_line(&mut self, line: &str) {
        let line = crate::text::cut(line.trim_end_matches(['\n', '\r']), LINE_BYTES);
        match self.sender.try_reserve() {
            Ok(room) => room.send((line, self.left_out.swap(0, Ordering::Relaxed))),
            Err(_) => drop(self.left_out.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

/// Returns a sink, and the lines that come through it.
pub(super) fn lines() -> (LineSink, LineSource) {
    let (sender, receiver) = mpsc::channel(WAITING_LINES);
    let left_out = Arc::new(AtomicU64::new(0));
    (LineSink { sender, left_out: Arc::clone(&left_out) }, LineSource { receiver, left_out })
}

/// Sends lines until the sink is dropped and everything is sent, and finally the number of lines dropped after the last
/// one.
pub(super) async fn send(context: &WorkerContext, task: &TaskName, epoch: u64, mut source: LineSource) {
    let mut waiting = Vec::new();
    while source.receiver.recv_many(&mut waiting, WAITING_LINES).await > 0 {
        let (mut lines, mut left_out, mut bytes) = (Vec::new(), 0, 0);
        for (line, left_out_before) in waiting.drain(..) {
            let length = written_bytes(&line);
            if bytes + length > EVENT_LIMIT_BYTES / 2 || (left_out_before > 0 && !lines.is_empty()) {
                let full = EventKind::Lines { lines: std::mem::take(&mut lines), left_out };
                context.send_event(task, epoch, full).await;
                (left_out, bytes) = (0, 0);
            }
            left_out += left_out_before;
            bytes += length;
            lines.push(line);
        }
        if !lines.is_empty() {
            context.send_event(task, epoch, EventKind::Lines { lines, left_out }).await;
        }
        sleep(GATHERING).await;
    }
    let left_out = source.left_out.load(Ordering::Relaxed);
    if left_out > 0 {
        context.send_event(task, epoch, EventKind::Lines { lines: Vec::new(), left_out }).await;
    }
}

/// Returns the bytes of a line in a message: in quotes, with its escapes and a comma. A control character takes six of them.
fn written_bytes(line: &str) -> usize {
    let written = |one: char| match one {
        '"' | '\\' => 2,
        _ if one.is_ascii_control() => 6,
        _ => one.len_utf8(),
    };
    line.chars().map(written).sum::<usize>() + 3
}
