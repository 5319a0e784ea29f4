//! Single edits that are answered as durable, through the engine and as plain files, in one run.
//!
//! An edit through the engine is one commit with before- and after-image; the file itself is synced in the background. A
//! plain durable edit is a temporary file, its sync, a rename and the sync of the folder. Rounds of both take turns, so
//! that whatever else the machine does meets both.
//!
//! The folder is made in `LOCAL_WORKSPACE_BENCH_FOLDER`, or where temporary files go.
#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use change_journal::{Journal, JournalLimits};
use local_workspace::{EngineConfig, LayerUse, LocalWorkspace, SandboxNeed};
use sandbox_exec::{LauncherConfig, Policy, SpawnerProgram, User};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tempfile::TempDir;
use wap_core::{
    Call, CancelFlag, ConversationId, FileChange, Limits, ModifyFile, ModifyOperation, Origin, Retention,
    RunKey, Workspace,
};

const ROUNDS: u32 = 10;
const EDITS: u32 = 50;
const LINES: usize = 200;

fn main() {
    let parent = std::env::var_os("LOCAL_WORKSPACE_BENCH_FOLDER");
    let folder = parent.map_or_else(TempDir::new, TempDir::new_in).expect("a folder can be made");
    let code = folder.path().join("code");
    let plain = folder.path().join("plain");
    for path in [&code, &plain, &folder.path().join("scratch")] {
        fs::create_dir(path).expect("the folder is empty");
    }
    let text: String = (0..LINES).map(|line| format!("line {line} of a file of some length\n")).collect();
    for path in [&code, &plain] {
        fs::write(path.join("file.txt"), &text).expect("the folder can be written");
    }
    let journal = Journal::open(&folder.path().join("journal"), JournalLimits::default())
        .expect("no other process has it")
        .0;
    let workspace = open(folder.path(), &code, journal);
    let (mut engine_time, mut plain_time) = (Duration::ZERO, Duration::ZERO);
    for round in 0..ROUNDS {
        let start = Instant::now();
        for edit in 0..EDITS {
            edit_through_engine(&workspace, round * EDITS + edit);
        }
        engine_time += start.elapsed();
        // What the engine still has to sync is its own cost.
        let start = Instant::now();
        workspace.checkpoint();
        engine_time += start.elapsed();
        let start = Instant::now();
        for edit in 0..EDITS {
            edit_plainly(&plain, round * EDITS + edit);
        }
        plain_time += start.elapsed();
    }
    let per_second = |time: Duration| f64::from(ROUNDS * EDITS) / time.as_secs_f64();
    let (engine, plain) = (per_second(engine_time), per_second(plain_time));
    println!("single edits of a file of {LINES} lines, each answered as durable:");
    println!("  through LocalWorkspace, background syncs included: {engine:>8.0} a second");
    println!("  temporary file, fsync, rename, fsync of the folder: {plain:>7.0} a second");
    println!("  ratio: {:.2}", engine / plain);
}

fn open(folder: &Path, code: &Path, journal: Journal) -> LocalWorkspace {
    let user = User {
        name: "bench".into(),
        home: folder.to_owned(),
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        language: "C.UTF-8".into(),
    };
    let spawner = SpawnerProgram::at(folder.join("no command is run"));
    let config = EngineConfig {
        limits: Limits::default(),
        read_only: false,
        sandbox: SandboxNeed::Whatever,
        launcher: LauncherConfig::new(spawner, user, folder.join("scratch")),
        network: egress::Network::Off,
        policy: Policy::for_workspace(code),
        state_folder: None,
        output_folder: folder.join("output"),
        layers_folder: None,
        layer: LayerUse::Off,
    };
    let root = FileRoot::open(code, &RootRules::none(), FsPolicy::default()).expect("it is a folder");
    LocalWorkspace::open(root, journal, config).expect("it is new").0
}

fn edit_through_engine(workspace: &LocalWorkspace, number: u32) {
    let origin = Origin {
        conversation: ConversationId("bench".into()),
        run: RunKey::unnumbered(number.to_string()),
        step: 0,
        retention: Retention::Process,
    };
    let cancel = CancelFlag::new();
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    let line = i64::from(number) % 200 + 1;
    let operation = ModifyOperation::Replace {
        start_line: line,
        end_line: line,
        new_content: format!("edit {number}\n"),
        was: None,
    };
    let change = ModifyFile { path: "file.txt".into(), operations: vec![operation], ..ModifyFile::default() };
    let outcomes = workspace.change_files(&call, &[FileChange::Modify(change)]).expect("the engine works");
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
}

fn edit_plainly(folder: &Path, number: u32) {
    let (file, temporary) = (folder.join("file.txt"), folder.join("file.txt.new"));
    let text = fs::read_to_string(&file).expect("it is there");
    let line = number as usize % LINES;
    let edit = format!("edit {number}");
    let edited: String = text
        .lines()
        .enumerate()
        .flat_map(|(index, old)| [if index == line { &edit } else { old }, "\n"])
        .collect();
    let mut new = File::create(&temporary).expect("there is space");
    new.write_all(edited.as_bytes()).and_then(|()| new.sync_all()).expect("there is space");
    fs::rename(&temporary, &file).expect("it is the same folder");
    File::open(folder).and_then(|folder| folder.sync_all()).expect("it is a folder");
}
