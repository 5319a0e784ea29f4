//! Ctrl-C: the first asks everything to stop, the second stops at once.

use std::io;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use wap_core::CancelFlag;

use crate::exit::Exit;
use crate::views::screen;

/// Raises `cancel` on the first SIGINT, SIGTERM or SIGHUP, and ends the process on the second.
///
/// Ending at once loses nothing: whatever was answered is in the journal, and a command that runs dies with us.
pub(crate) fn cancel_on_signals(cancel: &CancelFlag) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let cancel = cancel.clone();
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for _ in signals.forever() {
            if cancel.is_cancelled() {
                screen::restore();
                std::process::exit(Exit::Interrupted as i32);
            }
            cancel.cancel();
        }
    })?;
    Ok(())
}
