//! The standard error of a program: forwarded to the user's as it arrives, while its end is kept.

use std::io::{self, Read, Write};
use std::process::ChildStderr;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The most bytes of its end to keep.
const KEPT_BYTES: usize = 4096;

/// The most lines to quote, and the most characters.
const QUOTED_LINES: usize = 3;
const QUOTED_CHARACTERS: usize = 400;

/// The standard error of a running program.
pub(crate) struct RelayedErrors {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Closed at the end of the stream.
    end: Receiver<()>,
}

impl RelayedErrors {
    /// Forwards everything from now on, in a separate thread.
    pub(crate) fn start(mut errors: ChildStderr) -> RelayedErrors {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (sender, end) = mpsc::channel();
        let relayed = RelayedErrors { kept: Arc::clone(&kept), end };
        thread::spawn(move || {
            // Dropped with the thread.
            let _sender: mpsc::Sender<()> = sender;
            let mut chunk = [0; 1 << 12];
            let mut ends_line = true;
            loop {
                match errors.read(&mut chunk) {
                    Ok(0) => {
                        // Otherwise the next output would continue its last line.
                        if !ends_line {
                            let _ = io::stderr().write_all(b"\n");
                        }
                        return;
                    }
                    Ok(count) => {
                        ends_line = chunk[count - 1] == b'\n';
                        // If the user's is closed, the program must still not wait for a reader.
                        let _ = io::stderr().write_all(&chunk[..count]);
                        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                        kept.extend_from_slice(&chunk[..count]);
                        let surplus = kept.len().saturating_sub(KEPT_BYTES);
                        kept.drain(..surplus);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        });
        relayed
    }

    /// Waits until all of it was forwarded, for at most `at_most`: a process that was left behind may keep it open.
    pub(crate) fn wait(&self, at_most: Duration) {
        // Nothing is ever sent: the wait ends with the thread, or by the timeout.
        let _ = self.end.recv_timeout(at_most);
    }

    /// Returns the last lines joined into one, without terminal controls; empty if there are none.
    pub(crate) fn last_lines(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        quoted(&String::from_utf8_lossy(&kept))
    }
}

fn quoted(text: &str) -> String {
    // A carriage return restarts a line, as in progress bars.
    let lines: Vec<&str> = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(QUOTED_LINES)..].join(" / ");
    let last: Vec<char> =
        last.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect();
    match last.len().checked_sub(QUOTED_CHARACTERS) {
        None | Some(0) => last.into_iter().collect(),
        Some(surplus) => format!("…{}", last[surplus..].iter().collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_quoted_in_one_of_bounded_length() {
        assert_eq!(quoted(""), "");
        assert_eq!(quoted("one\ntwo\n\nthree\r\nfour \n"), "two / three / four");
        assert_eq!(
            quoted("10 %\r20 %\r\x1b[31mno key\x1b[0m\n"),
            "10 % / 20 % / \u{fffd}[31mno key\u{fffd}[0m"
        );
        let long = quoted(&"x".repeat(10_000));
        assert_eq!((long.chars().count(), long.starts_with('…')), (QUOTED_CHARACTERS + 1, true));
    }
}
