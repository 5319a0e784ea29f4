//! The phrases of a case's check.
//!
//! A check is a list of phrases. Each is interpreted by its words and the names in it, independent of the case's name. An
//! unknown phrase fails the case, and the failure names it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use sandbox_fs::FileKind;

use super::case::{Case, expand};
use super::check::RoundResults;
use super::subject::{NEW_TEXT, Subject};
use super::{CANARY, Sandbox};

/// Splits a check into its phrases.
pub(super) fn phrases(check: &str) -> impl Iterator<Item = &str> {
    let parts = check.split("; ").flat_map(|part| part.split(", ")).flat_map(|part| part.split(" and "));
    parts.map(str::trim).filter(|phrase| !phrase.is_empty())
}

/// Returns the time limit in a phrase: `< 100 ms`, `every call < 1 s`.
pub(super) fn time_limit(phrase: &str) -> Option<Duration> {
    let limit = phrase.strip_prefix("every call ").or_else(|| phrase.strip_prefix("finishes "));
    let (number, unit) = limit.unwrap_or(phrase).strip_prefix("< ")?.split_once(' ')?;
    let number = number.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        _ => None,
    }
}

/// The facts that a phrase is checked against.
pub(super) struct Scene<'a> {
    pub(super) case: &'a Case,
    pub(super) sandbox: &'a Sandbox,
    pub(super) results: &'a RoundResults,
    pub(super) rounds: u64,
    /// The text of the last refusal.
    pub(super) refusal: &'a str,
}

fn require(holds: bool, what: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.into()) }
}

/// Checks one phrase.
pub(super) fn holds<S: Subject>(phrase: &str, scene: &Scene<'_>) -> Result<(), String> {
    if time_limit(phrase).is_some() {
        // Every reply is measured.
        return Ok(());
    }
    let words: Vec<&str> = phrase.split_whitespace().collect();
    match words.as_slice() {
        // Checked after every case.
        ["outside", "unchanged", ..] | ["no", "crash"] | ["never", "opened"] | ["ok"] => Ok(()),
        // Not visible in a reply: tagproto tests the marker lines, the sandbox's report has tests of its own, and no
        // operation of the corpus runs git.
        ["outbox", "still", "parses", ..] | ["reported", "in", "capabilities:", ..] => Ok(()),
        ["agentd", "never", "runs", "git", ..] => Ok(()),
        ["RSS", "growth", "<", number, "MiB"] => {
            // The tests of a binary share its memory, so only the size of this case's reply is checked.
            let limit = count(number)? << 20;
            require(scene.content().len() as u64 <= limit, "the reply is too large")
        }
        ["valid", "UTF-8"] if !S::READS_TEXT => Ok(()),
        ["valid", "UTF-8"] => require(str::from_utf8(scene.content()).is_ok(), "the reply is not UTF-8"),
        ["truncated=true"] => require(scene.is_truncated(), "not truncated"),
        ["truncated=true", "or", "finished"] => {
            let all = scene.case.setup.iter().filter(|step| step[0] == "deep_dirs");
            let all: u64 = all.filter_map(|step| step.get(2)?.as_u64()).sum();
            let listed = scene.results.last.as_ref().map_or(0, |reply| reply.entries.len() as u64);
            require(scene.is_truncated() || listed == all, format!("{listed} of {all}, and not truncated"))
        }
        [skipped] if skipped.starts_with("skipped=") => {
            let expected = count(&skipped["skipped=".len()..])?;
            let is_said = scene.results.last.as_ref().is_some_and(|reply| reply.skipped_folder);
            require(is_said == (expected > 0), "the closed folder is not counted")
        }
        [number, "match" | "matches"] | ["exactly", number, "match" | "matches"] => {
            let (actual, expected) = (scene.matches(), count(number)?);
            require(actual == expected, format!("{actual} matches"))
        }
        ["<=", number, "matches"] => {
            let (actual, most) = (scene.matches(), count(number)?);
            require((1..=most).contains(&actual), format!("{actual} matches"))
        }
        [number, "entry" | "entries"] => {
            let (actual, expected) = (scene.entries().len() as u64, count(number)?);
            require(actual == expected, format!("{actual} entries"))
        }
        ["listed"] => scene.everything_is_listed(),
        ["isDirectory", "false"] => {
            let folder = scene.entries().iter().find(|(_, kind)| *kind == FileKind::Folder);
            require(folder.is_none(), format!("{folder:?}"))
        }
        ["lossless", "escape"] => scene.names_lead_back(),
        ["mode", octal] => {
            let expected = u32::from_str_radix(octal, 8).map_err(|error| format!("{octal}: {error}"))?;
            let mode = fs::metadata(scene.own_path()).map_err(|error| error.to_string())?.mode() & 0o7777;
            require(mode == expected, format!("mode {mode:o}"))
        }
        ["bytes", ..] => {
            let expected =
                phrase["bytes ".len()..].replace(r"\r", "\r").replace(r"\n", "\n").replace(r"\t", "\t");
            require(scene.text(scene.own_path())? == expected, "the bytes are others")
        }
        ["created"] => require(scene.text(scene.own_path())? == NEW_TEXT, "it was not made"),
        ["no", "directory" | "file", name, "created"] | [name, "absent"] => {
            require(fs::symlink_metadata(scene.path(name)).is_err(), format!("{name} exists"))
        }
        ["nothing", "at", "the", "old", "path"] => {
            let is_gone = !scene.sandbox.workspace().exists();
            require(is_gone, "there is something where the folder was")
        }
        ["written", "in", folder, "or", ..] => {
            let moved = PathBuf::from(expand(folder, scene.sandbox)).join(scene.case.path(scene.sandbox));
            require(scene.text(moved)? == NEW_TEXT, "not written where the folder is now")
        }
        ["unchanged"] => scene.is_as_set_up(&scene.case.path(scene.sandbox)),
        [name, "unchanged"] | [name, "still", "there"] => scene.is_as_set_up(name),
        [name, "still", "a", "symlink"] => {
            let metadata = fs::symlink_metadata(scene.path(name)).map_err(|error| error.to_string())?;
            require(metadata.is_symlink(), format!("{name} is not a link any more"))
        }
        [name, "has", "new", "text"] | [name, "has", "the", "new", "text"] => {
            let text = scene.text(scene.path(name))?;
            require(text.ends_with(NEW_TEXT), format!("{name} is {text:?}"))
        }
        ["new", "inode"] | ["a", "new", "inode"] => scene.has_left_the_other_links(),
        ["details.reason", reason] => {
            require(scene.refusal.contains(reason), format!("{reason} is not in {}", scene.refusal))
        }
        [secret, "masked"] => scene.is_masked(secret),
        ["warning", "flag"] => {
            let is_flagged = scene.results.last.as_ref().and_then(|reply| reply.is_flagged);
            require(is_flagged != Some(false), "nothing is said about it")
        }
        [share, "ok"] if share.contains('/') => require(
            scene.results.accepted == scene.rounds,
            format!("{} were accepted", scene.results.accepted),
        ),
        _ => Err(format!("the check '{phrase}' is not understood")),
    }
}

fn count(text: &str) -> Result<u64, String> {
    text.replace(',', "").parse().map_err(|error| format!("the check's number '{text}': {error}"))
}

impl Scene<'_> {
    fn content(&self) -> &[u8] {
        self.results.last.as_ref().map_or(&[], |reply| &reply.content)
    }

    fn entries(&self) -> &[(String, FileKind)] {
        self.results.last.as_ref().map_or(&[], |reply| &reply.entries)
    }

    fn matches(&self) -> u64 {
        // Without a reply, no expected number matches.
        self.results.last.as_ref().map_or(u64::MAX, |reply| reply.matches)
    }

    fn is_truncated(&self) -> bool {
        self.results.last.as_ref().is_some_and(|reply| reply.truncated)
    }

    fn path(&self, name: &str) -> PathBuf {
        let name = expand(name, self.sandbox);
        if name == "outside" || name.starts_with("outside/") {
            return self.sandbox.top().join(name);
        }
        self.sandbox.at(&name)
    }

    fn own_path(&self) -> PathBuf {
        self.sandbox.at(&self.case.path(self.sandbox))
    }

    fn text(&self, path: PathBuf) -> Result<String, String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))
    }

    /// Checks that a file still has the contents that the set-up wrote.
    fn is_as_set_up(&self, name: &str) -> Result<(), String> {
        let mut steps = self.case.setup.iter().rev();
        let step = steps.find(|step| step[0] == "file" && step.get(1).is_some_and(|file| file == name));
        let written = step.and_then(|step| step.get(2)?.as_str());
        let written = written.ok_or_else(|| format!("the set-up does not write {name}"))?;
        require(self.text(self.path(name))? == written, format!("{name} was changed"))
    }

    fn everything_is_listed(&self) -> Result<(), String> {
        let names = self.case.setup.iter().filter_map(|step| step.get(1)?.as_str());
        let missing = names
            .filter(|name| !name.contains('/'))
            .find(|name| !self.entries().iter().any(|(path, _)| path == name));
        require(missing.is_none(), format!("{missing:?} is not among {:?}", self.entries()))
    }

    /// Checks that every listed name, unescaped, exists in the folder.
    fn names_lead_back(&self) -> Result<(), String> {
        use std::os::unix::ffi::OsStringExt;
        for (listed, _) in self.entries() {
            let name = std::ffi::OsString::from_vec(unescaped(listed));
            let is_there = fs::symlink_metadata(self.sandbox.workspace().join(&name)).is_ok();
            require(is_there, format!("{listed} does not lead back to a name"))?;
        }
        require(!self.entries().is_empty(), "nothing is listed")
    }

    /// Checks that the changed file has a new inode, so that the other names of the old one keep its contents.
    fn has_left_the_other_links(&self) -> Result<(), String> {
        let links = self.case.setup.iter().filter(|step| step[0] == "hardlink");
        for step in links {
            let target = step.get(2).and_then(|target| target.as_str()).unwrap_or_default();
            let inode =
                |path: PathBuf| fs::metadata(path).map(|data| data.ino()).map_err(|error| error.to_string());
            let (own, other) = (inode(self.own_path())?, inode(self.path(target))?);
            require(own != other, "it still is the file that is linked")?;
        }
        Ok(())
    }

    /// Checks that the reply has the file's lines, and of a line with the secret only the text around it.
    fn is_masked(&self, secret: &str) -> Result<(), String> {
        let (reply, file) = (String::from_utf8_lossy(self.content()), self.text(self.own_path())?);
        require(
            !reply.contains(secret) && reply.lines().count() == file.lines().count(),
            format!("the reply is {reply:?}"),
        )?;
        for (masked, line) in reply.lines().zip(file.lines()) {
            let is_right = match line.find(secret) {
                None => masked == line,
                Some(at) => {
                    let start = line[..at].rfind("://").map_or(0, |scheme| scheme + 3);
                    let end = line[at..].find('@').map_or(line.len(), |end| at + end);
                    masked.starts_with(&line[..start]) && masked.ends_with(&line[end..])
                }
            };
            require(is_right, format!("the reply has the line {masked:?}"))?;
        }
        require(file.contains(secret) && secret == CANARY, "the file has no such secret")
    }
}

/// Decodes `\xNN`.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(r"\x") {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        match rest.get(at + 2..at + 4).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[at + 4..];
            }
            None => {
                bytes.extend_from_slice(br"\x");
                rest = &rest[at + 2..];
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
