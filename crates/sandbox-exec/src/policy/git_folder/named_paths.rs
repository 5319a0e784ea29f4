//! The paths that settings of git name: files that they include, folders of hooks, programs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most bytes of a file of settings.
const FILE_LIMIT_BYTES: u64 = 1 << 20;

/// The most paths in all files together.
const PATH_LIMIT: usize = 1000;

/// Returns the paths that files of settings name by a key `path` or `hooksPath` in any section, those of included files among
/// them. Git follows them under conditions that may hold later.
///
/// A relative path is one beneath the folder of its file, or of the link by which that is found; `~/` stands for the home folder.
/// Paths of other users' home folders and of git's own installation are not resolved. Beyond the limits, where settings would stay
/// unread, the root stands for all paths.
pub(super) fn named_paths(files: &[PathBuf], home: &Path) -> BTreeSet<PathBuf> {
    let (mut named, mut read) = (BTreeSet::new(), BTreeSet::new());
    let mut unread = files.to_vec();
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

fn all_paths() -> BTreeSet<PathBuf> {
    [PathBuf::from("/")].into()
}

/// Returns the paths that one file names; `None` if it is too long.
fn paths_in(file: &Path, home: &Path) -> Option<Vec<PathBuf>> {
    let folder = file.parent().unwrap_or(file);
    let mut bytes = Vec::new();
    // Anything but a file, a pipe for instance, might never end.
    if file.is_file()
        && let Ok(opened) = File::open(file)
    {
        // What cannot be read, git cannot read either.
        let _ = opened.take(FILE_LIMIT_BYTES + 1).read_to_end(&mut bytes);
    }
    if bytes.len() as u64 > FILE_LIMIT_BYTES {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    Some(text.lines().filter_map(path_in).map(|path| resolved(&path, folder, home)).collect())
}

/// Returns the value of a line, if its key is one whose value is a path. The line may begin with the heading of its section.
fn path_in(line: &str) -> Option<String> {
    let (before, value) = line.split_once('=')?;
    let key = before.rsplit([']', ' ', '\t']).find(|word| !word.is_empty())?;
    let is_path = ["path", "hookspath"].iter().any(|name| key.eq_ignore_ascii_case(name));
    let value = value.trim();
    let value = match value.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        Some((quoted, _)) => quoted,
        None => value.split(['#', ';']).next().unwrap_or_default().trim_end(),
    };
    (is_path && !value.is_empty()).then(|| value.replace("\\\\", "\\"))
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
            ("name = path", None),
            ("path", None),
            ("path = # nothing", None),
            ("# path", None),
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
        let named = named_paths(&[at("home/.gitconfig")], &at("home"));
        let expected = ["home/hooks", "home/more/../.gitconfig", "home/more/one"].map(at);
        assert_eq!(named, expected.into());
        assert_eq!(named_paths(&[at("missing"), at("home")], &at("home")).len(), 0);
    }

    #[test]
    fn settings_beyond_the_limits_stand_for_all_paths() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("config");
        let named_in = |text: String| {
            fs::write(&file, text).unwrap();
            named_paths(std::slice::from_ref(&file), root.path())
        };
        let paths = |count: usize| (0..count).map(|number| format!("path = {number}\n")).collect::<String>();
        assert_eq!(named_in(paths(PATH_LIMIT)).len(), PATH_LIMIT, "the control");
        assert_eq!(named_in(paths(PATH_LIMIT + 1)), all_paths());
        let long = |bytes: usize| "#".repeat(bytes);
        assert_eq!(named_in(long(FILE_LIMIT_BYTES as usize)).len(), 0, "the control");
        assert_eq!(named_in(long(FILE_LIMIT_BYTES as usize + 1)), all_paths());
    }
}
