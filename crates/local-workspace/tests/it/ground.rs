//! A workspace on the disk, something beside it, and ways to call it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use change_journal::{Journal, JournalLimits};
use local_workspace::{EngineConfig, LayerUse, LocalWorkspace, Recovery, SandboxNeed};
use sandbox_exec::{LauncherConfig, Policy, SpawnerProgram, User};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use tempfile::TempDir;
use wap_core::*;

/// Whether commands run on a copy-on-write layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layered {
    /// They do, where this machine has layers.
    Yes,
    /// They change the folder itself, which is compared before and after.
    No,
}

pub(crate) const LAYERS: [Layered; 2] = [Layered::Yes, Layered::No];

/// A folder with `workspace`, `outside`, `state`, `home` and `scratch`, removed when dropped.
pub(crate) struct Ground {
    _folder: Option<TempDir>,
    path: PathBuf,
}

impl Ground {
    pub(crate) fn new() -> Ground {
        Ground::in_folder(tempfile::tempdir().unwrap())
    }

    /// One in memory where the machine has such a folder, for tests that change files many thousand times: on a disk they
    /// would wait for it most of the time. Commands cannot run here, because a sandbox has a `/dev` of its own.
    pub(crate) fn in_memory() -> Ground {
        Ground::in_folder(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn in_folder(folder: TempDir) -> Ground {
        let ground = Ground { path: fs::canonicalize(folder.path()).unwrap(), _folder: Some(folder) };
        for name in ["workspace", "outside", "state", "home", "scratch"] {
            fs::create_dir(ground.path.join(name)).unwrap();
        }
        ground
    }

    /// The ground of another process.
    pub(crate) fn at(path: &Path) -> Ground {
        Ground { _folder: None, path: path.to_owned() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path.join("workspace")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.path.join("outside")
    }

    /// Writes a file of the user's, with its folders.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read(self.root().join(name)).ok().map(|bytes| String::from_utf8(bytes).unwrap())
    }

    pub(crate) fn open_journal(&self) -> Journal {
        let limits = JournalLimits { lazy_delay: Duration::from_millis(20), ..JournalLimits::default() };
        Journal::open(&self.path.join("state/journal"), limits).unwrap().0
    }

    pub(crate) fn config(&self) -> EngineConfig {
        let user = User {
            name: "tester".into(),
            home: self.path.join("home"),
            search_path: std::env::var_os("PATH").unwrap_or_default(),
            language: "C.UTF-8".into(),
        };
        let spawner = SpawnerProgram::at(env!("CARGO_BIN_EXE_local-workspace-test-spawner").into());
        EngineConfig {
            limits: Limits::default(),
            read_only: false,
            sandbox: SandboxNeed::Whatever,
            launcher: LauncherConfig::new(spawner, user, self.path.join("scratch")),
            policy: Policy::for_workspace(&self.root()),
            state_folder: None,
            output_folder: self.path.join("state/output"),
            layers_folder: Some(self.path.join("state/layers")),
            layer: LayerUse::WherePossible,
        }
    }

    pub(crate) fn open(&self) -> LocalWorkspace {
        self.open_with(self.open_journal(), self.config()).0
    }

    pub(crate) fn open_layered(&self, layered: Layered) -> LocalWorkspace {
        self.open_with(self.open_journal(), self.layered_config(layered)).0
    }

    pub(crate) fn layered_config(&self, layered: Layered) -> EngineConfig {
        let layer = match layered {
            Layered::Yes => LayerUse::WherePossible,
            Layered::No => LayerUse::Off,
        };
        EngineConfig { layer, ..self.config() }
    }

    pub(crate) fn open_with(&self, journal: Journal, config: EngineConfig) -> (LocalWorkspace, Recovery) {
        let root = FileRoot::open(&self.root(), &RootRules::none(), FsPolicy::default()).unwrap();
        LocalWorkspace::open(root, journal, config).unwrap()
    }

    /// Every name in the workspace, temporary files included, sorted.
    pub(crate) fn all_names(&self) -> Vec<String> {
        fn collect(folder: &Path, root: &Path, names: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                names.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
                if path.is_dir() && !path.is_symlink() {
                    collect(&path, root, names);
                }
            }
        }
        let mut names = Vec::new();
        collect(&self.root(), &self.root(), &mut names);
        names.sort();
        names
    }
}

/// Who calls: a conversation, a run, a step.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) origin: Origin,
    pub(crate) cancel: CancelFlag,
    pub(crate) time_left: Option<Duration>,
}

impl Caller {
    /// A call that stands for itself.
    pub(crate) fn once() -> Caller {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Caller::in_run(RunKey::unnumbered(format!("{}-{number}", std::process::id())))
    }

    /// A run of a session, by the prompt that it answers.
    pub(crate) fn numbered(sequence: u32) -> Caller {
        Caller::in_run(RunKey { sequence, digest: format!("reply {sequence}") })
    }

    pub(crate) fn in_run(run: RunKey) -> Caller {
        let origin = Origin {
            conversation: ConversationId("conversation".into()),
            run,
            step: 0,
            retention: Retention::Process,
        };
        Caller { origin, cancel: CancelFlag::new(), time_left: None }
    }

    pub(crate) fn at(&self, step: u32) -> Caller {
        Caller { origin: self.origin.at_step(step), ..self.clone() }
    }

    /// The same with versions that outlive the process.
    pub(crate) fn durable(&self) -> Caller {
        let origin = Origin { retention: Retention::Durable, ..self.origin.clone() };
        Caller { origin, ..self.clone() }
    }

    pub(crate) fn call(&self) -> Call<'_> {
        Call { origin: &self.origin, cancel: &self.cancel, time_left: self.time_left }
    }
}

pub(crate) fn write(path: &str, content: &str) -> FileChange {
    FileChange::Write(WriteFile {
        path: path.into(),
        content: content.into(),
        create_directories: Some(true),
        ..WriteFile::default()
    })
}

pub(crate) fn delete(path: &str) -> FileChange {
    FileChange::Delete(DeleteFile { path: path.into() })
}

pub(crate) fn replace(
    path: &str,
    lines: (i64, i64),
    content: &str,
    version: Option<FileVersion>,
) -> FileChange {
    let (start_line, end_line) = lines;
    let operation = ModifyOperation::Replace { start_line, end_line, new_content: content.into(), was: None };
    modify(path, operation, version)
}

pub(crate) fn modify(path: &str, operation: ModifyOperation, version: Option<FileVersion>) -> FileChange {
    FileChange::Modify(ModifyFile {
        path: path.into(),
        operations: vec![operation],
        expected_version: version,
        line_numbers: None,
        seen: None,
    })
}

/// Carries out one change as a call of its own.
pub(crate) fn change(workspace: &impl Workspace, change: FileChange) -> Result<FileChanged, WapError> {
    workspace.change_files(&Caller::once().call(), &[change]).unwrap().remove(0)
}

pub(crate) fn read(workspace: &impl Workspace, path: &str) -> Result<ReadFileResponse, WapError> {
    workspace.read_file(&Caller::once().call(), &ReadFile { path: path.into(), ..ReadFile::default() })
}

/// The version of a file that is being shown.
pub(crate) fn shown(workspace: &impl Workspace, path: &str) -> Option<FileVersion> {
    read(workspace, path).unwrap().version
}

pub(crate) fn command(text: &str) -> ExecuteCommand {
    ExecuteCommand { command: text.into(), ..ExecuteCommand::default() }
}

pub(crate) fn run(workspace: &impl Workspace, text: &str) -> Result<ExecuteCommandResponse, WapError> {
    workspace.execute_command(&Caller::once().call(), &command(text), &mut Unobserved)
}
