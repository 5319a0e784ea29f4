//! Layers whose adoption a crash interrupted.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use change_journal::{ChangeRecord, Content, EntryRecord, RunKey, RunNumber, RunState, StepKind, StepRecord};
use cow_layer::{Layer, LayerStore, ScanRules};
use local_workspace::{Recovery, effects_are_recorded};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

use crate::fixture::workspace::Fixture;

/// Makes the layer of a command, the first step of a run.
fn new_layer(fixture: &Fixture, run: RunNumber) -> Layer {
    let layers = fixture.path().join("state/layers");
    fs::create_dir(&layers).unwrap();
    let root = FileRoot::open(&fixture.root(), &RootRules::default(), FsPolicy::default()).unwrap();
    let store = LayerStore::open(File::open(&layers).unwrap().into(), &layers, Arc::new(root)).unwrap();
    store.create(&format!("{}-0", run.0).parse().unwrap()).unwrap()
}

/// Makes a workspace with `dir/big`, whose contents the journal does not keep, and the layer of a command that changed it. The crash
/// came when the change was recorded, and before it was adopted. Returns also the folder of the layer.
fn interrupted() -> (Fixture, PathBuf) {
    let fixture = Fixture::new();
    fixture.put("dir/big", "theirs\n");
    let journal = fixture.open_journal();
    let RunState::New(run) = journal.begin_run(&RunKey::once("a client", b"1")).unwrap() else {
        panic!("the journal is new");
    };
    let layer = new_layer(&fixture, run.number());
    let upper = layer.mount_spec().upper;
    fs::create_dir(upper.join("dir")).unwrap();
    fs::write(upper.join("dir/big"), "the command's\n").unwrap();
    for name in ["dir", "dir/big"] {
        rustix::fs::lsetxattr(upper.join(name), "user.overlay.origin", b"", rustix::fs::XattrFlags::empty())
            .unwrap();
    }
    let changes = layer.changes(ScanRules::default()).unwrap();
    layer.sync(changes.iter()).unwrap();
    layer.seal(&changes).unwrap();
    let unkept = || EntryRecord { content: Content::NotKept(None), ..EntryRecord::file(b"") };
    let step = StepRecord {
        kind: StepKind::ShellCommand,
        description: "make it",
        outcome: b"{}",
        changes: vec![ChangeRecord::intended(b"dir/big", Some(unkept()), Some(unkept()))],
    };
    journal.record_steps(run.number(), 0, &[step]).unwrap();
    (fixture, upper.parent().unwrap().to_owned())
}

/// Opens the workspace as a user for whom permission bits count.
fn open_as_ordinary(fixture: &Fixture) -> Recovery {
    thread::scope(|scope| {
        let opened = scope.spawn(|| {
            let mut sets = capabilities(None).unwrap();
            sets.effective.remove(CapabilitySet::DAC_OVERRIDE);
            set_capabilities(None, sets).unwrap();
            fixture.open_with(fixture.open_journal(), fixture.config()).1
        });
        opened.join().unwrap()
    })
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_change_that_cannot_be_adopted_now_is_adopted_at_the_next_opening() {
    let (fixture, layer) = interrupted();
    let folder = fixture.root().join("dir");
    set_mode(&folder, 0o555);
    let recovery = open_as_ordinary(&fixture);
    assert_eq!(recovery.failed.len(), 1, "{recovery:?}");
    assert_eq!(recovery.failed[0].0, "dir/big");
    assert_eq!(fixture.text("dir/big").as_deref(), Some("theirs\n"));
    assert!(layer.exists(), "the layer has the only copy");
    set_mode(&folder, 0o755);
    let recovery = open_as_ordinary(&fixture);
    assert!(recovery.is_empty(), "{recovery:?}");
    assert_eq!(fixture.text("dir/big").as_deref(), Some("the command's\n"));
    assert!(!layer.exists());
}

#[test]
fn a_change_that_another_program_is_in_the_way_of_is_given_up_with_its_layer() {
    let (fixture, layer) = interrupted();
    fixture.put("dir/big", "theirs, saved again\n");
    let recovery = open_as_ordinary(&fixture);
    assert_eq!(recovery.conflicts, ["dir/big"], "{recovery:?}");
    assert_eq!(fixture.text("dir/big").as_deref(), Some("theirs, saved again\n"));
    assert!(!layer.exists());
}

#[test]
fn a_quarantined_layer_stays() {
    let (fixture, layer) = interrupted();
    let kept = layer.with_file_name("kept-7-0");
    fs::rename(&layer, &kept).unwrap();
    open_as_ordinary(&fixture);
    assert!(kept.join("upper/dir/big").exists());
}

#[test]
fn a_change_stays_open_while_the_layers_cannot_be_used() {
    let (fixture, layer) = interrupted();
    let layers = layer.parent().unwrap();
    let elsewhere = layers.with_file_name("layers-elsewhere");
    fs::rename(layers, &elsewhere).unwrap();
    fs::write(layers, "not a folder").unwrap();
    let recovery = open_as_ordinary(&fixture);
    assert_eq!(recovery.failed.len(), 1, "{recovery:?}");
    assert!(recovery.failed[0].1.contains("the folder for layers cannot be used"), "{recovery:?}");
    assert_eq!(recovery.conflicts, Vec::<String>::new());
    fs::remove_file(layers).unwrap();
    fs::rename(&elsewhere, layers).unwrap();
    assert!(open_as_ordinary(&fixture).is_empty());
    assert_eq!(fixture.text("dir/big").as_deref(), Some("the command's\n"));
}

#[test]
fn a_damaged_layer_with_open_changes_is_quarantined() {
    let (fixture, layer) = interrupted();
    fs::write(layer.join("moment"), "").unwrap();
    let recovery = open_as_ordinary(&fixture);
    let name = format!("kept-{}", layer.file_name().unwrap().to_str().unwrap());
    assert!(recovery.failed[0].1.contains(&format!("layers/{name}")), "{recovery:?}");
    assert_eq!(fixture.text("dir/big").as_deref(), Some("theirs\n"));
    let kept = layer.with_file_name(name).join("upper/dir/big");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "the command's\n");
    open_as_ordinary(&fixture);
    assert!(kept.exists(), "it stays");
}

#[test]
fn a_command_that_was_killed_on_a_layer_is_known_to_have_changed_nothing() {
    for has_layer in [true, false] {
        let fixture = Fixture::new();
        let journal = fixture.open_journal();
        let RunState::New(run) = journal.begin_run(&RunKey::once("a client", b"1")).unwrap() else {
            panic!("the journal is new");
        };
        let number = run.number();
        journal.start_step(number, 0, StepKind::ShellCommand, "make it").unwrap();
        if has_layer {
            let layer = new_layer(&fixture, number);
            fs::write(layer.mount_spec().upper.join("made"), "by the command\n").unwrap();
        }
        drop((run, journal));
        // Without its layer, a later opening knows it from the record alone.
        for _ in 0..2 {
            drop(fixture.open());
            let steps = fixture.open_journal().reader().steps(number).unwrap();
            assert_eq!(effects_are_recorded(&steps[0]), has_layer, "{:?}", steps[0]);
            assert_eq!(fixture.text("made"), None);
        }
    }
}
