//! The paths that settings of git name: files that they include, folders of hooks, programs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::settings_file;

/// The most bytes of a settings file.
pub(super) const FILE_LIMIT_BYTES: u64 = 1 << 20;

/// The most paths in all files together.
const PATH_LIMIT: usize = 1000;

/// Returns the paths that settings files name by a key `path` or `hooksPath` in any section, including those of included
/// files. Git follows them under conditions that may hold later.
///
/// `in_environment` are paths that variables name, see [`paths_in_environment`]. A relative path is relative to the folder
/// of its file, or of the link by which the file is found; `~/` stands for the home folder. Paths of other users' home
/// folders and of git's own installation are not resolved. Beyond the limits, where settings would stay unread, the root
/// stands for all paths.
pub(super) fn named_paths(files: &[PathBuf], in_environment: Vec<PathBuf>, home: &Path) -> BTreeSet<PathBuf> {
    let mut read = BTreeSet::new();
    let mut named: BTreeSet<PathBuf> = in_environment.iter().cloned().collect();
    let mut unread = [files, &in_environment].concat();
    while let Some(file) = unread.pop() {
        // Files may include each other.
        if !file.canonicalize().is_ok_and(|real| read.insert(real)) {
            continue;
        }
        let Some(paths) = paths_in(&file, home) else { return all_paths() };
        for path in paths {
            if named.insert(path.clone()) {
                unread.push(path);
            }
        }
        if named.len() > PATH_LIMIT {
            return all_paths();
        }
    }
    named
}

/// Returns the paths that settings in variables name: pairs of `GIT_CONFIG_KEY_0` and `GIT_CONFIG_VALUE_0`, counted by
/// `GIT_CONFIG_COUNT`. Git includes no file by a relative path from there, and resolves relative hooks in the repository,
/// so only absolute paths and those in the home folder are returned; beyond the limit, the root for all paths.
pub(super) fn paths_in_environment(home: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let text = |name: String| variable(&name).and_then(|value| value.into_string().ok());
    let count = text("GIT_CONFIG_COUNT".to_owned()).and_then(|count| count.trim().parse::<u64>().ok());
    let count = count.unwrap_or_default();
    if count > PATH_LIMIT as u64 {
        return all_paths().into_iter().collect();
    }
    let path = |number: u64| {
        let key = text(format!("GIT_CONFIG_KEY_{number}"))?;
        let value = variable(&format!("GIT_CONFIG_VALUE_{number}"))?;
        let path = match value.to_str().and_then(|value| value.strip_prefix("~/")) {
            Some(rest) => home.join(rest),
            None => PathBuf::from(value),
        };
        (is_of_path(key.rsplit('.').next().unwrap_or_default()) && path.is_absolute()).then_some(path)
    };
    (0..count).filter_map(path).collect()
}

fn all_paths() -> BTreeSet<PathBuf> {
    [PathBuf::from("/")].into()
}

/// Returns the paths that one file names; `None` if it is too long.
fn paths_in(file: &Path, home: &Path) -> Option<Vec<PathBuf>> {
    let folder = file.parent().unwrap_or(file);
    let bytes = settings_file::read(file, FILE_LIMIT_BYTES + 1);
    if bytes.len() as u64 > FILE_LIMIT_BYTES {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    // A backslash at the end of a line continues a value, but not a comment: lines are read both ways.
    let continued = text.replace("\r\n", "\n").replace("\\\n", "");
    let lines = text.lines().chain(continued.lines());
    Some(lines.filter_map(path_in).map(|path| resolved(&path, folder, home)).collect())
}

/// Returns the value of a line, if its key takes a path. The line may begin with the heading of its section.
fn path_in(line: &str) -> Option<String> {
    // The heading may hold the same character.
    line.match_indices('=').find_map(|(index, equals)| {
        let key = line[..index].rsplit([']', ' ', '\t']).find(|word| !word.is_empty())?;
        let value = unquoted(line[index + equals.len()..].trim());
        (is_of_path(key) && !value.is_empty()).then_some(value)
    })
}

/// Checks whether the value of a key is a path.
fn is_of_path(key: &str) -> bool {
    ["path", "hookspath"].iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// Returns a value without quote marks, which may enclose any part of it, and without a trailing comment.
fn unquoted(value: &str) -> String {
    let (mut text, mut is_quoted) = (String::new(), false);
    // The length of the text without unquoted trailing whitespace.
    let mut length = 0;
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => text.push(match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('b') => '\u{8}',
                Some(other) => other,
                None => break,
            }),
            other => text.push(other),
        }
        if is_quoted || !character.is_whitespace() {
            length = text.len();
        }
    }
    text.truncate(length);
    text
}

fn resolved(path: &str, folder: &Path, home: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => folder.join(path),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn values_are_read_as_git_reads_them() {
        let rows = [
            ("path = more", Some("more")),
            ("\tPath=~/more ; a remark", Some("~/more")),
            ("[include] path = \"a b#c\" # a remark", Some("a b#c")),
            ("[core]hooksPath=/hooks", Some("/hooks")),
            ("[includeIf \"gitdir:a=b\"]", None),
            ("[includeIf \"gitdir:a=b\"] path = /c", Some("/c")),
            ("name = path", None),
            ("path", None),
            ("path = # nothing", None),
            ("# path", None),
            ("path = /a\" b\"/c # a remark", Some("/a b/c")),
            ("path = /a\\\\b", Some("/a\\b")),
            ("path = \"/a\\\"b\"", Some("/a\"b")),
            ("path = \" \"", Some(" ")),
        ];
        for (line, expected) in rows {
            assert_eq!(path_in(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn included_files_are_followed_and_a_circle_ends() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("home/more")).unwrap();
        fs::write(at("home/.gitconfig"), "[include]\n\tpath = more/one\n").unwrap();
        fs::write(at("home/more/one"), "[core]\n\thooksPath = ~/hooks\n[include]\n\tpath = ../.gitconfig\n")
            .unwrap();
        let named = named_paths(&[at("home/.gitconfig")], Vec::new(), &at("home"));
        let expected = ["home/hooks", "home/more/../.gitconfig", "home/more/one"].map(at);
        assert_eq!(named, expected.into());
        assert_eq!(named_paths(&[at("missing"), at("home")], Vec::new(), &at("home")).len(), 0);
        let included = named_paths(&[], vec![at("home/more/one")], &at("home"));
        assert!(included.contains(&at("home/hooks")), "{included:?}");
    }

    #[test]
    fn a_backslash_continues_a_value_and_not_a_comment() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("config");
        let text = "[core] hooksPath = /ho\\\noks\n# a remark \\\n[include] path = /more\npath = /b\\\r\nc\n";
        fs::write(&file, text).unwrap();
        let named = named_paths(&[file], Vec::new(), root.path());
        for path in ["/hooks", "/more", "/bc"] {
            assert!(named.contains(Path::new(path)), "{path}: {named:?}");
        }
    }

    #[test]
    fn variables_name_paths_by_pairs() {
        let paths = |count: &str| {
            let variables = [
                ("GIT_CONFIG_COUNT", count),
                ("GIT_CONFIG_KEY_0", "core.hooksPath"),
                ("GIT_CONFIG_VALUE_0", "/hooks"),
                ("GIT_CONFIG_KEY_1", "includeIf.gitdir:~/a.b/.PATH"),
                ("GIT_CONFIG_VALUE_1", "~/more"),
                ("GIT_CONFIG_KEY_2", "user.name"),
                ("GIT_CONFIG_VALUE_2", "/a"),
                ("GIT_CONFIG_KEY_3", "core.hooksPath"),
                ("GIT_CONFIG_VALUE_3", ".hooks"),
            ];
            let variable = |name: &str| {
                variables.iter().find(|(one, _)| *one == name).map(|(_, value)| OsString::from(value))
            };
            paths_in_environment(Path::new("/home"), variable)
        };
        assert_eq!(paths("4"), [Path::new("/hooks"), Path::new("/home/more")]);
        assert_eq!(paths("1"), [Path::new("/hooks")]);
        assert_eq!(paths("0").len() + paths("many").len() + paths("").len(), 0);
        assert_eq!(paths("1001"), [Path::new("/")]);
    }

    #[test]
    fn settings_beyond_the_limits_stand_for_all_paths() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("config");
        let named_in = |text: String| {
            fs::write(&file, text).unwrap();
            named_paths(std::slice::from_ref(&file), Vec::new(), root.path())
        };
        let paths = |count: usize| (0..count).map(|number| format!("path = {number}\n")).collect::<String>();
        assert_eq!(named_in(paths(PATH_LIMIT)).len(), PATH_LIMIT, "the control");
        assert_eq!(named_in(paths(PATH_LIMIT + 1)), all_paths());
        let long = |bytes: usize| "#".repeat(bytes);
        assert_eq!(named_in(long(FILE_LIMIT_BYTES as usize)).len(), 0, "the control");
        assert_eq!(named_in(long(FILE_LIMIT_BYTES as usize + 1)), all_paths());
    }
}
