//! Objects are read as git writes them, and nothing else is.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the tests run git")]

use std::path::Path;

use git_index::{ObjectFormat, ObjectKind, is_built_in, loose_kind, loose_object};

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
            let read = loose_object(&file, format).unwrap();
            assert_eq!((read.kind, loose_kind(&file)), (kind, Some(kind)), "{object} {name}");
            let hex = |name: &Vec<u8>| name.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let expected: Vec<_> =
                needed.iter().map(|one| git(folder, &format!("git rev-parse '{one}'"))).collect();
            assert_eq!(read.names.iter().map(hex).collect::<Vec<_>>(), expected, "{object} {name}");
            // A part of it is none, except of a file, of which the beginning says all.
            let cut = loose_object(&file[..file.len() / 2], format);
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
