//! The clipboard of the terminal: the control sequence OSC 52, which reaches the user's own machine over ssh.

use std::io::{IsTerminal, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The most bytes of a text: terminals ignore longer sequences, xterm those of more than about 100,000 characters.
const MOST_BYTES: usize = 74_994;

/// Asks the terminal to put a text on its clipboard. Returns false where that cannot work: standard error is not a terminal, the
/// terminal is not reached by ssh, or the text is too long.
pub(super) fn copy(text: &str) -> bool {
    let is_remote = ["SSH_TTY", "SSH_CONNECTION"].iter().any(|name| std::env::var_os(name).is_some());
    let mut error = std::io::stderr().lock();
    if !is_remote || !error.is_terminal() || text.len() > MOST_BYTES {
        return false;
    }
    error.write_all(sequence(text).as_bytes()).and_then(|()| error.flush()).is_ok()
}

/// Returns the control sequence that puts a text on the clipboard of a terminal.
fn sequence(text: &str) -> String {
    format!("\x1b]52;c;{}\x07", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_the_sequence() {
        // "\x07" would end it, and what follows would reach the terminal.
        assert_eq!(sequence("a\x07\x1b[2J"), "\x1b]52;c;YQcbWzJK\x07");
    }
}
