//! The judging of changes: its cost, and its refusals.

mod carried_lines;
mod changed_meanwhile;
mod failed_edits;
mod near_placeholders;
mod own_values;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory_workspace::MemoryWorkspace;
use secret_placeholders::{
    MemoryStore, PlaceholderStore, PlaceholderWorkspace, Secrets, StoreError, Withheld,
};
use wap_core::{
    Call, CancelFlag, FileChange, FileChanged, Limits, ModifyFile, ModifyOperation, QueryType, Reason,
    WapError, WholeLines, Workspace, WriteFile, WriteMode,
};

use crate::masking::token;
use crate::over_workspace::{over, read, search, with_call};
use crate::uncovering::text;

fn edit(
    workspace: &dyn Workspace,
    step: u32,
    path: &str,
    operations: Vec<ModifyOperation>,
) -> Result<FileChanged, WapError> {
    let change = FileChange::Modify(ModifyFile { path: path.into(), operations, ..ModifyFile::default() });
    with_call(step, |call| workspace.change_files(call, &[change])).unwrap().remove(0)
}

fn append(workspace: &dyn Workspace, step: u32, path: &str, content: &str) -> Result<FileChanged, WapError> {
    let change = FileChange::Write(WriteFile {
        path: path.into(),
        content: content.into(),
        mode: Some(WriteMode::Append),
        ..WriteFile::default()
    });
    with_call(step, |call| workspace.change_files(call, &[change])).unwrap().remove(0)
}

fn whole_lines(old_text: &str, new_text: &str) -> ModifyOperation {
    ModifyOperation::ReplaceText {
        old_text: old_text.into(),
        new_text: new_text.into(),
        expected_matches: None,
        whole_lines: Some(WholeLines::default()),
    }
}

#[test]
fn the_error_of_a_right_guess_does_not_show_a_name_that_is_a_secret() {
    let name = &*Box::leak(format!("{}.txt", token()).into_boxed_str());
    let other = token().replace("a1B2", "z9Y8");
    let masked = over([(name, format!("const k = \"{other}\";\n"))]);
    let path = "⟦secret:npm-token:1⟧.txt";
    assert_eq!(read(&masked, name, None), "const k = \"⟦secret:npm-token:1⟧\";\n");
    let named = with_call(0, |call| masked.explore_files(call, &wap_core::ExploreFiles::default())).unwrap();
    let path = named.files.iter().map(|file| file.path.clone()).find(|name| name != path).unwrap();
    assert!(path.starts_with("⟦secret:"), "{path}");
    let answer = |step, guess: &str| {
        let error = edit(&masked, step, &path, vec![text(guess, "")]).unwrap_err();
        assert_eq!(error.reason(), Reason::Conflict, "{error:?}");
        assert!(!format!("{error:?}").contains(&token()), "{error:?}");
        assert!(format!("{error:?}").contains(&path), "{error:?}");
        format!("{error:?}").replace(guess, "?")
    };
    assert_eq!(answer(1, "npm_z9Y8c"), answer(2, "npm_z9Y8d"));
    // The control: the engine's own error names the file.
    let error = edit(masked.inner(), 3, name, vec![text("npm_z9Y8d", "")]).unwrap_err();
    assert!(format!("{error:?}").contains(&token()), "{error:?}");
}

#[test]
fn a_request_that_is_too_large_is_refused_before_it_is_judged() {
    let masked = over([("a.js", format!("const k = \"{}\";", token()))]);
    let operations = |count| vec![text("npm_", "npm "); count];
    let most = Limits::MAX_OPERATIONS;
    let refusal = edit(&masked, 1, "a.js", operations(most + 1)).unwrap_err();
    assert_eq!(refusal, edit(masked.inner(), 2, "a.js", operations(most + 1)).unwrap_err());
    // The control: a change that is not too large is judged, and answered as if the secret were not there.
    let judged = edit(&masked, 3, "a.js", vec![text("npm_", "npm ")]).unwrap_err();
    assert_eq!(judged.reason(), Reason::Conflict);
    assert_ne!(refusal.reason(), judged.reason());
    let content = "x".repeat(usize::try_from(Limits::MAX_REQUEST_BYTES).unwrap() + 1);
    let refusal = append(&masked, 4, "a.js", &content).unwrap_err();
    assert_eq!(refusal.reason(), Reason::RequestTooLarge);
    append(&masked, 5, "a.js", "x").unwrap();
}

/// Counts the durable changes of the map.
pub(crate) struct Counted(pub(crate) MemoryStore, pub(crate) Arc<AtomicUsize>);

impl PlaceholderStore for Counted {
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.read()
    }

    fn revision(&self) -> Result<u64, StoreError> {
        self.0.revision()
    }

    fn update(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Result<(), StoreError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.update(change)
    }
}

/// A store that raises a flag when the first value is kept, and the text is about to be searched once more.
struct Cancelling(Counted, CancelFlag);

impl PlaceholderStore for Cancelling {
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.read()
    }

    fn revision(&self) -> Result<u64, StoreError> {
        self.0.revision()
    }

    fn update(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Result<(), StoreError> {
        self.1.cancel();
        self.0.update(change)
    }
}

#[test]
fn an_edit_that_is_cancelled_ends_the_search_for_secrets() {
    let line = ["PASSWORD=", "k7Qz", "Wm2Rt9x\n"].concat();
    for is_cancelled in [true, false] {
        let (updates, cancel) = (Arc::new(AtomicUsize::new(0)), CancelFlag::new());
        let counted = Counted(MemoryStore::default(), Arc::clone(&updates));
        let raised = if is_cancelled { cancel.clone() } else { CancelFlag::new() };
        let masked = PlaceholderWorkspace::new(
            MemoryWorkspace::with_files([("a.txt", line.clone() + "one\n")]),
            Some(Arc::new(Secrets::open(Cancelling(counted, raised)).unwrap())),
            Withheld::default(),
        );
        let operations = vec![ModifyOperation::ReplaceText {
            old_text: "one".into(),
            new_text: "two".into(),
            expected_matches: None,
            whole_lines: None,
        }];
        let change =
            FileChange::Modify(ModifyFile { path: "a.txt".into(), operations, ..ModifyFile::default() });
        let outcome = with_call(0, |call| {
            masked.change_files(&Call { cancel: &cancel, ..*call }, &[change]).unwrap().remove(0)
        });
        let text = masked.inner().text("a.txt").unwrap();
        let word = if is_cancelled { "one\n" } else { "two\n" };
        assert_eq!((text, updates.load(Ordering::Relaxed)), (line.clone() + word, 1));
        if is_cancelled {
            let error = outcome.unwrap_err();
            assert_eq!(error.reason(), Reason::Cancelled);
            insta::assert_snapshot!(error, @"the call was cancelled before the file was changed");
        } else {
            assert!(outcome.is_ok(), "{outcome:?}");
        }
    }
}

#[test]
fn many_invented_placeholders_are_kept_in_few_writes() {
    let updates = Arc::new(AtomicUsize::new(0));
    let store = Counted(MemoryStore::default(), Arc::clone(&updates));
    let files = [("a.txt", "open".to_owned()), ("done.txt", "done\n".to_owned())];
    let masked = PlaceholderWorkspace::new(
        MemoryWorkspace::with_files(files),
        Some(Arc::new(Secrets::open(store).unwrap())),
        Withheld::default(),
    );
    // Their own placeholders are named like some of them.
    let invented: String = (1..=200).rev().map(|number| format!("⟦secret:literal:{number}⟧\n")).collect();
    append(&masked, 1, "a.txt", &invented).unwrap();
    let open = updates.load(Ordering::Relaxed);
    append(&masked, 2, "done.txt", &invented.replace("literal", "none")).unwrap();
    let done = updates.load(Ordering::Relaxed) - open;
    assert!((1..=4).contains(&open) && done <= 4, "{open} {done}");
    // The control: they are data, and each now has a separate placeholder.
    let given: String = (1..=200).map(|number| format!("⟦secret:literal:{number}⟧\n")).collect();
    assert_eq!(read(&masked, "a.txt", None), format!("open{given}"));
    assert_eq!(masked.inner().text("a.txt").unwrap(), format!("open{invented}"));
}

#[test]
fn what_is_appended_to_a_line_of_a_file_that_is_too_large_to_judge_begins_with_a_line_break() {
    let long = "x".repeat(2 << 20);
    let key = ["AKIA", "IOSFODNN7EXAMPLQ"].concat();
    let lines =
        [("key ", key.as_str(), "Z9"), ("pwd: \"", "postgres", ".changeme\""), ("token = ", &key, "xxx")];
    let mut uncovered = 0;
    for (before, value, tail) in lines {
        let files = || [("a.js", format!("{long}\n{before}{value}"))];
        let last = |masked: &_| read(masked, "a.js", Some((2, 2)));
        let masked = over(files());
        let error = append(&masked, 1, "a.js", tail).unwrap_err();
        assert_eq!(error.reason(), Reason::Protected, "{error:?}");
        append(&masked, 2, "a.js", &format!("\n{tail}\n")).unwrap();
        // A file that ends with a line takes any.
        append(&masked, 3, "a.js", &format!("{tail}\n")).unwrap();
        // The control: joined to the line, it can hide the value from its rule.
        let masked = over(files());
        append(masked.inner(), 1, "a.js", tail).unwrap();
        let is_hidden_alone = !last(&over(files())).contains(value);
        uncovered += usize::from(is_hidden_alone && last(&masked).contains(value));
    }
    assert!(uncovered > 0);
}

#[test]
fn a_short_value_may_become_a_part_of_a_longer_one() {
    let masked = over([("a.js", "const pwd = \"postgres\";\n".to_owned())]);
    assert_eq!(read(&masked, "a.js", None), "const pwd = \"⟦secret:password-assignment:1⟧\";\n");
    append(&masked, 1, "a.js", "pwd = \"⟦secret:password-assignment:1⟧!\"\n").unwrap();
    assert!(masked.inner().text("a.js").unwrap().ends_with("pwd = \"postgres!\"\n"));
    assert!(!read(&masked, "a.js", None).contains("postgres"));
    // The control: where it would be shown it is refused, although the same value is hidden next to it.
    let visible = "pwd = \"postgres\"\ncolour ⟦secret:password-assignment:1⟧\n";
    let error = append(&masked, 2, "a.js", visible).unwrap_err();
    assert_eq!(error.reason(), Reason::InvalidField, "{error:?}");
}

#[test]
fn a_search_finds_copies_of_files_of_credentials_without_a_secret() {
    let clean = [
        "ca.pem",
        "ca.pem.orig",
        "a/.npmrc.bak",
        "a/#.npmrc#",
        "a/.ca.pem.swp",
        "A.PEM~",
        "docker.gpg.key",
        "a/Docker.GPG.key.bak",
    ];
    let files = clean.map(|path| (path, "registry=here\n".to_owned()));
    let secret = ("b/.npmrc.bak", format!("registry=here {}\n", token()));
    let masked = over(files.into_iter().chain([secret]));
    let hits = with_call(0, |call| masked.search_files(call, &search("registry", QueryType::Literal)));
    let mut paths: Vec<String> = hits.unwrap().matches.into_iter().map(|hits| hits.path).collect();
    paths.sort_unstable();
    let mut wanted = clean.map(str::to_owned);
    wanted.sort_unstable();
    // Without the copy that has a secret: the control.
    assert_eq!(paths, wanted);
}

#[test]
fn an_append_without_a_version_says_how_to_get_one_if_the_file_may_be_read() {
    let files = [(".npmrc", "registry=here\n".to_owned()), (".env", "X=1\n".to_owned())];
    let masked = over(files);
    let warnings = |step, path| match append(&masked, step, path, "y=1\n").unwrap() {
        FileChanged::Written(written) => {
            assert_eq!(written.version, None);
            written.warnings.join("; ")
        }
        other => panic!("{other:?}"),
    };
    assert!(warnings(1, ".npmrc").contains("read the file again for its version"));
    // The control: one that is always left out cannot be read.
    assert!(!warnings(2, ".env").contains("read the file again"));
}
