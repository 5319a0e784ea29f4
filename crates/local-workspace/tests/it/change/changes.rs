//! Changes of files: unchanged state, a batch's view of itself, refusals.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use local_workspace::LocalWorkspace;
use wap_core::*;

use crate::fixture::workspace::*;

fn batch(workspace: &LocalWorkspace, changes: &[FileChange]) -> Vec<Result<FileChanged, WapError>> {
    workspace.change_files(&Caller::once().call(), changes).unwrap()
}

/// The reasons of a batch's failures, `None` for what went well.
fn reasons(outcomes: &[Result<FileChanged, WapError>]) -> Vec<Option<Reason>> {
    outcomes.iter().map(|outcome| outcome.as_ref().err().map(WapError::reason)).collect()
}

fn write_as(path: &str, content: &str, mode: WriteMode, create_directories: bool) -> FileChange {
    FileChange::Write(WriteFile {
        path: path.into(),
        content: content.into(),
        mode: Some(mode),
        create_directories: Some(create_directories),
        judged: None,
    })
}

#[test]
fn permission_bits_stay_and_other_names_of_a_file_keep_their_content() {
    let fixture = Fixture::new();
    fixture.put("script", "#!/bin/sh\n");
    fixture.put("private", "1\n");
    let at = |name: &str| fixture.root().join(name);
    fs::set_permissions(at("script"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(at("private"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::hard_link(at("private"), at("other name")).unwrap();
    let workspace = fixture.open();
    let outcomes = batch(
        &workspace,
        &[write("script", "#!/bin/bash\n"), replace("private", (1, 1), "2", None), write("new", "x")],
    );
    assert_eq!(reasons(&outcomes), [None; 3]);
    let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("script"), mode("private")), (0o755, 0o600));
    assert_eq!(
        (fixture.text("private").unwrap(), fixture.text("other name").unwrap()),
        ("2\n".into(), "1\n".into())
    );
}

#[test]
fn long_batch_that_is_cancelled_before_its_commit_changes_nothing() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let caller = Caller::numbered(1);
    let changes: Vec<_> = (0..20_000).map(|number| write(&format!("d{number}/f"), "text\n")).collect();
    let cancel = caller.cancel.clone();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            cancel.cancel();
        });
        workspace.change_files(&caller.call(), &changes)
    });
    assert_eq!(outcome.unwrap_err().reason(), Reason::Cancelled);
    assert!(fixture.all_names().is_empty());
    // The steps are free.
    let caller = Caller::numbered(1);
    assert_eq!(reasons(&workspace.change_files(&caller.call(), &changes[..2]).unwrap()), [None; 2]);
}

#[test]
fn files_and_folders_of_one_batch_are_distinguished_after_any_deletion() {
    let fixture = Fixture::new();
    fixture.put("was/file", "x");
    let workspace = fixture.open();
    let outcomes = batch(
        &workspace,
        &[
            write("a", ""),
            write("a/b", ""),
            write("c/d/e", ""),
            write("c/d", ""),
            write_as("c/new", "", WriteMode::Overwrite, false),
            delete("c/d/e"),
            delete("c/new"),
            write("c/d", ""),
            write("c/d/e", ""),
            delete("a"),
            write("a/b", ""),
            write("a-b/c", ""),
            write("a", ""),
        ],
    );
    let (file, folder) = (Some(Reason::NotADirectory), Some(Reason::NotAFile));
    let expected = [None, file, None, folder, None, None, None, None, file, None, None, None, folder];
    assert_eq!(reasons(&outcomes), expected);
    assert_eq!(fixture.all_names(), ["a", "a-b", "a-b/c", "a/b", "c", "c/d", "was", "was/file"]);
}

#[test]
fn names_that_stand_for_outputs_are_not_written() {
    let fixture = Fixture::new();
    fixture.put("d/x", "x");
    let workspace = fixture.open();
    let names =
        ["@output/1-0.txt", "./@output/1-0.txt", "d/../@output/x", "@output", "@outputs/x", "d/@output/x"];
    let outcomes = batch(&workspace, &names.map(|name| write(name, "")));
    let refused = Some(Reason::InvalidName);
    assert_eq!(reasons(&outcomes), [refused, refused, refused, refused, None, None]);
    assert!(!fixture.root().join("@output").exists());
    // What is there all the same is not edited, since its lines cannot be seen, and can be removed.
    fixture.put("@output/old", "x\n");
    assert_eq!(reasons(&batch(&workspace, &[replace("@output/old", (1, 1), "y", None)])), [refused]);
    assert_eq!(reasons(&batch(&workspace, &[delete("@output/old")])), [None]);
}

#[test]
fn one_item_that_fails_leaves_the_others() {
    let fixture = Fixture::new();
    fixture.put("a", "1\n");
    fixture.put("d/x", "x");
    let workspace = fixture.open();
    let outcomes = batch(
        &workspace,
        &[
            replace("a", (1, 1), "one", None),
            replace("a", (9, 9), "nine", None),
            write("../out", "x"),
            write_as("missing/b", "x", WriteMode::Overwrite, false),
            write("d", "x"),
            delete("d"),
            write("a/b", "x"),
            write_as("a", "x", WriteMode::Create, false),
            write(".git/config", "x"),
            write("bad\u{202e}name", "x"),
            write("new/folders/c", "x"),
        ],
    );
    let expected = [
        None,
        Some(Reason::InvalidRange),
        Some(Reason::PathEscapeAttempt),
        Some(Reason::DirectoryNotFound),
        Some(Reason::NotAFile),
        Some(Reason::NotAFile),
        Some(Reason::NotADirectory),
        Some(Reason::FileExists),
        Some(Reason::Protected),
        Some(Reason::InvalidName),
        None,
    ];
    assert_eq!(reasons(&outcomes), expected);
    let names = ["a", "d", "d/x", "new", "new/folders", "new/folders/c"];
    assert_eq!(fixture.all_names(), names);
    assert_eq!(fixture.text("a").unwrap(), "one\n");
}

#[test]
fn later_items_of_a_batch_see_the_earlier_ones() {
    let fixture = Fixture::new();
    fixture.put("old", "1\n2\n");
    symlink("old", fixture.root().join("link")).unwrap();
    let workspace = fixture.open();
    let outcomes = batch(
        &workspace,
        &[
            // Written, edited, lengthened.
            write("n/a", "1\n2\n"),
            replace("n/a", (2, 2), "two", None),
            write_as("n/a", "3\n", WriteMode::Append, false),
            // The folder is there by now.
            write_as("n/b", "b\n", WriteMode::Create, false),
            // Made and reverted.
            write("n/c", "c\n"),
            delete("n/c"),
            // Taken away and made anew.
            delete("old"),
            write_as("old", "new\n", WriteMode::Create, false),
            // A link gives way to a file of its name.
            delete("link"),
            write_as("link", "a file now\n", WriteMode::Create, false),
        ],
    );
    assert_eq!(reasons(&outcomes), [None; 10]);
    let failures = batch(
        &workspace,
        &[
            write("file", "x"),
            write("file/x", "x"),
            write("folder/x", "x"),
            write("folder", "x"),
            delete("folder/x"),
            delete("folder/x"),
            replace("folder/x", (1, 1), "x", None),
            write_as("folder/y", "x", WriteMode::Overwrite, false),
        ],
    );
    let expected = [
        None,
        Some(Reason::NotADirectory),
        None,
        Some(Reason::NotAFile),
        None,
        Some(Reason::FileNotFound),
        // The folder went with its only file: neither was ever made.
        Some(Reason::FileNotFound),
        Some(Reason::DirectoryNotFound),
    ];
    assert_eq!(reasons(&failures), expected);
    assert_eq!(fixture.all_names(), ["file", "link", "n", "n/a", "n/b", "old"]);
    assert_eq!(fixture.text("n/a").unwrap(), "1\ntwo\n3\n");
    assert_eq!(fixture.text("old").unwrap(), "new\n");
    assert!(fixture.root().join("link").symlink_metadata().unwrap().is_file());
    assert_eq!(fixture.text("link").unwrap(), "a file now\n");
}

#[test]
fn what_was_changed_survives_the_engine() {
    let fixture = Fixture::new();
    fixture.put("old", "1\n");
    symlink("old", fixture.root().join("link")).unwrap();
    let workspace = fixture.open();
    let changes = [write("d/e/new", "x"), delete("old"), delete("link"), write("link", "x"), delete("link")];
    assert_eq!(reasons(&batch(&workspace, &changes)), [None; 5]);
    drop(workspace);
    let (_, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    assert!(recovery.is_empty(), "{recovery:?}");
    assert_eq!(fixture.all_names(), ["d", "d/e", "d/e/new"]);
}

#[test]
fn links_are_not_written_through_and_their_target_is_named() {
    let fixture = Fixture::new();
    fixture.put("d/a", "1\n");
    symlink("d/a", fixture.root().join("link")).unwrap();
    symlink("d", fixture.root().join("folder")).unwrap();
    symlink(fixture.outside(), fixture.root().join("out")).unwrap();
    let workspace = fixture.open();
    for (path, target) in [("link", "d/a"), ("folder/a", "d/a")] {
        for request in [write(path, "x"), replace(path, (1, 1), "x", None)] {
            let error = change(&workspace, request).unwrap_err();
            assert_eq!(error.reason(), Reason::IsSymlink);
            assert_eq!(error.detail("target").unwrap(), target);
        }
    }
    assert_eq!(change(&workspace, write("out/x", "x")).unwrap_err().reason(), Reason::PathEscapeAttempt);
    // A link that leads nowhere is no folder that could be made.
    symlink("not/there", fixture.root().join("far")).unwrap();
    for create in [true, false] {
        let outcomes = batch(&workspace, &[write_as("far/x", "x", WriteMode::Create, create)]);
        assert_eq!(reasons(&outcomes), [Some(Reason::IsSymlink)]);
    }
    change(&workspace, delete("far")).unwrap();
    change(&workspace, delete("link")).unwrap();
    assert_eq!(fixture.all_names(), ["d", "d/a", "folder", "out"]);
    assert_eq!(fs::read_dir(fixture.outside()).unwrap().count(), 0);
}

#[test]
fn writing_what_is_there_already_touches_nothing() {
    let fixture = Fixture::new();
    fixture.put("a", "same\n");
    let workspace = fixture.open();
    let inode = fs::metadata(fixture.root().join("a")).unwrap().ino();
    let FileChanged::Written(written) = change(&workspace, write("a", "same\n")).unwrap() else { panic!() };
    assert_eq!((written.created, written.lines_added, written.lines_removed), (false, 0, 0));
    assert_eq!(fs::metadata(fixture.root().join("a")).unwrap().ino(), inode);
}

#[test]
fn bytes_next_to_the_edited_lines_never_change() {
    let fixture = Fixture::new();
    let utf16 = |text: &str| -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect()
    };
    let files: [(&str, Vec<u8>, Vec<u8>); 5] = [
        ("mixed", b"a\r\nb\nc\r\nd\r\n".to_vec(), b"a\r\nX\r\nc\r\nd\r\n".to_vec()),
        ("bom", b"\xef\xbb\xbfa\nb".to_vec(), b"\xef\xbb\xbfa\nX".to_vec()),
        ("latin1", b"caf\xe9\nb\ncaf\xe9".to_vec(), b"caf\xe9\nX\ncaf\xe9".to_vec()),
        ("utf16", utf16("a\nb\n\u{1f600}"), utf16("a\nX\n\u{1f600}")),
        (
            "zeros",
            [b"a\nb\n".to_vec(), vec![b'x'; 9_000], vec![0]].concat(),
            [b"a\nX\n".to_vec(), vec![b'x'; 9_000], vec![0]].concat(),
        ),
    ];
    let workspace = fixture.open();
    for (name, before, after) in &files {
        fixture.put(name, before);
        change(&workspace, replace(name, (2, 2), "X", None)).unwrap();
        assert_eq!(&fs::read(fixture.root().join(name)).unwrap(), after, "{name}");
    }
    fixture.put("binary", b"a\0\nb\n");
    let error = change(&workspace, replace("binary", (2, 2), "X", None)).unwrap_err();
    assert_eq!(error.reason(), Reason::BinaryFile);
}

#[test]
fn requests_and_files_that_are_too_large_are_refused() {
    let fixture = Fixture::new();
    fixture.put("small", "x\n");
    let file = fs::File::create(fixture.root().join("large")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    let workspace = fixture.open();
    let request = "x".repeat((16 << 20) + 1);
    let outcomes = batch(
        &workspace,
        &[
            write("new", &request),
            replace("small", (1, 1), &request, None),
            write("large", "x"),
            delete("large"),
            replace("large", (1, 1), "x", None),
        ],
    );
    let too_large = [Some(Reason::RequestTooLarge); 2].into_iter().chain([Some(Reason::FileTooLarge); 3]);
    assert_eq!(reasons(&outcomes), too_large.collect::<Vec<_>>());
    assert_eq!(fixture.all_names(), ["large", "small"]);
}

#[test]
fn batch_holds_a_bounded_number_of_bytes() {
    let fixture = Fixture::new();
    let file = fs::File::create(fixture.root().join("large")).unwrap();
    file.set_len(60 << 20).unwrap();
    let workspace = fixture.open();
    let append = write_as("large", "x", WriteMode::Append, false);
    let outcomes = batch(&workspace, &[append.clone(), append.clone(), append]);
    let refused = Some(Reason::RequestTooLarge);
    assert_eq!(reasons(&outcomes), [None, None, refused]);
    assert_eq!(fs::metadata(fixture.root().join("large")).unwrap().len(), (60 << 20) + 2);
}

#[test]
fn file_without_a_write_bit_and_workspace_that_is_gone_are_refused() {
    let fixture = Fixture::new();
    fixture.put("read only", "x\n");
    let path = fixture.root().join("read only");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let workspace = fixture.open();
    for request in [write("read only", "y"), replace("read only", (1, 1), "y", None), delete("read only")] {
        assert_eq!(change(&workspace, request).unwrap_err().reason(), Reason::ReadOnly);
    }
    fs::remove_dir_all(fixture.root()).unwrap();
    for reason in [
        change(&workspace, write("a", "x")).unwrap_err().reason(),
        read(&workspace, "a").unwrap_err().reason(),
        workspace.workspace_info(&Caller::once().call()).unwrap_err().reason(),
    ] {
        assert_eq!(reason, Reason::PathNotFound);
    }
}

#[test]
fn log_has_one_line_for_each_change_whatever_the_request_says() {
    let fixture = Fixture::new();
    let journal = fixture.open_journal();
    let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
    let odd = format!("line\nfeed {}", "x".repeat(10_000));
    batch(&workspace, &[write("a", "x"), write(&odd, "x"), delete("nope")]);
    workspace.execute_command(&Caller::once().call(), &command("true\ntrue"), &mut Unobserved).unwrap();
    let runs = journal.reader().runs(&Default::default(), 10).unwrap();
    let steps = runs.iter().rev().flat_map(|run| journal.reader().steps(run.number).unwrap());
    let descriptions: Vec<_> = steps.map(|step| step.description).collect();
    assert_eq!(descriptions.len(), 4);
    assert_eq!((&*descriptions[0], &*descriptions[2]), ("write a", "delete nope"));
    assert!(descriptions.iter().all(|text| text.len() < 300 && !text.contains('\n')), "{descriptions:?}");
}

#[test]
fn reply_of_ten_file_blocks_waits_for_two_commits() {
    let fixture = Fixture::new();
    let journal = fixture.open_journal();
    let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
    let caller = Caller::numbered(1).durable();
    let key = change_journal::RunKey {
        conversation: caller.origin.conversation.0.clone(),
        sequence: 1,
        content: change_journal::ContentHash::of(caller.origin.run.digest.as_bytes()),
    };
    let change_journal::RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("it is new") };
    let before = journal.counts();
    let changes: Vec<_> = (0..10).map(|file| write(&format!("d{file}/f"), "content\n")).collect();
    assert_eq!(reasons(&workspace.change_files(&caller.call(), &changes).unwrap()), [None; 10]);
    journal.finish_run(run.number(), b"done", &[]).unwrap();
    let after = journal.counts();
    assert_eq!((after.commits - before.commits, after.file_syncs - before.file_syncs), (2, 0));
}

/// An expression that looks at the rest of the text once more for every letter: next to non-ASCII letters, word
/// boundaries are decided by the slowest search.
fn slow_edit(path: &str) -> FileChange {
    let operation = ModifyOperation::RegexReplace {
        pattern: r"(?s)é.*\bz|é".into(),
        replacement: "x".into(),
        flags: Some("g".into()),
    };
    FileChange::Modify(ModifyFile { path: path.into(), operations: vec![operation], ..ModifyFile::default() })
}

#[test]
fn a_long_edit_delays_no_other_call_and_ends_when_it_is_cancelled() {
    let fixture = Fixture::new();
    let text = "é".repeat(1 << 22);
    fixture.put("long", &text);
    let workspace = fixture.open();
    let cancel = CancelFlag::new();
    std::thread::scope(|scope| {
        let long = scope.spawn(|| {
            let caller = Caller::once();
            workspace.change_files(&Call { cancel: &cancel, ..caller.call() }, &[slow_edit("long")])
        });
        // Meanwhile, others change anything, including the same file.
        for round in 0..20 {
            change(&workspace, write("short", &format!("{round}\n"))).unwrap();
        }
        change(&workspace, write("long.copy", "x\n")).unwrap();
        assert!(!long.is_finished(), "the control: the long edit is still at work");
        cancel.cancel();
        assert_eq!(long.join().unwrap().unwrap_err().reason(), Reason::Cancelled);
    });
    assert_eq!(fixture.text("long").unwrap(), text);
}

#[test]
fn an_edit_that_was_overtaken_is_made_on_what_is_there_then() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    let edit = |pattern: &str| {
        let operation = ModifyOperation::RegexReplace {
            pattern: pattern.into(),
            replacement: "$&.".into(),
            flags: Some("g".into()),
        };
        FileChange::Modify(ModifyFile {
            path: "a".into(),
            operations: vec![operation],
            ..ModifyFile::default()
        })
    };
    fixture.put("a", "start\n");
    std::thread::scope(|scope| {
        for letter in ["s", "t", "a", "r"] {
            let (workspace, edit) = (&workspace, &edit);
            scope.spawn(move || (0..10).for_each(|_| drop(change(workspace, edit(letter)).unwrap())));
        }
    });
    let expected: String =
        ["s", "t", "a", "r", "t"].map(|letter| format!("{letter}{}", ".".repeat(10))).concat();
    assert_eq!(fixture.text("a").unwrap(), format!("{expected}\n"), "every edit has seen those before it");
}

#[test]
fn a_diff_is_no_text_of_a_file_of_code() {
    let fixture = Fixture::new();
    fixture.put("a.py", "x = 1\n");
    let workspace = fixture.open();
    let diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n";
    let outcomes = batch(&workspace, &[write("a.py", diff), write("b.py", diff), write("a.patch", diff)]);
    assert_eq!(reasons(&outcomes), [Some(Reason::InvalidField), Some(Reason::InvalidField), None]);
    assert_eq!(fixture.text("a.py").unwrap(), "x = 1\n");
    assert_eq!(fixture.text("a.patch").unwrap(), diff);
}
