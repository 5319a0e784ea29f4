//! Git can read the files of references that are accepted, and fails at those that are not.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the tests run git")]

use std::process::Command;

use git_index::{
    ObjectFormat, are_packed_references, are_shallow_ends, is_readable_reference, keeps_objects_of_tags,
};

use crate::from_git::{git, has_git};

/// A function that judges a file, with the file, and what git is to read.
type Case = (fn(&[u8], ObjectFormat) -> bool, &'static str, &'static [&'static str]);

const CASES: [Case; 3] = [
    (
        are_packed_references,
        "packed-refs",
        &[
            "garbage\n",
            "# something else\n",
            "ID refs/heads/a\n# pack-refs with: peeled \n",
            "ID refs/heads/a",
            "ID\n",
            "ID24 refs/heads/a\n",
            "^ID\n",
            "ID refs/tags/a\n^ID\n^ID\n",
            "ID refs/tags/a\n^garbage\n",
            "ID refs/heads/a\n\n",
        ],
    ),
    (are_shallow_ends, "shallow", &["garbage\n", "\n\n", "ID\n\nID\n", "ID3\n"]),
    (
        is_readable_reference,
        "refs/heads/main",
        &["garbage\n", "", "ID3", "refs/heads/other\n", "0000000000000000000000000000000000000000\n"],
    ),
];

#[test]
fn what_git_cannot_read_is_refused() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    git(
        folder.path(),
        "git init -qb main r; cd r; git commit -q --allow-empty -m x; git tag -am t t; git pack-refs --all",
    );
    let repository = folder.path().join("r");
    let can_read = || {
        let log = Command::new("git").args(["log", "--all"]).current_dir(&repository).output().unwrap();
        log.status.success()
    };
    let id = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(&repository).output().unwrap();
    let id = String::from_utf8(id.stdout).unwrap().trim().to_owned();
    for (is_sound, file, texts) in CASES {
        let path = repository.join(".git").join(file);
        let had = std::fs::read(&path).ok();
        for text in texts {
            let text = text.replace("ID24", &id.repeat(2)[..64]).replace("ID3", &id[3..]).replace("ID", &id);
            assert!(!is_sound(text.as_bytes(), ObjectFormat::Sha1), "{file}: {text:?}");
            std::fs::write(&path, &text).unwrap();
            assert!(!can_read(), "{file}: {text:?}");
        }
        match had {
            Some(had) => std::fs::write(&path, had).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        assert!(can_read());
    }
}

#[test]
fn what_git_writes_is_accepted() {
    if !has_git() {
        return;
    }
    for (name, format) in [("sha1", ObjectFormat::Sha1), ("sha256", ObjectFormat::Sha256)] {
        let folder = tempfile::tempdir().unwrap();
        let work = format!(
            "git init -qb main --object-format={name} r; cd r; git commit -q --allow-empty -m x; git commit -q --allow-empty -m y; \
             git tag -am t t; git branch feature/ä; git pack-refs --all; git commit -q --allow-empty -m z; \
             git clone -q --depth 1 file://$PWD ../shallow"
        );
        git(folder.path(), &work);
        let read = |path: &str| std::fs::read(folder.path().join(path)).unwrap();
        let other = if format == ObjectFormat::Sha1 { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 };
        type Judge = fn(&[u8], ObjectFormat) -> bool;
        let files: [(&str, Judge); 4] = [
            ("r/.git/packed-refs", are_packed_references),
            ("r/.git/refs/heads/main", is_readable_reference),
            ("shallow/.git/shallow", are_shallow_ends),
            ("shallow/.git/packed-refs", are_packed_references),
        ];
        for (file, is_sound) in files {
            assert!(is_sound(&read(file), format), "{name}: {file}");
            assert!(!is_sound(&read(file), other), "{name}: {file} in the other format");
        }
        assert!(is_readable_reference(&read("r/.git/HEAD"), format));
    }
    assert!(are_packed_references(b"", ObjectFormat::Sha1) && are_shallow_ends(b"", ObjectFormat::Sha1));
}

/// Git searches a list marked as sorted by bisection, and does not find a name out of order.
#[test]
fn list_that_wrongly_says_it_is_sorted_is_refused() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    git(
        folder.path(),
        "git init -qb main r; cd r; git commit -q --allow-empty -m x; for b in a b c zz; do git branch $b; done; git tag -am t t; \
         git pack-refs --all",
    );
    let path = folder.path().join("r/.git/packed-refs");
    let finds_branch = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let mut command = Command::new("git");
        command.args(["rev-parse", "--verify", "-q", "refs/heads/b"]);
        command.current_dir(folder.path().join("r")).output().unwrap().status.success()
    };
    let is_sound = |text: &str| are_packed_references(text.as_bytes(), ObjectFormat::Sha1);
    let sorted = std::fs::read_to_string(&path).unwrap();
    assert!(finds_branch(&sorted) && is_sound(&sorted), "control: {sorted}");
    let (header, lines) = sorted.split_once('\n').unwrap();
    let mut lines: Vec<_> = lines.lines().collect();
    // The tag is followed by its object.
    let tag = lines.split_off(lines.len() - 2);
    lines.reverse();
    let reversed = [[header].as_slice(), &tag, &lines].concat().join("\n") + "\n";
    assert!(!finds_branch(&reversed) && !is_sound(&reversed), "{reversed}");
    // A list without that mark is sorted by git itself.
    let unsaid = reversed.replace(" sorted", "");
    assert!(finds_branch(&unsaid) && is_sound(&unsaid), "control: {unsaid}");
    let doubled = sorted.replacen(lines[0], &[lines[0]; 2].join("\n"), 1);
    assert!(!is_sound(&doubled), "{doubled}");
}

#[test]
fn objects_that_tags_stand_for_stay() {
    let [commit, other, tag] = ["1", "2", "3"].map(|digit| digit.repeat(40));
    let list = |words: &str, stands_for: &str| {
        format!("# pack-refs with:{words}\n{commit} refs/heads/a\n{tag} refs/tags/t\n{stands_for}")
    };
    let full = " peeled fully-peeled sorted ";
    let before = list(full, &format!("^{commit}\n"));
    let keeps = |after: &str| keeps_objects_of_tags(before.as_bytes(), after.as_bytes());
    let moved = before.replace("refs/tags/t", "refs/tags/u") + &format!("{other} refs/tags/v\n^{commit}\n");
    assert!(keeps(&before) && keeps(&moved) && keeps(&list("", "")), "control");
    assert!(!keeps(&list(full, &format!("^{other}\n"))));
    assert!(!keeps(&list(full, "")));
}
