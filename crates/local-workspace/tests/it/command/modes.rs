//! No command leaves a set-user-ID program, a capability, a device or a file of another owner, wherever it may write, nor
//! does an undo or a recovery bring one back. The tricks are those of `fixtures/modes/tricks.json`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use change_journal::{ChangeNumber, Journal, RunNumber};
use local_workspace::{EngineConfig, LocalWorkspace, Undo};
use sandbox_exec::Level;

use crate::fixture::workspace::*;
use crate::tricks::{Trick, left_in, tricks};

/// The ways in which a command may write.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// On a layer, from which it is adopted.
    Layer,
    /// On the folder itself, which is compared.
    Folder,
    /// In a build folder that is seen through the layer. Nothing looks at it afterwards.
    BuildFolder,
    /// In a folder outside that the user has named. Nothing looks at it afterwards.
    Cache,
    /// On the folder itself, with no more than the filter of modes.
    LevelProcess,
    /// On the folder itself, with no filter at all.
    Unconfined,
}

struct Scene {
    fixture: Fixture,
    journal: Journal,
    workspace: LocalWorkspace,
    /// The folder of the tricks, as it is called outside and inside.
    folder: PathBuf,
    visible_folder: String,
}

impl Scene {
    fn new(way: Way) -> Scene {
        let fixture = Fixture::new();
        let layered = match way {
            Way::Layer | Way::BuildFolder | Way::Cache => Layered::Yes,
            _ => Layered::No,
        };
        let mut config: EngineConfig = fixture.layered_config(layered);
        let cache = fixture.path().join("cache");
        fs::create_dir(&cache).unwrap();
        match way {
            Way::Cache => config.policy.writable.push(cache.clone()),
            Way::LevelProcess => config.launcher.highest_level = Level::Process,
            Way::Unconfined => config.launcher.highest_level = Level::None,
            _ => {}
        }
        let (folder, visible_folder) = match way {
            Way::Cache => (cache.clone(), cache.to_str().unwrap().to_owned()),
            Way::BuildFolder => {
                fixture.put(".gitignore", "target/\n");
                fs::create_dir(fixture.root().join("target")).unwrap();
                (fixture.root().join("target"), "target".to_owned())
            }
            _ => (fixture.root(), ".".to_owned()),
        };
        let journal = fixture.open_journal();
        let workspace = fixture.open_with(journal.clone(), config).0;
        Scene { fixture, journal, workspace, folder, visible_folder }
    }

    fn look(&self, what: &str) {
        for folder in [self.fixture.root(), self.fixture.path().join("cache"), self.folder.clone()] {
            let left = left_in(&folder);
            assert!(left.is_empty(), "{what}: {left:?}");
        }
    }

    fn last_run(&self) -> Option<RunNumber> {
        let changes = self.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap();
        changes.last().map(|change| change.run)
    }

    /// Reverts the last run, if it is not `before`, and then the undo itself.
    fn undo_and_redo(&self, before: Option<RunNumber>, what: &str) {
        let mut last = before;
        for _ in 0..2 {
            let run = self.last_run();
            if run == last {
                return;
            }
            last = run;
            // What is of a kind that is not recorded cannot be undone; then nothing is changed.
            let _ = self.workspace.undo(&Caller::once().call(), &Undo::Run(run.unwrap()));
            self.look(what);
        }
    }
}

/// Carries out every trick that is meant, and says what each answered.
fn try_all(way: Way, is_meant: impl Fn(&Trick) -> bool) -> Vec<(String, String)> {
    let scene = Scene::new(way);
    let mut said = Vec::new();
    for trick in tricks().into_iter().filter(|trick| trick.is_possible() && is_meant(trick)) {
        let what = format!("{way:?}: {}", trick.name);
        trick.set_up(&scene.folder);
        let before = scene.last_run();
        let answer = run(&scene.workspace, &trick.in_folder(&scene.visible_folder));
        scene.look(&what);
        scene.undo_and_redo(before, &what);
        said.push((
            trick.name.clone(),
            answer.map_or_else(|error| format!("{error:?}"), |answer| format!("{answer:?}")),
        ));
    }
    said
}

/// A level below full is what the machine gives when asked for no more; the others are the machine's own.
fn is_full(fixture: &Fixture) -> bool {
    run(&fixture.open(), "true").unwrap().sandbox.contains("level=full")
}

#[test]
fn no_trick_leaves_anything_in_any_place_that_a_command_may_write() {
    assert!(is_full(&Fixture::new()), "not run: this machine does not give level full");
    for way in [Way::Layer, Way::Folder, Way::LevelProcess] {
        try_all(way, |_| true);
    }
    // A file that had the bits before, in a place that nothing looks at, is the user's own: it keeps them.
    for way in [Way::BuildFolder, Way::Cache] {
        try_all(way, |trick| !trick.is_own);
    }
}

#[test]
fn every_trick_bites_where_nothing_refuses_it() {
    let folder = tempfile::tempdir().unwrap();
    for trick in tricks().iter().filter(|trick| trick.is_possible()) {
        trick.bites(folder.path());
    }
}

#[test]
fn bits_that_nothing_refused_are_taken_away_where_the_folder_is_compared() {
    let said = try_all(Way::Unconfined, |trick| trick.leaves == "bits");
    for (trick, said) in
        said.iter().filter(|(_, said)| said.contains("exit_code: Some(0)") || said.contains("exit_code: 0"))
    {
        assert!(said.contains("set-user-ID and set-group-ID bits were not kept: `"), "{trick}: {said}");
    }
    assert!(said.iter().filter(|(_, said)| said.contains("were not kept")).count() >= 15, "{said:?}");
}

#[test]
fn a_result_names_the_bits_that_were_not_kept() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layered);
        fixture.put("tool", "#!/bin/sh\n");
        fs::set_permissions(fixture.root().join("tool"), Permissions::from_mode(0o4755)).unwrap();
        let said = run(&workspace, "mv tool other").unwrap().warnings;
        let expected = "set-user-ID and set-group-ID bits were not kept: `other`";
        assert!(said.iter().any(|warning| warning == expected), "{layered:?}: {said:?}");
        assert_eq!(mode(&fixture.root().join("other")), 0o755);
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn an_undo_brings_no_bits_back() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let journal = fixture.open_journal();
        let workspace = fixture.open_with(journal.clone(), fixture.layered_config(layered)).0;
        fixture.put("tool", "one\n");
        fixture.put("shared/file", "one\n");
        fixture.put("kept/file", "one\n");
        let at = |name: &str| fixture.root().join(name);
        fs::set_permissions(at("tool"), Permissions::from_mode(0o6755)).unwrap();
        fs::set_permissions(at("shared"), Permissions::from_mode(0o6755)).unwrap();
        fs::set_permissions(at("kept"), Permissions::from_mode(0o2755)).unwrap();
        run(&workspace, "echo two > tool; rm -r shared; echo two > kept/file; chmod g-s kept/file").unwrap();
        assert_eq!((mode(&at("tool")), at("shared").exists()), (0o755, false), "{layered:?}");
        for _ in 0..3 {
            let run = journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap().last().unwrap().run;
            workspace.undo(&Caller::once().call(), &Undo::Run(run)).unwrap();
            assert_eq!(mode(&at("tool")) & 0o6000, 0, "{layered:?}");
            assert!(!at("shared").exists() || mode(&at("shared")) & 0o6000 == 0, "{layered:?}");
        }
        assert_eq!(fixture.text("shared/file").as_deref(), Some("one\n"));
        // What the user gave a folder that is still there stays the user's.
        assert_eq!(mode(&at("kept")), 0o2755, "{layered:?}");
    }
}

#[test]
fn wider_access_to_what_was_there_is_named() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let chmod = |name: &str, mode| {
            fs::set_permissions(fixture.root().join(name), Permissions::from_mode(mode)).unwrap();
        };
        for name in ["secret.env", "private/key", "shared", "replaced"] {
            fixture.put(name, "x\n");
            chmod(name, 0o600);
        }
        chmod("private", 0o700);
        let workspace = fixture.open_layered(layered);
        let warned = |script: &str| run(&workspace, script).unwrap().warnings.join("\n");
        let wider = warned(
            "chmod 666 secret.env; chmod 777 private; chmod 640 private/key; echo y > new; chmod 644 new; mv new replaced",
        );
        for named in [
            "`private` (700 to 777)",
            "`private/key` (600 to 640)",
            "`replaced` (600 to 644)",
            "`secret.env` (600 to 666)",
        ] {
            assert!(wider.contains(named), "{layered:?}: {named} in {wider}");
        }
        // The control: nothing is reported where no user gains anything.
        let same = "echo y > shared; chmod 700 shared; chmod 600 secret.env; touch more; chmod 644 more";
        assert_eq!(warned(same), "", "{layered:?}");
    }
}
