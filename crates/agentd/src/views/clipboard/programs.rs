//! The clipboard through whichever program serves it here.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use workspace_host::OwnPrograms;

/// A program with its arguments.
type Invocation = (&'static str, &'static [&'static str]);

/// The programs that put their standard input on the clipboard. They stay and serve it.
const WRITERS: [Invocation; 4] = [
    ("wl-copy", &[]),
    ("xclip", &["-selection", "clipboard"]),
    ("xsel", &["--clipboard", "--input"]),
    ("pbcopy", &[]),
];

/// The programs that print the text on the clipboard.
const READERS: [Invocation; 4] = [
    ("wl-paste", &["--no-newline", "--type", "text"]),
    ("xclip", &["-selection", "clipboard", "-out"]),
    ("xsel", &["--clipboard", "--output"]),
    ("pbpaste", &[]),
];

/// Returns the names of the programs that are installed.
pub(crate) fn installed(programs: &OwnPrograms) -> impl Iterator<Item = &'static str> {
    WRITERS.into_iter().map(|(name, _)| name).filter(|name| programs.find(name).is_some())
}

/// Puts a text on the clipboard. Returns the program that did it; `None` if none could.
///
/// A program that is installed may still have no display to serve, so each is tried.
pub(super) fn copy(programs: &OwnPrograms, text: &str) -> Option<&'static str> {
    let works = |(name, arguments): &Invocation| {
        programs.find(name).is_some_and(|program| feed(&program, arguments, text))
    };
    WRITERS.into_iter().find(works).map(|(name, _)| name)
}

/// Reads the text on the clipboard; `None` if no program could, or if it has more bytes than allowed.
pub(super) fn paste(programs: &OwnPrograms, most_bytes: u64) -> Option<String> {
    READERS
        .into_iter()
        .filter_map(|(name, arguments)| Some((programs.find(name)?, arguments)))
        .find_map(|(program, arguments)| drain(&program, arguments, most_bytes))
}

fn feed(program: &Path, arguments: &[&str], text: &str) -> bool {
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

fn drain(program: &Path, arguments: &[&str], most_bytes: u64) -> Option<String> {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.ok()?;
    let mut bytes = Vec::new();
    let read = child.stdout.take().map(|output| output.take(most_bytes + 1).read_to_end(&mut bytes));
    // The pipe is closed by now, which ends a program that has more to print.
    let is_complete = child.wait().is_ok_and(|status| status.success());
    let is_read = read.is_some_and(|read| read.is_ok()) && bytes.len() as u64 <= most_bytes;
    (is_read && is_complete).then(|| String::from_utf8(bytes).ok()).flatten()
}
