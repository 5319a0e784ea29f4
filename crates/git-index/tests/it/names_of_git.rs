//! Names that git refuses to add are refused, whatever their length.
#![expect(clippy::disallowed_types, reason = "the tests run git")]

use std::process::{Command, Stdio};

use git_index::ObjectFormat;
use tempfile::TempDir;

use crate::crafted::{FILE, SYMLINK, checked, index};
use crate::from_git::{git, has_git};

/// Names that are `.git` or `.gitmodules` on some file system, or nearly so.
fn names() -> Vec<String> {
    let mut names = Vec::new();
    for (name, short) in [(".git", "git~1"), (".gitmodules", "gitmod~1")] {
        for base in [name, short, &name.to_uppercase(), &short.to_uppercase()] {
            for ending in ["", " ", ".", " . ", ":", "::$DATA", ".:x", " x", "x", "/x", " /x", "\\x", " \\x"]
            {
                names.push(format!("{base}{ending}"));
            }
            // Longer than 255 bytes, and shorter in the characters that count.
            names.extend([format!("{base}{}", " ".repeat(400)), format!("{base}{}x", ".".repeat(400))]);
            names.push(format!("{}\\{base}", "x".repeat(300)));
        }
        for ignored in ["\u{200c}", "\u{feff}", "\u{206a}", "\u{202e}", "\u{200b}", "\u{ad}"] {
            let (first, rest) = name.split_at(2);
            names.push(format!("{first}{ignored}{rest}"));
            names.push(format!("{first}{}{rest}", ignored.repeat(200)));
            names.push(format!("{ignored}{name}{ignored}"));
        }
    }
    for short in
        ["gitmod~4", "gitmod~5", "gi7eba~1", "GI7EBA~9", "gi7eb~10", "gi7eba~0", "gi7eb~01", "gi7~1234"]
    {
        names.extend([short.to_owned(), format!("{short} ."), format!("{short}x"), format!("a\\{short}")]);
    }
    names.extend(
        ["~1000000", "git~2", "gitmodules", ".gitmodule", ".gitmoduless", ".gitignore"].map(str::to_owned),
    );
    names.into_iter().flat_map(|name| [format!("a/{name}"), name]).collect()
}

#[test]
fn what_git_does_not_add_is_refused() {
    if !has_git() {
        return;
    }
    let folder = TempDir::new().unwrap();
    git(
        folder.path(),
        "git init -q . && git config core.protectHFS true && git config core.protectNTFS true",
    );
    let blob = git(folder.path(), "echo x | git hash-object -w --stdin");
    let mut refused_by_git = 0;
    for name in names() {
        for mode in [FILE, SYMLINK] {
            let row = format!("{mode:o},{},{name}", blob.trim());
            let added = Command::new("git")
                .args(["update-index", "--add", "--cacheinfo", &row])
                .current_dir(folder.path())
                .env("GIT_INDEX_FILE", "an-index")
                .stderr(Stdio::null())
                .status()
                .unwrap();
            // A file and a folder of one name cannot both be in an index.
            let _ = std::fs::remove_file(folder.path().join("an-index"));
            let rows = [(name.as_bytes(), mode, 0)];
            let is_refused = checked(&index(2, ObjectFormat::Sha1, &rows, b""), ObjectFormat::Sha1).is_err();
            refused_by_git += usize::from(!added.success());
            assert!(is_refused || added.success(), "{mode:o} {}", name.escape_debug());
        }
    }
    // The control: git refuses many of them, and adds others.
    assert!((100..names().len()).contains(&refused_by_git), "{refused_by_git}");
    let plain =
        checked(&index(2, ObjectFormat::Sha1, &[(b"a/gitmodules", SYMLINK, 0)], b""), ObjectFormat::Sha1);
    assert!(plain.is_ok());
}
