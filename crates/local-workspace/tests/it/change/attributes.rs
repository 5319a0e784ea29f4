//! Access lists and other extended attributes come through edits, commands, undo and recovery; nothing widens access.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use change_journal::{ChangeNumber, Journal, RunNumber};
use local_workspace::{LocalWorkspace, Undo, UndoError, Undone};
use rustix::fs::XattrFlags;
use rustix::io::Errno;
use wap_core::*;

use crate::fixture::workspace::*;

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";
const NONE: u32 = u32::MAX;

fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let entry = |(tag, rights, id): &(u16, u16, u32)| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    [2u32.to_le_bytes().to_vec(), entries.iter().flat_map(entry).collect()].concat()
}

/// The owner does everything, the user 12345 reads, the owning group and others do nothing; as bits `rwxr-----`.
fn one_reader() -> Vec<u8> {
    list(&[(1, 7, NONE), (2, 4, 12345), (4, 0, NONE), (0x10, 4, NONE), (0x20, 0, NONE)])
}

fn set(path: &Path, name: &str, value: &[u8]) {
    rustix::fs::setxattr(path, name, value, XattrFlags::empty())
        .unwrap_or_else(|errno| panic!("{name} cannot be set in the folder for tests: {errno}"));
}

fn value(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 65_536];
    match rustix::fs::getxattr(path, name, &mut value[..]) {
        Ok(length) => Some(value[..length].to_vec()),
        Err(Errno::NODATA) => None,
        Err(errno) => panic!("{name} of {}: {errno}", path.display()),
    }
}

struct OpenFixture {
    fixture: Fixture,
    journal: Journal,
    workspace: LocalWorkspace,
}

impl OpenFixture {
    /// A workspace with a file `d/secret` and a folder `d/inner` that one other user may read.
    fn new(layered: Layered) -> OpenFixture {
        let fixture = Fixture::new();
        fixture.put("d/secret", "1\n2\n");
        fixture.put("d/inner/kept", "x\n");
        for name in ["d/secret", "d/inner"] {
            let path = fixture.root().join(name);
            set(&path, ACCESS, &one_reader());
            set(&path, "user.note", b"a note");
        }
        let journal = fixture.open_journal();
        let workspace = fixture.open_with(journal.clone(), fixture.layered_config(layered)).0;
        OpenFixture { fixture, journal, workspace }
    }

    fn undo_last(&self) -> Result<Undone, UndoError> {
        let all = self.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap();
        let run = all.last().map_or(RunNumber(1), |change| change.run);
        self.workspace.undo(&Caller::once().call(), &Undo::Run(run))
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.fixture.root().join(name)
    }

    #[track_caller]
    fn is_for_one_reader(&self, name: &str) {
        let path = self.at(name);
        assert_eq!(value(&path, ACCESS), Some(one_reader()), "{name}");
        assert_eq!(value(&path, "user.note").as_deref(), Some(&b"a note"[..]), "{name}");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o740, "{name}");
    }
}

#[test]
fn edits_writes_and_their_undo_keep_the_access_list() {
    let opened = OpenFixture::new(Layered::Yes);
    change(&opened.workspace, replace("d/secret", (2, 2), "two", None)).unwrap();
    assert_eq!(opened.fixture.text("d/secret").as_deref(), Some("1\ntwo\n"));
    opened.is_for_one_reader("d/secret");
    opened.undo_last().unwrap();
    assert_eq!(opened.fixture.text("d/secret").as_deref(), Some("1\n2\n"));
    opened.is_for_one_reader("d/secret");
    change(&opened.workspace, write("d/secret", "anew\n")).unwrap();
    opened.is_for_one_reader("d/secret");
}

#[test]
fn a_deleted_file_comes_back_with_its_access_list_and_goes_and_comes_again() {
    let opened = OpenFixture::new(Layered::Yes);
    // What the folder gives to new files is not for what comes back.
    let wide = list(&[(1, 7, NONE), (2, 7, 777), (4, 7, NONE), (0x10, 7, NONE), (0x20, 7, NONE)]);
    set(&opened.at("d"), DEFAULT, &wide);
    change(&opened.workspace, delete("d/secret")).unwrap();
    opened.undo_last().unwrap();
    opened.is_for_one_reader("d/secret");
    opened.undo_last().unwrap();
    assert!(!opened.at("d/secret").exists());
    opened.undo_last().unwrap();
    opened.is_for_one_reader("d/secret");
    // The control: a new file does inherit the folder's attributes.
    change(&opened.workspace, write("d/new", "x\n")).unwrap();
    assert!(value(&opened.at("d/new"), ACCESS).is_some());
}

#[test]
fn what_commands_do_to_access_lists_is_adopted_and_taken_back() {
    let opened = OpenFixture::new(Layered::Yes);
    let response = run(&opened.workspace, "echo 3 >> d/secret; rm -r d/inner; echo y > d/plain").unwrap();
    assert!(response.sandbox.contains("layer=overlay"), "this test needs a layer: {}", response.sandbox);
    assert_eq!(opened.fixture.text("d/secret").as_deref(), Some("1\n2\n3\n"));
    opened.is_for_one_reader("d/secret");
    assert_eq!(value(&opened.at("d/secret"), "user.overlay.origin"), None);
    assert!(!opened.at("d/inner").exists());
    opened.undo_last().unwrap();
    assert_eq!(opened.fixture.text("d/secret").as_deref(), Some("1\n2\n"));
    opened.is_for_one_reader("d/secret");
    opened.is_for_one_reader("d/inner");
    assert_eq!(opened.fixture.text("d/inner/kept").as_deref(), Some("x\n"));
}

#[test]
fn a_list_that_a_command_has_widened_is_narrow_again_after_the_undo() {
    let opened = OpenFixture::new(Layered::Yes);
    // A program that needs nothing but the shell: a copy without the list takes the place of the file.
    run(&opened.workspace, "cp d/secret copy; chmod 666 copy; mv -f copy d/secret").unwrap();
    assert_eq!(
        value(&opened.at("d/secret"), ACCESS),
        None,
        "the control: the command has taken the list away"
    );
    opened.undo_last().unwrap();
    opened.is_for_one_reader("d/secret");
}

#[test]
fn without_a_layer_what_comes_back_has_its_list_too() {
    let opened = OpenFixture::new(Layered::No);
    run(&opened.workspace, "rm -r d").unwrap();
    opened.undo_last().unwrap();
    for name in ["d/secret", "d/inner"] {
        opened.is_for_one_reader(name);
    }
}

#[test]
fn an_undo_that_a_crash_has_cut_short_gives_the_list_back() {
    let opened = OpenFixture::new(Layered::Yes);
    change(&opened.workspace, delete("d/secret")).unwrap();
    run(&opened.workspace, "rm -r d/inner").unwrap();
    opened.workspace.checkpoint();
    let recorded = opened.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap();
    let OpenFixture { fixture, journal, workspace } = opened;
    drop(workspace);
    // As a daemon leaves it that is killed right after the commit of the undo.
    let key = change_journal::RunKey::once("undo", b"killed");
    let change_journal::RunState::New(run) = journal.begin_run(&key).unwrap() else {
        panic!("the run is new")
    };
    let back = recorded.iter().map(|change| {
        let before = change.before.unwrap();
        let entry = change_journal::EntryRecord {
            kind: before.kind,
            content: change_journal::Content::Held(before.content.unwrap()),
            mode: before.mode,
            attributes: change_journal::Attributes::Recorded(before.attributes),
        };
        change_journal::ChangeRecord::intended(&change.path, None, Some(entry))
    });
    let step = change_journal::StepRecord {
        kind: change_journal::StepKind::FileChange,
        description: "undo",
        outcome: b"{}",
        changes: back.collect(),
    };
    journal.record_steps(run.number(), 0, &[step]).unwrap();
    drop((run, journal));
    let journal = fixture.open_journal();
    let (workspace, recovery) = fixture.open_with(journal.clone(), fixture.config());
    assert_eq!(recovery.redone, ["d/inner", "d/inner/kept", "d/secret"], "{recovery:?}");
    let opened = OpenFixture { fixture, journal, workspace };
    opened.is_for_one_reader("d/secret");
    opened.is_for_one_reader("d/inner");
}

#[test]
fn attributes_beyond_the_bound_refuse_the_change_and_nothing_is_lost() {
    let opened = OpenFixture::new(Layered::Yes);
    let file = opened.at("d/secret");
    // Not every file system accepts this much, so it may be less.
    let taken = (0..16)
        .take_while(|number| {
            let name = format!("user.large-{number}");
            rustix::fs::setxattr(&file, &*name, &vec![7; 60_000], XattrFlags::empty()).is_ok()
        })
        .count();
    let changed = change(&opened.workspace, replace("d/secret", (2, 2), "two", None));
    if taken >= 5 {
        let error = changed.unwrap_err();
        assert_eq!((error.code(), error.reason()), (ErrorCode::PermissionDenied, Reason::OsPermission));
        assert!(error.to_string().contains("262144 bytes"), "{error}");
        assert_eq!(opened.fixture.text("d/secret").as_deref(), Some("1\n2\n"));
        let refused = change(&opened.workspace, delete("d/secret")).unwrap_err();
        assert_eq!(refused.reason(), Reason::OsPermission);
    } else {
        changed.unwrap();
    }
    opened.is_for_one_reader("d/secret");
    for number in 0..taken {
        assert!(value(&file, &format!("user.large-{number}")).is_some());
    }
}

#[test]
fn a_plain_file_keeps_the_rights_of_its_group_through_delete_and_undo() {
    let opened = OpenFixture::new(Layered::Yes);
    opened.fixture.put("shared", "x\n");
    fs::set_permissions(opened.at("shared"), fs::Permissions::from_mode(0o660)).unwrap();
    change(&opened.workspace, delete("shared")).unwrap();
    opened.undo_last().unwrap();
    assert_eq!(fs::metadata(opened.at("shared")).unwrap().mode() & 0o777, 0o660);
    run(&opened.workspace, "rm shared").unwrap();
    opened.undo_last().unwrap();
    assert_eq!(fs::metadata(opened.at("shared")).unwrap().mode() & 0o777, 0o660);
}
