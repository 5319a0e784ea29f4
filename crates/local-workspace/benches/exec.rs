//! Measures a command with all of the engine's work, compared with a plain spawn: `cargo xtask bench exec`.
//!
//! Each command runs at the highest level of this machine, on a layer, with its start and its outcome in the journal, with
//! refused calls reported and with a list of names that it may connect to. The folders differ in their number of files,
//! the homes in whether they are kept. All kinds take turns with plain spawns, so that whatever else the machine does
//! meets all of them, and differences are those of one run. A slow machine is not an error, a command that fails is.
//!
//! The folders are made where temporary files go, or in `LOCAL_WORKSPACE_BENCH_FOLDER`, where they stay for the next run.
#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use change_journal::{Journal, JournalLimits};
use egress::{AllowList, Network};
use file_index::{IndexLimits, IndexPhase};
use local_workspace::{EngineConfig, LayerUse, LocalWorkspace, SandboxNeed};
use sandbox_exec::{
    KeptHome, LauncherConfig, Level, Policy, SpawnerProgram, User, spawner_main_if_requested,
};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tempfile::TempDir;
use wap_core::{
    Call, CancelFlag, ConversationId, ExecuteCommand, ExploreFiles, Limits, Origin, Retention, RunKey,
    Unobserved, Workspace,
};

const ROUNDS: u32 = 100;

/// Between two commands: a model is never faster.
const PAUSE: Duration = Duration::from_millis(20);

/// The number of files of each folder, apart from its repository.
const SIZES: [usize; 3] = [1, 1_000, 100_000];

/// One in this many files is in the build folder.
const BUILT: usize = 10;

const FILES_IN_FOLDER: usize = 50;

/// Caches of the user's that a kept home shows.
const CACHES: [&str; 4] = [".cargo/registry", ".npm/_cacache", ".cache/pip", "go/pkg/mod"];

fn main() {
    spawner_main_if_requested();
    let kept = std::env::var_os("LOCAL_WORKSPACE_BENCH_FOLDER").map(PathBuf::from);
    let folder = kept.as_ref().map_or_else(TempDir::new, TempDir::new_in).expect("a folder can be made");
    let path = fs::canonicalize(folder.path()).expect("it was made");
    let code_folder = kept.map_or_else(|| path.clone(), |kept| fs::canonicalize(kept).expect("it is there"));
    for cache in CACHES {
        fs::create_dir_all(path.join("home").join(cache)).expect("the folder is empty");
    }
    fs::create_dir(path.join("scratch")).expect("the folder is empty");
    let mut rows = Vec::new();
    for files in SIZES {
        let code = code_folder.join(format!("code-{files}"));
        if !code.join(".git/index").exists() {
            make_folder(&code, files);
        }
        for home in [Home::Fresh, Home::Kept] {
            rows.push(Row::open(&path, &code, (files, home)));
        }
    }
    println!("{}", rows[0].workspace.sandbox_line().expect("commands can be run"));
    println!(
        "`/bin/sh -c true`, from the call to its answer, {ROUNDS} rounds with a pause of 20 ms between:"
    );
    let mut plain = Vec::new();
    for round in 0..=ROUNDS {
        let spawned = after_pause(spawn_plainly);
        let times = rows.iter().map(|row| after_pause(|| row.run(round))).collect::<Vec<_>>();
        // The first command of each makes what the others keep.
        if round > 0 {
            plain.push(spawned);
            rows.iter_mut().zip(times).for_each(|(row, time)| row.times.push(time));
        } else {
            rows.iter_mut().zip(times).for_each(|(row, time)| row.first = time);
        }
    }
    let plain = Figures::of(plain);
    println!("  plain spawn: {} by minimum, {} by median", plain.minimum(), plain.median());
    println!("  | files | home | minimum | above plain | median | above plain | times plain | the first |");
    println!("  | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for row in &rows {
        let figures = Figures::of(row.times.clone());
        println!(
            "  | {} | {} | {} | {} | {} | {} | {:.1} | {} |",
            row.files,
            row.home.name(),
            figures.minimum(),
            milliseconds(figures.minimum.saturating_sub(plain.minimum)),
            figures.median(),
            milliseconds(figures.median.saturating_sub(plain.median)),
            figures.median.as_secs_f64() / plain.median.as_secs_f64(),
            milliseconds(row.first),
        );
    }
}

#[derive(Clone, Copy)]
enum Home {
    Fresh,
    Kept,
}

impl Home {
    fn name(self) -> &'static str {
        match self {
            Home::Fresh => "fresh",
            Home::Kept => "kept",
        }
    }
}

/// A workspace with the times of its commands.
struct Row {
    files: usize,
    home: Home,
    workspace: LocalWorkspace,
    first: Duration,
    times: Vec<Duration>,
}

impl Row {
    fn open(folder: &Path, code: &Path, (files, home): (usize, Home)) -> Row {
        let state = folder.join(format!("state-{files}-{}", home.name()));
        fs::create_dir(&state).expect("the folder is empty");
        let user = User {
            name: "bench".into(),
            home: folder.join("home"),
            search_path: std::env::var_os("PATH").unwrap_or_default(),
            language: "C.UTF-8".into(),
        };
        let policy = Policy::for_workspace(code);
        let policy = match home {
            Home::Fresh => policy,
            Home::Kept => policy.with_kept_home(KeptHome::new(state.join("home"))),
        };
        let names: AllowList = "registry.example,*.cdn.example".parse().expect("they are names");
        let launcher = LauncherConfig::new(SpawnerProgram::this_program(), user, folder.join("scratch"));
        let config = EngineConfig {
            limits: Limits::default(),
            read_only: false,
            sandbox: SandboxNeed::AtLeast(Level::Full),
            launcher,
            network: Network::Names(names),
            policy,
            state_folder: None,
            output_folder: state.join("output"),
            layers_folder: Some(state.join("layers")),
            layer: LayerUse::WherePossible,
        };
        let journal = Journal::open(&state.join("journal"), JournalLimits::default());
        let journal = journal.expect("no other process has it").0;
        let root = FileRoot::open(code, &RootRules::none(), FsPolicy::default()).expect("it is a folder");
        let workspace = LocalWorkspace::open(root, journal, config).expect("it is new").0;
        keep_list(&workspace);
        Row { files, home, workspace, first: Duration::ZERO, times: Vec::new() }
    }

    fn run(&self, round: u32) {
        let origin = origin(round + 1);
        let cancel = CancelFlag::new();
        let call = Call { origin: &origin, cancel: &cancel, time_left: None };
        let request = ExecuteCommand { command: "true".into(), ..ExecuteCommand::default() };
        let ran = self.workspace.execute_command(&call, &request, &mut Unobserved).expect("it runs");
        let has_kept_home = !ran.warnings.iter().any(|warning| warning.contains("fresh home"));
        assert!(ran.exit_code == 0 && has_kept_home, "{ran:?}");
    }
}

fn origin(number: u32) -> Origin {
    Origin {
        conversation: ConversationId("bench".into()),
        run: RunKey::unnumbered(number.to_string()),
        step: 0,
        retention: Retention::Process,
    }
}

/// Has the list of files kept, as every process that stays has it, and waits until it is complete.
fn keep_list(workspace: &LocalWorkspace) {
    workspace.keep_index(IndexLimits::default()).expect("there is a thread");
    let (origin, cancel) = (origin(0), CancelFlag::new());
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    workspace.explore_files(&call, &ExploreFiles::default()).expect("the folder can be listed");
    let is_complete = || {
        let report = workspace.index_report().expect("it is kept");
        matches!(report.phase, IndexPhase::Ready | IndexPhase::Off(_))
    };
    while !is_complete() {
        std::thread::sleep(PAUSE);
    }
}

/// Makes a folder of so many files with a repository that knows them, and a build folder among them.
fn make_folder(code: &Path, files: usize) {
    fs::create_dir(code).expect("the folder is empty");
    // All the same, so that git has a single content to store: its index is as large as ever.
    let write = |path: PathBuf| {
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("there is space");
        fs::write(path, "one line\n").expect("there is space");
    };
    for number in 0..files {
        let folder = number / FILES_IN_FOLDER;
        let path = if number % BUILT == BUILT - 1 {
            format!("target/debug/d{}/f{number}", folder / 2)
        } else {
            format!("src/d{}/d{folder}/f{number}", folder / FILES_IN_FOLDER)
        };
        write(code.join(path));
    }
    fs::write(code.join(".gitignore"), "target/\n").expect("there is space");
    for arguments in [&["init", "--quiet"][..], &["add", "--all"]] {
        let git = Command::new("git").current_dir(code).args(arguments).status();
        assert!(git.is_ok_and(|status| status.success()), "git works");
    }
}

fn spawn_plainly() {
    let output = Command::new("/bin/sh").args(["-c", "true"]).stdin(Stdio::null()).output();
    assert!(output.is_ok_and(|output| output.status.success()));
}

fn after_pause(run: impl FnOnce()) -> Duration {
    std::thread::sleep(PAUSE);
    let started = Instant::now();
    run();
    started.elapsed()
}

struct Figures {
    minimum: Duration,
    median: Duration,
}

impl Figures {
    fn of(mut times: Vec<Duration>) -> Figures {
        times.sort();
        Figures { minimum: times[0], median: times[times.len() / 2] }
    }

    fn minimum(&self) -> String {
        milliseconds(self.minimum)
    }

    fn median(&self) -> String {
        milliseconds(self.median)
    }
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}
