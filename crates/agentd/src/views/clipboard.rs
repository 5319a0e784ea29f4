//! The clipboard, through whichever program serves it here.

use std::io::Write;
use std::process::{Command, Stdio};

/// The programs that put their standard input on the clipboard, with their arguments.
const PROGRAMS: [(&str, &[&str]); 4] = [
    ("wl-copy", &[]),
    ("xclip", &["-selection", "clipboard"]),
    ("xsel", &["--clipboard", "--input"]),
    ("pbcopy", &[]),
];

/// Returns the names of the programs that are installed.
pub(crate) fn installed() -> impl Iterator<Item = &'static str> {
    PROGRAMS.into_iter().map(|(name, _)| name).filter(|name| is_on_path(name))
}

/// Puts a text on the clipboard. Returns the program that did it; `None` if none could.
///
/// A program that is installed may still have no display to serve, so each is tried.
pub(crate) fn copy(text: &str) -> Option<&'static str> {
    PROGRAMS
        .into_iter()
        .find(|(name, arguments)| is_on_path(name) && feed(name, arguments, text))
        .map(|(name, _)| name)
}

fn feed(program: &str, arguments: &[&str], text: &str) -> bool {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        // Some stay in the background to serve the text, and must not hold our output open.
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return false };
    let written = child.stdin.take().is_some_and(|mut input| input.write_all(text.as_bytes()).is_ok());
    child.wait().is_ok_and(|status| status.success()) && written
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
