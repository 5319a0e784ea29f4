//! Log lines on their way to home, within bounds.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::context::WorkerContext;
use crate::contract::EventSink;
use crate::names::TaskName;
use crate::task::{EVENT_LIMIT_BYTES, EventKind};

/// Lines that wait to be sent.
const WAITING_LINES: usize = 1024;
/// The bytes of a line that are sent.
const LINE_BYTES: usize = 8 << 10;
/// The pause between two messages, in which lines gather.
const GATHERING: Duration = Duration::from_millis(25);

/// A line, with the number of lines before it that were left out.
type Line = (String, u64);

/// The end at the agent. It never blocks.
pub(super) struct LineSink {
    sender: mpsc::Sender<Line>,
    left_out: u64,
}

impl EventSink for LineSink {
    fn log_line(&mut self, line: &str) {
        let line = crate::text::cut(line.trim_end_matches(['\n', '\r']), LINE_BYTES);
        match self.sender.try_send((line, self.left_out)) {
            Ok(()) => self.left_out = 0,
            Err(_) => self.left_out += 1,
        }
    }
}

/// Returns a sink, and the lines that come through it.
pub(super) fn lines() -> (LineSink, mpsc::Receiver<Line>) {
    let (sender, receiver) = mpsc::channel(WAITING_LINES);
    (LineSink { sender, left_out: 0 }, receiver)
}

/// Sends lines until the sink is dropped and everything is sent.
pub(super) async fn send(
    context: &WorkerContext,
    task: &TaskName,
    epoch: u64,
    mut receiver: mpsc::Receiver<Line>,
) {
    let mut waiting = Vec::new();
    while receiver.recv_many(&mut waiting, WAITING_LINES).await > 0 {
        let (mut lines, mut left_out, mut bytes) = (Vec::new(), 0, 0);
        for (line, left_out_before) in waiting.drain(..) {
            // Escaping may make a byte six; such lines only make the messages smaller.
            let length = line.len() + 8;
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
}
