//! Lines that the user types at the terminal, asked for one at a time.

use std::io::{IsTerminal, Stdin, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wap_core::CancelFlag;

use crate::views::screen::discard_typed;

/// An event while a question waits.
enum Arrival {
    /// A line; `None` for the end of the input.
    Line(Option<String>),
    /// A flag was raised.
    Cancelled,
}

/// The one thread that reads the terminal: a thread that waits for a line cannot be stopped, so that the next question has to
/// listen to the same one. It reads only when it is requested to: between two questions, a view may read the keys.
struct Reader {
    requests: Sender<()>,
    arrivals: Receiver<Arrival>,
    arrived: Sender<Arrival>,
    /// True while the thread waits for a line, because an earlier question was cancelled.
    is_reading: bool,
}

static READER: OnceLock<Mutex<Reader>> = OnceLock::new();

/// Asks the user for one line, without its end; `None` if there is none, or if the flag is raised.
pub(crate) fn typed_line(question: &str, cancel: &CancelFlag) -> Option<String> {
    line_for(&mut reader(), question, cancel)
}

/// Asks the user for a decision, as [`typed_line`] does. What was typed before the question is discarded: it cannot answer a text
/// that was not on the screen yet.
pub(crate) fn typed_decision(question: &str, cancel: &CancelFlag) -> Option<String> {
    let mut reader = reader();
    // The end of the input is an answer to every question.
    if reader.discard_earlier().is_break() { None } else { line_for(&mut reader, question, cancel) }
}

fn reader() -> MutexGuard<'static, Reader> {
    READER.get_or_init(|| Mutex::new(Reader::start())).lock().unwrap_or_else(PoisonError::into_inner)
}

fn line_for(reader: &mut Reader, question: &str, cancel: &CancelFlag) -> Option<String> {
    {
        let mut error = std::io::stderr().lock();
        let _ = write!(error, "{question}");
        let _ = error.flush();
    }
    let woken = reader.arrived.clone();
    let _guard = cancel.on_cancel(Box::new(move || {
        let _ = woken.send(Arrival::Cancelled);
    }));
    if !reader.is_reading {
        reader.is_reading = reader.requests.send(()).is_ok();
    }
    match reader.arrivals.recv() {
        Ok(Arrival::Line(line)) => {
            reader.is_reading = false;
            line
        }
        Ok(Arrival::Cancelled) | Err(_) => None,
    }
}

impl Reader {
    fn start() -> Reader {
        let (requests, requested) = channel();
        let (arrived, arrivals) = channel();
        let sender = arrived.clone();
        std::thread::spawn(move || {
            let mut lines = std::io::stdin().lines();
            while let Ok(()) = requested.recv() {
                let line = lines.next().and_then(Result::ok);
                if sender.send(Arrival::Line(line)).is_err() {
                    return;
                }
            }
        });
        Reader { requests, arrivals, arrived, is_reading: false }
    }

    /// Discards what the terminal holds, and lines for questions that were cancelled; breaks at the end of the input. What comes by
    /// a pipe is kept.
    fn discard_earlier(&mut self) -> ControlFlow<()> {
        let input = std::io::stdin();
        if !input.is_terminal() {
            return ControlFlow::Continue(());
        }
        while let Ok(arrival) = self.arrivals.try_recv() {
            match arrival {
                Arrival::Line(None) => return ControlFlow::Break(()),
                Arrival::Line(Some(_)) => self.is_reading = false,
                Arrival::Cancelled => {}
            }
        }
        // Whole lines are read, so that an end among them is noticed, unless the thread reads them.
        while !self.is_reading && is_readable(&input) {
            if !matches!(rustix::io::read(&input, &mut [0; 4096]), Ok(1..)) {
                return ControlFlow::Break(());
            }
        }
        discard_typed();
        ControlFlow::Continue(())
    }
}

/// Checks whether a read would not wait.
fn is_readable(input: &Stdin) -> bool {
    let mut polled = [PollFd::new(input, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}
