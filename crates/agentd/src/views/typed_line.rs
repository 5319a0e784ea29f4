//! Lines that the user types at the terminal, asked for one at a time.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use wap_core::CancelFlag;

/// A line; `None` for the end of the input, and for a flag that was raised.
type Typed = Option<String>;

/// The channel of the one thread that reads the terminal: a thread that waits for a line cannot be stopped, so that the next
/// question has to listen to the same one.
static LINES: OnceLock<(Sender<Typed>, Mutex<Receiver<Typed>>)> = OnceLock::new();

/// Asks the user for one line, without its end; `None` if there is none, or if the flag is raised.
///
/// Standard input must be a terminal.
pub(crate) fn typed_line(question: &str, cancel: &CancelFlag) -> Option<String> {
    let (sender, lines) = LINES.get_or_init(|| {
        let (sender, lines) = channel();
        let typed = sender.clone();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                if typed.send(line.ok()).is_err() {
                    return;
                }
            }
            let _ = typed.send(None);
        });
        (sender, Mutex::new(lines))
    });
    let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let mut error = std::io::stderr().lock();
        let _ = write!(error, "{question}");
        let _ = error.flush();
    }
    let woken = sender.clone();
    let _guard = cancel.on_cancel(Box::new(move || {
        let _ = woken.send(None);
    }));
    lines.recv().ok().flatten()
}
