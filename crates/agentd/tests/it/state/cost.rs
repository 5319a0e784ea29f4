//! The cost of durability: the number of times that a reply waits for the disk.

use std::path::Path;
use std::time::Duration;

use change_journal::{Journal, JournalCounts, JournalLimits};
use local_workspace::{EngineConfig, LayerUse, LocalWorkspace, SandboxNeed};
use sandbox_exec::{LauncherConfig, Policy, SpawnerProgram, User};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tag_session::{Applied, ApplyOptions, Executed, Sessions, StateFolders};
use tagproto::{Dialect, SessionId, UnobservedExecution};
use wap_core::{CancelFlag, Limits};

/// A session on a folder of ten files and a large one, in this process.
struct Fixture {
    sessions: Sessions<LocalWorkspace>,
    journal: Journal,
    id: SessionId,
    _folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let (code, state) = (folder.path().join("code"), folder.path().join("state"));
        for path in [&code, &state, &folder.path().join("scratch")] {
            std::fs::create_dir(path).unwrap();
        }
        for file in 0..10 {
            std::fs::write(code.join(format!("f{file}")), "one\ntwo\nthree\n").unwrap();
        }
        // The first message shows every file of a smaller folder.
        std::fs::write(code.join("large"), "text\n".repeat(4_000)).unwrap();
        // Lazy notes ride with a commit that has a waiting caller, on a machine of any speed.
        let limits = JournalLimits { lazy_delay: Duration::from_secs(600), ..JournalLimits::default() };
        let journal = Journal::open(&state.join("journal"), limits).unwrap().0;
        let workspace = open_workspace(folder.path(), &code, &state, journal.clone());
        let folders = StateFolders::open(&state).unwrap();
        let sessions = Sessions::open(workspace, journal.clone(), folders).unwrap().0;
        let session = sessions.create("task", Dialect::Agentd, None, &CancelFlag::new()).unwrap();
        Fixture { sessions, journal, id: session.session_id, _folder: folder }
    }

    /// Applies a reply; answers with it and with how often the journal was waited for.
    fn apply(&self, text: &str) -> (Executed, JournalCounts) {
        let before = self.journal.counts();
        let applied = self.sessions.apply(
            self.id,
            text,
            Duration::from_secs(60),
            ApplyOptions::default(),
            &CancelFlag::new(),
            &mut UnobservedExecution,
        );
        let Applied::Executed(executed) = applied.unwrap() else { panic!("it is new") };
        let mut counts = self.journal.counts();
        counts.commits -= before.commits;
        counts.file_syncs -= before.file_syncs;
        assert!(executed.results.iter().all(|result| result.success), "{:?}", executed.results);
        (*executed, counts)
    }
}

fn open_workspace(folder: &Path, code: &Path, state: &Path, journal: Journal) -> LocalWorkspace {
    let user = User {
        name: "tester".into(),
        home: folder.to_owned(),
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        language: "C.UTF-8".into(),
    };
    let spawner = SpawnerProgram::at(assert_cmd::cargo::cargo_bin!("agentd").into());
    let config = EngineConfig {
        limits: Limits::default(),
        read_only: false,
        sandbox: SandboxNeed::Whatever,
        launcher: LauncherConfig::new(spawner, user, folder.join("scratch")),
        network: egress::Network::Off,
        policy: Policy::for_workspace(code),
        state_folder: None,
        output_folder: state.join("output"),
        layers_folder: Some(state.join("layers")),
        layer: LayerUse::WherePossible,
    };
    let root = FileRoot::open(code, &RootRules::none(), FsPolicy::default()).unwrap();
    LocalWorkspace::open(root, journal, config).unwrap().0
}

fn edits(files: std::ops::Range<u32>, word: &str) -> String {
    let edit = |file| {
        format!("[EDIT_FILE path=\"f{file}\" start_line=\"2\" end_line=\"2\"]\n{word}\n[/EDIT_FILE]\n")
    };
    files.map(edit).collect()
}

#[test]
fn ten_file_blocks_wait_for_at_most_three_syncs() {
    let fixture = Fixture::new();
    // None of the files was shown, so the meaning of the line numbers is a separate commit.
    let (executed, counts) = fixture.apply(&edits(0..10, "changed"));
    assert_eq!(executed.results.len(), 10);
    assert_eq!((counts.commits, counts.file_syncs), (3, 0));
    // Files that the reply makes have no numbers to remember.
    let created: String =
        (0..10).map(|file| format!("[CREATE_FILE path=\"new/g{file}\"]\ntext\n[/CREATE_FILE]\n")).collect();
    let (executed, counts) = fixture.apply(&created);
    assert_eq!(executed.results.len(), 10);
    assert_eq!((counts.commits, counts.file_syncs), (2, 0));
}

#[test]
fn each_group_of_file_blocks_is_one_commit_and_reading_is_none() {
    let fixture = Fixture::new();
    let read = "[READ_FILE path=\"f9\"]\n";
    let reply = [edits(0..4, "a"), read.into(), edits(4..5, "b"), read.into(), edits(5..8, "c")].concat();
    let (executed, counts) = fixture.apply(&reply);
    assert_eq!(executed.results.len(), 10);
    let groups = 3;
    // And the meaning of the line numbers, and the end.
    assert_eq!((counts.commits, counts.file_syncs), (groups + 2, 0));
}
