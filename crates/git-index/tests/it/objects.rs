//! Objects are read as git writes them, and nothing else is.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the tests run git")]

use std::path::Path;

use git_index::{ObjectFormat, ObjectKind, ObjectName, PackIndex, is_built_in, loose_kind, loose_object};

use crate::from_git;

fn git(folder: &Path, script: &str) -> String {
    from_git::git(folder, script).trim().to_owned()
}

#[test]
fn objects_of_git_name_what_they_need() {
    if !from_git::has_git() {
        return;
    }
    for (name, format) in [("sha1", ObjectFormat::Sha1), ("sha256", ObjectFormat::Sha256)] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let script = format!(
            "git init -q --object-format={name} . && git config user.name u && git config user.email u@x && mkdir d && echo x > d/x && \
             git init -q --object-format={name} sub && git -C sub -c user.name=u -c user.email=u@x commit -q --allow-empty -m s && \
             git add . 2>/dev/null && git commit -qm one && git commit -q --allow-empty -m two && git tag -a -m t t"
        );
        git(folder, &script);
        for (object, kind, needed) in [
            ("HEAD", ObjectKind::Commit, &["HEAD^{tree}", "HEAD~"][..]),
            ("HEAD~", ObjectKind::Commit, &["HEAD^{tree}"]),
            ("HEAD^{tree}", ObjectKind::Tree, &["HEAD:d"]),
            ("HEAD:d", ObjectKind::Tree, &["HEAD:d/x"]),
            ("HEAD:d/x", ObjectKind::Blob, &[]),
            ("t", ObjectKind::Tag, &["HEAD"]),
        ] {
            let digits = git(folder, &format!("git rev-parse '{object}'"));
            let file = folder.join(".git/objects").join(&digits[..2]).join(&digits[2..]);
            let file = std::fs::read(file).unwrap();
            let mut left = 1 << 20;
            let read = loose_object(&file, format, &mut left).unwrap();
            assert!(left < 1 << 20 || kind == ObjectKind::Blob, "{object} {name}");
            let without = loose_object(&file, format, &mut 10);
            assert!(without.is_none() || kind == ObjectKind::Blob, "{object} {name}: {without:?}");
            assert_eq!((read.kind, loose_kind(&file)), (kind, Some(kind)), "{object} {name}");
            let hex = |name: &ObjectName| String::from_utf8(name.digits()).unwrap();
            let expected: Vec<_> =
                needed.iter().map(|one| git(folder, &format!("git rev-parse '{one}'"))).collect();
            assert_eq!(read.names.iter().map(hex).collect::<Vec<_>>(), expected, "{object} {name}");
            // A part of it is none, except of a file, of which the beginning says all.
            let cut = loose_object(&file[..file.len() / 2], format, &mut left);
            assert!(cut.is_none() || kind == ObjectKind::Blob, "{object} {name}: {cut:?}");
            assert_eq!(loose_kind(b"x"), None);
        }
        let empty = git(folder, "git hash-object -t tree /dev/null");
        let bytes: Vec<u8> = (0..empty.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&empty[at..at + 2], 16).unwrap())
            .collect();
        assert!(is_built_in(&bytes) && !is_built_in(&bytes[1..]), "{name}");
    }
}

/// Most commits of such a history are stored as differences.
#[test]
fn packs_of_git_are_read_with_the_parents_of_their_commits() {
    if !from_git::has_git() {
        return;
    }
    for name in ["sha1", "sha256"] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let script = format!(
            "git init -q --object-format={name} . && git config user.name u && git config user.email u@x && \
             for n in $(seq 40); do git commit -q --allow-empty -m \"a long message that is the same $(seq 200) $n\"; done && \
             git repack -qadf --depth=50 && git verify-pack -v .git/objects/pack/*.idx | grep -c 'commit .* 1 '"
        );
        assert_ne!(git(folder, &script), "0", "there are differences");
        let read = |end: &str| {
            let path = git(folder, &format!("echo .git/objects/pack/*.{end}"));
            std::fs::read(folder.join(path)).unwrap()
        };
        let (pack, bytes) = (read("pack"), read("idx"));
        let index = PackIndex::read(&bytes).unwrap();
        assert!(index.is_of(&pack), "{name}");
        let log = git(folder, "git log --format='%H %P'");
        for line in log.lines() {
            let names: Vec<_> =
                line.split_whitespace().map(|name| ObjectName::of_digits(name.as_bytes()).unwrap()).collect();
            let parents = index.parents(&pack, &names[0], &mut (16 << 20)).unwrap();
            assert_eq!(parents.as_deref(), Some(&names[1..]), "{name}: {line}");
            assert!(index.has(&names[0]), "{name}: {line}");
        }
        let commit = ObjectName::of_digits(&log.as_bytes()[..log.find(' ').unwrap()]).unwrap();
        assert_eq!(index.parents(&pack, &commit, &mut 10), Some(None), "{name}: nothing is left");
        let other = ObjectName::of_digits("1".repeat(2 * commit.as_bytes().len()).as_bytes()).unwrap();
        assert_eq!(index.parents(&pack, &other, &mut (16 << 20)), None, "{name}");
        assert!(!index.has(&other), "{name}");
        // Damage is recognised.
        let swapped = [&bytes[..1032], &bytes[1052..1072], &bytes[1032..1052], &bytes[1072..]].concat();
        let mut table = bytes.clone();
        table[8] = 1;
        for damaged in [&b"garbage"[..], &bytes[1..], &bytes[..bytes.len() - 1], &swapped, &table] {
            assert!(PackIndex::read(damaged).is_none(), "{name}");
        }
        for damaged in
            [&pack[..pack.len() - 1], &pack[1..], &[&b"PACK\0\0\0\x02\0\0\0\0"[..], &pack[12..]].concat()]
        {
            assert!(!index.is_of(damaged), "{name}");
        }
    }
}
