//! The cost of a reply of file blocks: how often its caller waits for the disk, and for how long.
//!
//! The folder is made in `LOCAL_WORKSPACE_BENCH_FOLDER`, or where temporary files go.

use std::sync::atomic::{AtomicU32, Ordering};

use change_journal::{
    ContentHash, DocumentWrite, Journal, JournalCounts, JournalLimits, RunKey as JournalRunKey, RunState,
};
use divan::Bencher;
use divan::counter::ItemsCount;
use local_workspace::{EngineConfig, LayerUse, LocalWorkspace, SandboxNeed};
use sandbox_exec::{LauncherConfig, Policy, SpawnerProgram, User};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tempfile::TempDir;
use wap_core::{
    Call, CancelFlag, ConversationId, FileChange, Limits, ModifyFile, ModifyOperation, Origin, Retention,
    RunKey, Workspace, WriteFile,
};

const FILES: u32 = 10;

fn main() {
    print_budget();
    divan::main();
}

struct Bench {
    _folder: TempDir,
    journal: Journal,
    workspace: LocalWorkspace,
}

impl Bench {
    /// A workspace with ten files of `lines` lines.
    fn new(lines: usize) -> Bench {
        let folder = match std::env::var_os("LOCAL_WORKSPACE_BENCH_FOLDER") {
            Some(parent) => TempDir::new_in(parent),
            None => TempDir::new(),
        }
        .expect("a folder can be made");
        let at = |name: &str| folder.path().join(name);
        for name in ["workspace", "state", "home", "scratch"] {
            std::fs::create_dir(at(name)).expect("the folder is empty");
        }
        for file in 0..FILES {
            let text = "    let value = compute(input);\n".repeat(lines);
            std::fs::write(at("workspace").join(name(file)), text).expect("the folder is empty");
        }
        let (journal, _) =
            Journal::open(&at("state/journal"), JournalLimits::default()).expect("the folder is free");
        let user = User {
            name: "bench".into(),
            home: at("home"),
            search_path: std::env::var_os("PATH").unwrap_or_default(),
            language: "C.UTF-8".into(),
        };
        let config = EngineConfig {
            limits: Limits::default(),
            read_only: false,
            sandbox: SandboxNeed::Whatever,
            launcher: LauncherConfig::new(SpawnerProgram::this_program(), user, at("scratch")),
            network: egress::Network::Off,
            policy: Policy::for_workspace(&at("workspace")),
            state_folder: None,
            output_folder: at("state/output"),
            layers_folder: None,
            layer: LayerUse::Off,
        };
        let root = FileRoot::open(&at("workspace"), &RootRules::none(), FsPolicy::default())
            .expect("the folder was just made");
        let (workspace, _) =
            LocalWorkspace::open(root, journal.clone(), config).expect("nothing is wrong with the folder");
        Bench { _folder: folder, journal, workspace }
    }

    /// A whole reply: the run begins, a batch of ten file blocks is carried out, the run ends with its documents.
    fn reply(&self, changes: &[FileChange]) {
        static SEQUENCE: AtomicU32 = AtomicU32::new(1);
        let sequence = SEQUENCE.fetch_add(1, Ordering::Relaxed);
        let content = ContentHash::of(&sequence.to_le_bytes());
        let conversation = "bench".to_owned();
        let key =
            JournalRunKey { conversation: conversation.clone(), sequence: u64::from(sequence), content };
        let RunState::New(run) = self.journal.begin_run(&key).expect("the journal is open") else {
            panic!("every reply is another one");
        };
        let origin = Origin {
            conversation: ConversationId(conversation),
            run: RunKey { sequence, digest: content.to_string() },
            step: 0,
            retention: Retention::Durable,
        };
        let call = Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None };
        let outcomes = self.workspace.change_files(&call, changes).expect("the batch is sound");
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        let document = DocumentWrite::Put { name: "outbox", bytes: &[b'x'; 4_000] };
        self.journal.finish_run(run.number(), b"done", &[document]).expect("the run is open");
    }
}

fn name(file: u32) -> String {
    format!("file{file}.rs")
}

fn edits() -> Vec<FileChange> {
    let operation =
        ModifyOperation::Insert { after_line: 5, new_content: "    // inserted".to_owned(), was: None };
    (0..FILES)
        .map(|file| {
            FileChange::Modify(ModifyFile {
                path: name(file),
                operations: vec![operation.clone()],
                ..ModifyFile::default()
            })
        })
        .collect()
}

/// New contents of `bytes` bytes; no two are the same.
fn writes(bytes: usize) -> Vec<FileChange> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    (0..FILES)
        .map(|file| {
            let mut content = format!("// {}\n", NUMBER.fetch_add(1, Ordering::Relaxed));
            content.extend(std::iter::repeat_n('x', bytes.saturating_sub(content.len())));
            FileChange::Write(WriteFile { path: name(file), content, ..WriteFile::default() })
        })
        .collect()
}

#[expect(clippy::print_stdout, reason = "it is what the program is for")]
fn print_budget() {
    println!("what one reply of ten file blocks and its end wait for:");
    let bench = Bench::new(300);
    for (what, changes) in [
        ("edits of 10 KB files", edits()),
        ("files of 1 KB", writes(1_000)),
        ("files of 2 MB", writes(2_000_000)),
    ] {
        let before = bench.journal.counts();
        bench.reply(&changes);
        let JournalCounts { commits, file_syncs, .. } = bench.journal.counts();
        let (commits, file_syncs) = (commits - before.commits, file_syncs - before.file_syncs);
        println!("  {what}: {commits} commits, {file_syncs} syncs of content files");
    }
}

#[divan::bench(args = [300, 10_000])]
fn reply_of_ten_edits(bencher: Bencher<'_, '_>, lines: usize) {
    let bench = Bench::new(lines);
    bencher.counter(ItemsCount::new(FILES)).bench_local(|| bench.reply(&edits()));
}

#[divan::bench(args = [1_000, 100_000])]
fn reply_of_ten_files(bencher: Bencher<'_, '_>, bytes: usize) {
    let bench = Bench::new(1);
    bencher.counter(ItemsCount::new(FILES)).with_inputs(|| writes(bytes)).bench_local_values(|changes| {
        bench.reply(&changes);
    });
}
