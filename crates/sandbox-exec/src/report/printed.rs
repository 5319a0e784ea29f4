//! Refusals that only the failed program has seen: the kernel answered its call with an error, and the program printed it.
//!
//! Output is free text. A line counts only in the form in which programs report such an error, and a path only where this
//! command was kept from it. The output can at most add a receipt to a failed command; it allows or refuses nothing.

use std::path::Path;

use crate::report::denial::Denied;
use crate::report::file_view::FileView;

/// The most bytes at the end of each stream that are searched.
const LOOKED_AT_BYTES: usize = 64 << 10;

/// The longest line that is parsed. Programs report an error in fewer bytes.
const LONGEST_LINE_BYTES: usize = 1000;

/// The error of a change in a read-only mount, in lower case, as programs print it.
const READ_ONLY: [&str; 3] = ["read-only file system", "erofs", "readonlyfilesystem"];

/// The error of a missing folder, as printed by programs that create a file.
const CANNOT_CREATE: [&str; 4] = ["cannot create", "cannot touch", "can't create", "cannot move"];

const NO_FOLDER: [&str; 2] = ["directory nonexistent", "no such file or directory"];

/// The error of a mount point, which can be neither renamed nor removed.
const BUSY: [&str; 2] = ["device or resource busy", "ebusy"];

/// The error of a file that may not be opened.
const CLOSED: [&str; 2] = ["permission denied", "eacces"];

/// The refusal, its reason, and what to do instead.
type Says = (&'static str, &'static str, &'static str);

/// A line by which a program reports missing keys, a missing agent or service of the host, or a limitation of an overlay.
struct Symptom {
    /// The beginnings of the line, in lower case.
    starts: &'static [&'static str],
    /// A part of the line, in lower case.
    part: &'static str,
    says: Says,
}

const SIGNING: Says = (
    "sign a commit",
    "signing keys and their agents are not visible to commands",
    "commit without -S, and sign outside: git commit --amend -S --no-edit",
);

const LOGGING_IN: Says = (
    "log in by ssh",
    "keys, known hosts and ssh-agents of yours are not visible to commands",
    "push or connect outside of the sandbox",
);

const AGENT: Says = (
    "use your ssh-agent",
    "sockets of the host are not visible to commands",
    "use keys outside of the sandbox, or start an agent in the same command",
);

const LINKING: Says = (
    "clone by hard links",
    "on an overlay that an ordinary user mounts, a hard link has another inode number than its file, which git compares",
    "clone with --no-hardlinks",
);

const fn symptom(starts: &'static [&'static str], part: &'static str, says: Says) -> Symptom {
    Symptom { starts, part, says }
}

const SYMPTOMS: &[Symptom] = &[
    symptom(&["error: gpg failed to sign"], "", SIGNING),
    symptom(&["gpg: signing failed", "gpg: no default secret key"], "", SIGNING),
    symptom(&["error: cannot run gpg"], "", SIGNING),
    symptom(
        &["error: user.signingkey needs to be set", "fatal: user.signingkey needs to be set"],
        "",
        SIGNING,
    ),
    symptom(&["error: couldn't load public key", "error: couldn't get agent socket"], "", SIGNING),
    symptom(&["error: load key", "load key \"", "couldn't load public key"], "", SIGNING),
    symptom(&["fatal: either user.signingkey or gpg.ssh.defaultkeycommand"], "", SIGNING),
    symptom(&["error: gpgsm failed", "gpgsm: "], "sign", SIGNING),
    symptom(&["ssh: could not resolve hostname", "ssh: connect to host"], "", LOGGING_IN),
    symptom(&["host key verification failed"], "", LOGGING_IN),
    symptom(&["could not open a connection to your authentication agent"], "", AGENT),
    symptom(&["error connecting to agent"], "", AGENT),
    symptom(&["fatal: hardlink different from source at "], "", LINKING),
];

/// Returns the refusals reported at the ends of these streams, each once.
pub(crate) fn refusals(streams: [&str; 2], view: &FileView) -> Vec<Denied> {
    let mut refusals: Vec<Denied> = Vec::new();
    for text in streams {
        let lines: Vec<&str> = end_of(text).lines().filter(|line| line.len() <= LONGEST_LINE_BYTES).collect();
        for (index, line) in lines.iter().enumerate() {
            let earlier = &lines[index.saturating_sub(3)..index];
            let denied = refused_file(line, earlier, view).or_else(|| symptom_of(line));
            refusals.extend(denied.filter(|denied| !refusals.contains(denied)));
        }
    }
    refusals
}

fn end_of(text: &str) -> &str {
    let mut start = text.len().saturating_sub(LOOKED_AT_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

fn symptom_of(line: &str) -> Option<Denied> {
    let line = line.trim_start().to_lowercase();
    let fits = |symptom: &&Symptom| {
        symptom.starts.iter().any(|start| line.starts_with(start)) && line.contains(symptom.part)
    };
    // Preceded by the user and the host.
    let is_login = line
        .split_once(": permission denied (publickey")
        .is_some_and(|(who, _)| who.contains('@') && !who.contains(char::is_whitespace));
    let symptom = SYMPTOMS.iter().find(fits).map(|symptom| symptom.says);
    let (what, why, instead) = symptom.or(is_login.then_some(LOGGING_IN))?;
    Some(Denied::new(what.into(), why.into(), Some(instead.into()), 1))
}

/// Parses a line about a file that could not be changed, made or opened.
fn refused_file(line: &str, earlier: &[&str], view: &FileView) -> Option<Denied> {
    let lower = line.to_lowercase();
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    let change = |path: &str| view.refused_change(Path::new(path));
    if has(&READ_ONLY) {
        // Some programs name the file on a separate line, before the error.
        let lines = std::iter::once(&line).chain(earlier.iter().rev());
        return lines.flat_map(|line| paths(line)).find_map(change).or_else(|| view.refused_in_mount());
    }
    if has(&CANNOT_CREATE) && has(&NO_FOLDER) {
        return paths(line).into_iter().filter(|path| path.starts_with(['/', '.'])).find_map(change);
    }
    if has(&BUSY) {
        return paths(line).into_iter().find_map(|path| view.refused_removal(Path::new(path)));
    }
    if has(&CLOSED) && has(&CANNOT_CREATE) {
        return paths(line).into_iter().filter(|path| path.starts_with("/etc/")).find_map(change);
    }
    if has(&CLOSED) {
        return paths(line).into_iter().find_map(|path| view.refused_reading(Path::new(path)));
    }
    None
}

/// Returns possible paths in a line: first quoted text, then words with a slash. The first word of the line comes last,
/// because it usually names the program that reports the error.
fn paths(line: &str) -> Vec<&str> {
    const QUOTES: [char; 5] = ['\'', '"', '`', '‘', '’'];
    let is_path = |text: &&str| text.len() > 1 && !text.contains("://");
    let quoted = line.split(QUOTES).skip(1).step_by(2);
    let words = line.split(|character: char| character.is_whitespace() || QUOTES.contains(&character));
    let words = words.filter(|word| word.contains('/')).filter(is_path);
    let (first, later): (Vec<&str>, Vec<&str>) = words.partition(|word| line.starts_with(word));
    let words = later.into_iter().chain(first);
    let words = words.map(|word| word.trim_matches([':', ',', ';', '(', ')', '[', ']']));
    quoted.filter(is_path).chain(words).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn lines(text: &str) -> String {
        let view = FileView {
            workspace: "/w".into(),
            working_directory: "/w".into(),
            writable: ["/w", "/tmp"].map(PathBuf::from).into(),
            hidden: vec!["/w/.agentd".into()],
            ..FileView::default()
        };
        let refusals = refusals([text, ""], &view);
        refusals
            .iter()
            .map(|denied| format!("{} · {}", denied.what, denied.why))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn a_file_is_found_in_the_words_of_each_program() {
        for text in [
            "sh: 1: cannot create /etc/x: Read-only file system",
            "bash: line 1: /etc/x: Read-only file system",
            "touch: cannot touch '/etc/x': Read-only file system",
            "OSError: [Errno 30] Read-only file system: '/etc/x'",
            "Error: EROFS: read-only file system, open '/etc/x'",
            "open /etc/x: read-only file system",
            "java.io.FileNotFoundException: /etc/x (Read-only file system)",
            "Read-only file system @ rb_sysopen - /etc/x (Errno::EROFS)",
            "error: failed to create directory `/etc/x`\n\nCaused by:\n  Read-only file system (os error 30)",
            "cp: cannot create regular file ‘/etc/x’: Read-only file system",
            "/usr/bin/ld: cannot open output file /etc/x: Read-only file system",
            "/etc/x: Read-only file system at -e line 1.",
            "sh: 1: cannot create /etc/x: Permission denied",
        ] {
            assert_eq!(lines(text), "write /etc/x · outside the workspace", "{text}");
        }
        assert_eq!(
            lines("mkdir: cannot create directory '.agentd/x': Read-only file system"),
            "write .agentd/x · closed to commands"
        );
        assert_eq!(
            lines("sh: 1: cannot create /other/x: Directory nonexistent"),
            "write /other/x · outside the workspace"
        );
    }

    #[test]
    fn what_is_not_such_an_error_says_nothing() {
        for text in [
            "Read-only file system",
            "the file system is read-only",
            "sh: 1: cannot create /w/x: Read-only file system",
            "sh: 1: cannot create missing/x: Directory nonexistent",
            "cat: /other/x: No such file or directory",
            "cat: secret: Permission denied",
            "sh: 1: ./script: Permission denied",
            "assertion failed: Permission denied (publickey",
            "the line 'gpg: signing failed' is expected",
            "see https://read-only.example/read-only file system",
            "the clone died with 'fatal: hardlink different from source at 'x''",
        ] {
            assert_eq!(lines(text), "", "{text}");
        }
    }

    #[test]
    fn a_path_of_a_program_is_no_command_of_the_option_that_is_named() {
        let allowed = |folder: &str| {
            let text = format!("touch: cannot touch '{folder}/x': Read-only file system");
            refusals([&text, ""], &FileView::default())[0].allow.clone()
        };
        assert_eq!(allowed("/other/a-b").as_deref(), Some("--cache /other/a-b"));
        assert_eq!(allowed("/other/a b").as_deref(), Some("--cache '/other/a b'"));
        for folder in ["/o/$(id)", "/o/a;id", "/o/a|id #", "/o/a&&id", "/o/a > b", "/o/~"] {
            assert_eq!(allowed(folder).as_deref(), Some(format!("--cache '{folder}'").as_str()));
        }
        assert_eq!(allowed("/o/a\u{1b}[2J"), None);
        let text = "touch: cannot touch '/o/a\u{1b}[2J/x': Read-only file system";
        let denied = &refusals([text, ""], &FileView::default())[0];
        assert_eq!(denied.what, "write /o/a\u{fffd}[2J/x");
    }

    #[test]
    fn keys_and_agents_that_are_missing_are_named_once() {
        let text = "gpg: signing failed: No secret key\nerror: gpg failed to sign the data\nfatal: failed to write commit object";
        assert_eq!(lines(text), "sign a commit · signing keys and their agents are not visible to commands");
        let text =
            "git@git.example: Permission denied (publickey).\nfatal: Could not read from remote repository.";
        assert_eq!(
            lines(text),
            "log in by ssh · keys, known hosts and ssh-agents of yours are not visible to commands"
        );
    }
    #[test]
    fn a_clone_whose_hard_links_are_not_the_files_is_named_with_the_option_that_copies() {
        let text = "Cloning into 'c'...\nfatal: hardlink different from source at 'c/.git/objects/5a/624ccd'";
        assert!(lines(text).starts_with("clone by hard links · on an overlay"), "{}", lines(text));
        let denied = &refusals([text, ""], &FileView::default())[0];
        assert_eq!(denied.allow.as_deref(), Some("clone with --no-hardlinks"));
        // The control: git itself copies where the file system has no links at all.
        assert_eq!(
            lines("warning: failed to create link 'c/.git/objects/5a/624ccd': Operation not permitted"),
            ""
        );
    }
}
