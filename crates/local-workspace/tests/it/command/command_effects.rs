//! Effects of commands are recorded with their outcome, adopted, and undone; files that another program saved in the
//! meantime stay.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use change_journal::{ChangeNumber, ChangeState, Journal, RecordedChange, RunNumber};
use local_workspace::{LocalWorkspace, ObstacleKind, Undo, UndoError, Undone};
use wap_core::*;

use crate::fixture::meanwhile::Meanwhile;
use crate::fixture::tree::tree;
use crate::fixture::workspace::*;

struct OpenFixture {
    fixture: Fixture,
    journal: Journal,
    workspace: LocalWorkspace,
}

impl OpenFixture {
    fn new(layered: Layered) -> OpenFixture {
        OpenFixture::on(Fixture::new(), layered)
    }

    fn on(fixture: Fixture, layered: Layered) -> OpenFixture {
        let journal = fixture.open_journal();
        let workspace = fixture.open_with(journal.clone(), fixture.layered_config(layered)).0;
        OpenFixture { fixture, journal, workspace }
    }

    fn changes(&self) -> Vec<RecordedChange> {
        self.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap()
    }

    fn paths(&self) -> Vec<String> {
        let paths = self.changes().into_iter();
        paths.map(|change| String::from_utf8(change.path).unwrap()).collect()
    }

    fn undo_last(&self) -> Result<Undone, UndoError> {
        let run = self.changes().last().map_or(RunNumber(1), |change| change.run);
        self.workspace.undo(&Caller::once().call(), &Undo::Run(run))
    }
}

#[test]
fn layer_is_reported_where_it_is_used() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered);
        let response = run(&opened.workspace, "echo x > a").unwrap();
        let expected = if layered == Layered::Yes { "layer=overlay" } else { "layer=none" };
        assert!(response.sandbox.contains(expected), "this test needs a layer: {}", response.sandbox);
        assert_eq!(response.sandbox.contains("switched off"), layered == Layered::No);
        assert_eq!(opened.fixture.text("a").as_deref(), Some("x\n"));
        let left = fs::read_dir(opened.fixture.path().join("state/layers")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "the layer is gone");
    }
}

#[test]
fn effects_are_recorded_with_the_outcome_and_undone() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered);
        opened.fixture.put("kept", "1\n");
        opened.fixture.put("edited", "1\n");
        opened.fixture.put("deleted", "1\n");
        opened.fixture.put("folder/inside", "1\n");
        opened.fixture.put("tool", "1\n");
        fs::set_permissions(opened.fixture.root().join("tool"), fs::Permissions::from_mode(0o644)).unwrap();
        let before = tree(&opened.fixture);
        let script = "echo 2 >> edited; rm deleted; rm -r folder; mkdir -p a/b; echo x > a/b/c; ln -s a link; \
                      chmod 755 tool; touch kept; chmod 500 a/b; exit 3";
        assert_eq!(run(&opened.workspace, script).unwrap().exit_code, 3);
        let mut paths = opened.paths();
        paths.sort();
        let expected = ["a", "a/b", "a/b/c", "deleted", "edited", "folder", "folder/inside", "link", "tool"];
        assert_eq!(paths, expected, "{layered:?}");
        let after = tree(&opened.fixture);
        opened.workspace.checkpoint();
        opened.journal.flush().unwrap();
        assert!(opened.journal.reader().unsettled_changes().unwrap().is_empty(), "{layered:?}");
        let undone = opened.undo_last().unwrap();
        assert!(undone.not_undoable.is_empty() && undone.commands.is_empty(), "{undone:?}");
        assert_eq!(tree(&opened.fixture), before, "{layered:?}");
        opened.workspace.undo(&Caller::once().call(), &Undo::Run(RunNumber(undone.run))).unwrap();
        assert_eq!(tree(&opened.fixture), after, "{layered:?}");
    }
}

#[test]
fn effects_of_a_command_that_was_killed_are_kept() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered);
        let request = ExecuteCommand { timeout: Some(1_500), ..command("echo x > a; sleep 60; echo y > b") };
        let error =
            opened.workspace.execute_command(&Caller::once().call(), &request, &mut Unobserved).unwrap_err();
        assert_eq!(error.reason(), Reason::Timeout);
        assert_eq!(opened.paths(), ["a"], "{layered:?}");
        assert_eq!(opened.fixture.text("a").as_deref(), Some("x\n"));
        opened.undo_last().unwrap();
        assert!(opened.fixture.all_names().is_empty());
    }
}

#[test]
fn what_another_program_saves_while_a_command_runs_stays() {
    let opened = OpenFixture::new(Layered::Yes);
    for name in ["both", "theirs", "ours"] {
        opened.fixture.put(name, "old\n");
    }
    let root = opened.fixture.root();
    let mut meanwhile = Meanwhile(Some(move || {
        fs::write(root.join("both"), "theirs\n").unwrap();
        fs::write(root.join("theirs"), "theirs\n").unwrap();
        fs::write(root.join("new"), "theirs\n").unwrap();
    }));
    let script = "for f in both ours new; do echo ours > $f; done; echo go; sleep 3";
    let caller = Caller::numbered(1);
    let response =
        opened.workspace.execute_command(&caller.call(), &command(script), &mut meanwhile).unwrap();
    let text = |name: &str| opened.fixture.text(name);
    assert_eq!(text("both").as_deref(), Some("theirs\n"));
    assert_eq!(text("theirs").as_deref(), Some("theirs\n"));
    assert_eq!(text("new").as_deref(), Some("theirs\n"));
    assert_eq!(text("ours").as_deref(), Some("ours\n"));
    let warned = response.warnings.join("\n");
    for name in ["both", "new"] {
        assert!(warned.contains(&format!("`{name}`")), "{warned}");
    }
    assert!(!warned.contains("`ours`") && !warned.contains("`theirs`"), "{warned}");
    // The command's versions are kept, and are nothing that can be undone.
    for change in opened.changes() {
        let is_conflict = change.path != b"ours";
        assert_eq!(change.state == ChangeState::Conflicted, is_conflict, "{change:?}");
        let content = opened.journal.reader().content(&change.after.unwrap().content.unwrap()).unwrap();
        assert_eq!(content.as_deref(), Some(&b"ours\n"[..]));
    }
    // The same call answers the same.
    let again = opened.workspace.execute_command(&caller.call(), &command(script), &mut Unobserved).unwrap();
    assert_eq!(again, response);
    opened.undo_last().unwrap();
    assert_eq!(text("ours").as_deref(), Some("old\n"));
}

#[test]
fn file_tool_goes_on_while_a_command_runs() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered);
        opened.fixture.put("edited", "1\n");
        std::thread::scope(|scope| {
            let (started, is_started) = std::sync::mpsc::channel();
            let mut meanwhile = Meanwhile(Some(move || started.send(()).unwrap()));
            let workspace = &opened.workspace;
            let running = scope.spawn(move || {
                let script = command("echo go; sleep 3; echo x > made");
                workspace.execute_command(&Caller::once().call(), &script, &mut meanwhile).unwrap()
            });
            is_started.recv().unwrap();
            change(workspace, replace("edited", (1, 1), "2", None)).unwrap();
            assert_eq!(running.join().unwrap().warnings, [""; 0], "{layered:?}");
        });
        assert_eq!(opened.paths(), ["edited", "made"], "{layered:?}");
        assert_eq!(opened.fixture.text("edited").as_deref(), Some("2\n"));
    }
}

#[test]
fn edit_right_before_a_command_is_no_conflict() {
    let opened = OpenFixture::new(Layered::Yes);
    for round in 0..30 {
        change(&opened.workspace, write("file", &format!("{round}\n"))).unwrap();
        let response = run(&opened.workspace, "echo more >> file").unwrap();
        assert_eq!(response.warnings, [""; 0]);
        assert_eq!(opened.fixture.text("file"), Some(format!("{round}\nmore\n")));
    }
}

#[test]
fn nothing_of_a_repository_is_adopted_if_another_program_uses_it_meanwhile() {
    let opened = OpenFixture::new(Layered::Yes);
    run(&opened.workspace, "git init -q -b main . && echo x > a && git add a && git commit -q -m one")
        .unwrap();
    let head = || fs::read(opened.fixture.root().join(".git/refs/heads/main")).unwrap();
    let names =
        |names: Vec<String>| names.into_iter().filter(|name| name.starts_with(".git/")).collect::<Vec<_>>();
    let (was, had) = (head(), names(opened.fixture.all_names()));
    let root = opened.fixture.root();
    let mut meanwhile = Meanwhile(Some(move || fs::write(root.join(".git/index.lock"), "").unwrap()));
    let script = command("echo y > b && git add b && git commit -q -m two && echo go && sleep 3");
    let response = opened.workspace.execute_command(&Caller::once().call(), &script, &mut meanwhile).unwrap();
    assert_eq!(response.exit_code, 0, "{response:?}");
    assert!(response.warnings.join("\n").contains("`.git/index.lock`"), "{response:?}");
    fs::remove_file(opened.fixture.root().join(".git/index.lock")).unwrap();
    assert_eq!((head(), names(opened.fixture.all_names())), (was, had));
    assert_eq!(opened.fixture.text("b").as_deref(), Some("y\n"));
}

#[test]
fn commits_are_undone_unless_the_repository_was_used_since() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered);
        run(&opened.workspace, "git init -q -b main . && echo x > a && git add a && git commit -q -m one")
            .unwrap();
        let before = tree(&opened.fixture);
        let script = "echo y > b && git add b && git commit -q -m two";
        run(&opened.workspace, script).unwrap();
        assert!(opened.undo_last().unwrap().not_undoable.is_empty());
        // Objects stay: something of the user's may need them by now.
        let mut after = tree(&opened.fixture);
        after.retain(|(name, ..)| {
            !name.starts_with(".git/objects/") || before.iter().any(|(one, ..)| one == name)
        });
        assert!(after == before, "{layered:?}");
        run(&opened.workspace, script).unwrap();
        fs::write(opened.fixture.root().join(".git/HEAD"), "ref: refs/heads/mine\n").unwrap();
        let index = opened.fixture.root().join(".git/index");
        fs::write(&index, [&fs::read(&index).unwrap()[..], b"x"].concat()).unwrap();
        let undone = opened.undo_last().unwrap();
        assert_eq!(
            (undone.not_undoable, undone.changed_since),
            (vec![".git".into()], vec![".git".into()]),
            "{layered:?}"
        );
        assert_eq!(opened.fixture.text("b"), None);
        assert!(fs::read(&index).unwrap().ends_with(b"x"));
    }
}

#[test]
fn what_is_too_large_is_said_and_left_by_an_undo() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered);
        opened.fixture.put("mine.bin", vec![b'1'; 20 << 20]);
        opened.fixture.put(".gitignore", "target/\n");
        run(&opened.workspace, "git init -q .").unwrap();
        let script = "head -c 20000000 /dev/zero > big; echo 2 >> mine.bin; echo x > small; \
                      mkdir -p target/deep; echo y > target/deep/o; mkfifo pipe";
        let response = run(&opened.workspace, script).unwrap();
        let warned = response.warnings.join("\n");
        for name in ["`big`", "`mine.bin`", "`target", "`pipe`"] {
            assert!(warned.contains(name), "{name} ({layered:?}): {warned}");
        }
        assert_eq!(fs::metadata(opened.fixture.root().join("big")).unwrap().size(), 20_000_000);
        assert_eq!(fs::metadata(opened.fixture.root().join("mine.bin")).unwrap().size(), (20 << 20) + 2);
        assert_eq!(opened.fixture.text("target/deep/o").as_deref(), Some("y\n"));
        let undone = opened.undo_last().unwrap();
        assert!(undone.changed_since.is_empty(), "{undone:?}");
        assert_eq!(opened.fixture.text("small"), None);
        for name in ["big", "mine.bin", "pipe"] {
            assert!(undone.not_undoable.iter().any(|path| path == name), "{name} ({layered:?}): {undone:?}");
            assert!(opened.fixture.root().join(name).exists());
        }
        // Opened again, nothing has to be recovered.
        let OpenFixture { fixture, journal, workspace } = opened;
        drop((workspace, journal));
        let (_, recovery) = fixture.open_with(fixture.open_journal(), fixture.layered_config(layered));
        assert!(recovery.is_empty(), "{recovery:?}");
    }
}

#[test]
fn undo_of_nothing_but_what_is_not_kept_is_refused() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered);
        run(&opened.workspace, "head -c 20000000 /dev/zero > big").unwrap();
        let Err(UndoError::Obstacles(obstacles)) = opened.undo_last() else { panic!("{layered:?}") };
        assert_eq!((&*obstacles[0].path, &obstacles[0].why), ("big", &ObstacleKind::NotKept));
    }
}

#[test]
fn build_folder_that_is_there_is_written_through_and_not_recorded() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered);
        opened.fixture.put(".gitignore", "target/\n");
        opened.fixture.put("target/debug/old", "1\n");
        run(&opened.workspace, "echo 2 > target/debug/old; echo 2 > target/new; echo 2 > src").unwrap();
        assert_eq!(opened.paths(), ["src"], "{layered:?}");
        assert_eq!(opened.fixture.text("target/new").as_deref(), Some("2\n"));
        assert_eq!(opened.fixture.text("target/debug/old").as_deref(), Some("2\n"));
    }
}

#[test]
fn step_that_was_carried_out_is_not_run_again() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered);
        let caller = Caller::numbered(1);
        for _ in 0..2 {
            let ran = command("echo x >> log");
            opened.workspace.execute_command(&caller.call(), &ran, &mut Unobserved).unwrap();
        }
        assert_eq!(opened.fixture.text("log").as_deref(), Some("x\n"), "{layered:?}");
    }
}

#[test]
fn tracked_folder_becomes_no_build_folder_by_a_gitignore() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        fixture.put("build/deep/src.txt", "precious\n");
        fixture.put("file", "x\n");
        let git = |arguments: &str| {
            let script = format!("git {arguments}");
            let ran = std::process::Command::new("sh")
                .args(["-c", &script])
                .current_dir(fixture.root())
                .env("HOME", fixture.path().join("home"))
                .status();
            assert!(ran.unwrap().success(), "{script}");
        };
        git("init -q -b main . && git add . && git -c user.name=u -c user.email=u@x commit -q -m one");
        let workspace = fixture.open_layered(layered);
        change(&workspace, write(".gitignore", "build/\n")).unwrap();
        fixture.put("build/deep/src.txt", "unsaved work\n");
        run(&workspace, "echo destroyed > build/deep/src.txt").unwrap();
        assert_eq!(fixture.text("build/deep/src.txt").as_deref(), Some("destroyed\n"), "{layered:?}");
        workspace.undo(&Caller::once().call(), &Undo::Run(RunNumber(2))).unwrap();
        assert_eq!(fixture.text("build/deep/src.txt").as_deref(), Some("unsaved work\n"), "{layered:?}");
        // The control: what git does not track is a build folder, of which nothing is recorded.
        git("rm -rq --cached build");
        run(&workspace, "echo built > build/deep/src.txt").unwrap();
        let refused = workspace.undo(&Caller::once().call(), &Undo::Run(RunNumber(3)));
        assert!(
            refused.is_err() || fixture.text("build/deep/src.txt").as_deref() == Some("built\n"),
            "{refused:?}"
        );
    }
}

#[test]
fn names_that_no_forge_reads_are_not_reported() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layered);
        let warned = |script: &str| run(&workspace, script).unwrap().warnings.join("\n");
        let vendored = "mkdir -p vendor/x/.github/workflows deps/y/.Github && echo on: push > vendor/x/.github/workflows/ci.yml && \
                        echo x > vendor/x/.travis.yml && echo x > deps/y/.Github/CODEOWNERS";
        assert_eq!(warned(vendored), "", "{layered:?}");
        // The controls: at the root, in a repository that is there or comes with it, and where a pipeline includes it.
        for (script, path) in [
            ("mkdir -p .github/workflows && echo x > .github/workflows/ci.yml", ".github/workflows/ci.yml"),
            ("echo x > .travis.yml", ".travis.yml"),
            ("git init -q vendor/x && echo y > vendor/x/.travis.yml", "vendor/x/.travis.yml"),
            ("echo z > vendor/x/.travis.yml", "vendor/x/.travis.yml"),
            ("echo x > vendor/x/.gitlab-ci.yml", "vendor/x/.gitlab-ci.yml"),
            ("echo x > deps/y/AGENTS.md", "deps/y/AGENTS.md"),
        ] {
            let warnings = warned(script);
            assert!(warnings.contains(&format!("`{path}`")), "{script} ({layered:?}): {warnings}");
        }
    }
}
