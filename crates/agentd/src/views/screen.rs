//! The terminal while a view fills it: opened once, restored in every case, and lines for it held back meanwhile.

use std::io::{self, IsTerminal, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, EnableBracketedPaste, Event as Input, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};
use review_view::Key;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};

/// The most lines that are held back.
const MOST_HELD: usize = 200;

/// True while a view fills the terminal.
static IS_FILLED: AtomicBool = AtomicBool::new(false);

/// Lines for standard error that came meanwhile.
static HELD: Mutex<Vec<String>> = Mutex::new(Vec::new());

static HOOK: Once = Once::new();

/// The terminal, filled by a view until this is dropped.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

/// The user's input.
pub(crate) enum Typed {
    Key(Key),
    /// The terminal has another size.
    Resized,
    /// Something that no view understands.
    Nothing,
}

/// Checks whether a view can fill the terminal.
pub(crate) fn can_be_filled() -> bool {
    is_at_terminal() && !is_dumb()
}

/// Checks whether the user reads and types at a terminal.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Checks whether the terminal only prints lines.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Discards what was typed and not read yet: it cannot answer what is drawn or asked next.
pub(crate) fn discard_typed() {
    // A terminal that does not allow it has nothing to be discarded.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Keeps a line for later if a view fills the terminal, where it would appear among the cells of the view.
pub(crate) fn hold(line: &str) -> bool {
    if !IS_FILLED.load(Ordering::SeqCst) {
        return false;
    }
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if held.len() < MOST_HELD {
        held.push(line.to_owned());
    }
    true
}

/// Gives the terminal back as it was, if a view fills it, and prints the lines that were held back.
pub(crate) fn restore() {
    if !IS_FILLED.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    // A thread that panicked may hold them; then they are lost.
    if let Ok(mut held) = HELD.try_lock() {
        for line in held.drain(..) {
            let _ = writeln!(io::stderr(), "{line}");
        }
    }
}

impl Screen {
    /// Fills the terminal.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be set; it is as it was then.
    pub(crate) fn open() -> io::Result<Screen> {
        HOOK.call_once(|| {
            let report = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                report(panic);
            }));
        });
        IS_FILLED.store(true, Ordering::SeqCst);
        let opened = enable_raw_mode()
            .map(|()| discard_typed())
            .and_then(|()| execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste))
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match opened {
            Ok(terminal) => Ok(Screen { terminal }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Draws what has changed.
    ///
    /// # Errors
    ///
    /// If the terminal has gone.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        still_filled()?;
        self.terminal.draw(draw).map(|_| ())
    }

    /// Waits for a key; `None` if there is none for this long.
    ///
    /// # Errors
    ///
    /// If the terminal has gone.
    pub(crate) fn typed(&self, longest: Duration) -> io::Result<Option<Typed>> {
        still_filled()?;
        if !has_input()? {
            wait_for_input(longest)?;
            if !has_input()? {
                return Ok(None);
            }
        }
        Ok(Some(match event::read()? {
            Input::Key(key) => understood(key).map_or(Typed::Nothing, Typed::Key),
            Input::Paste(text) => Typed::Key(Key::Paste(text)),
            Input::Resize(..) => Typed::Resized,
            _ => Typed::Nothing,
        }))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Checks whether there is a key, or another size, that was read already or can be read at once.
///
/// The library reads a terminal that has gone without end, so it is not asked about one.
fn has_input() -> io::Result<bool> {
    wait_for_input(Duration::ZERO)?;
    match event::poll(Duration::ZERO) {
        // A signal; its handler has raised a flag.
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        result => result,
    }
}

/// Waits until the terminal has input, for at most this long. A signal ends the wait, including that of a resize.
fn wait_for_input(longest: Duration) -> io::Result<()> {
    let input = io::stdin();
    let mut polled = [PollFd::new(&input, PollFlags::IN)];
    let longest = Timespec::try_from(longest).map_err(io::Error::other)?;
    match poll(&mut polled, Some(&longest)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(errno) => return Err(errno.into()),
    }
    let has_gone = polled[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
    match has_gone {
        true => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal has gone")),
        false => Ok(()),
    }
}

/// Fails after a panic of another thread: the terminal is not the view's any more.
fn still_filled() -> io::Result<()> {
    match IS_FILLED.load(Ordering::SeqCst) {
        true => Ok(()),
        false => Err(io::Error::other("the view has ended")),
    }
}

fn understood(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    let has_alt = key.modifiers.contains(KeyModifiers::ALT);
    Some(match key.code {
        KeyCode::Char('c') if has_control => Key::Interrupt,
        KeyCode::Char('u') if has_control => Key::ClearLine,
        KeyCode::Char('a') if has_control => Key::Home,
        KeyCode::Char('e') if has_control => Key::End,
        KeyCode::Char(_) if has_control || has_alt => return None,
        KeyCode::Char(character) => Key::Character(character),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        _ => return None,
    })
}
