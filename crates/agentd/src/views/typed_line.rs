//! Lines that the user types at the terminal, asked for one at a time.

use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

use wap_core::CancelFlag;

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
    let mut reader =
        READER.get_or_init(|| Mutex::new(Reader::start())).lock().unwrap_or_else(PoisonError::into_inner);
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
}
