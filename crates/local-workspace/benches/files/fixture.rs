//! An engine over a folder, and calls of it.

use std::path::Path;

use change_journal::Journal;
use local_workspace::{EngineConfig, LayerUse, LocalWorkspace, SandboxNeed};
use sandbox_exec::{LauncherConfig, Policy, SpawnerProgram, User};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use wap_core::{Call, CancelFlag, ConversationId, Limits, Origin, Retention, RunKey};

/// Opens an engine on `root`; what it keeps goes into `state`.
pub(crate) fn engine(root: &Path, state: &Path, journal: Journal) -> LocalWorkspace {
    std::fs::create_dir_all(state).expect("the target folder can be written");
    let user = User {
        name: "bench".into(),
        home: state.to_owned(),
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        language: "C.UTF-8".into(),
    };
    // Commands are not run, so it is never started.
    let spawner = SpawnerProgram::at(env!("CARGO_BIN_EXE_local-workspace-test-spawner").into());
    let config = EngineConfig {
        limits: Limits::default(),
        read_only: false,
        sandbox: SandboxNeed::Whatever,
        launcher: LauncherConfig::new(spawner, user, state.to_owned()),
        network: egress::Network::Off,
        policy: Policy::for_workspace(root),
        state_folder: None,
        output_folder: state.join("output"),
        layers_folder: None,
        layer: LayerUse::Off,
    };
    LocalWorkspace::open(self::root(root), journal, config).expect("the engine opens").0
}

pub(crate) fn root(path: &Path) -> FileRoot {
    FileRoot::open(path, &RootRules::none(), FsPolicy::default()).expect("the folder is a good root")
}

/// Makes a separate call.
pub(crate) fn call<T>(make: impl FnOnce(&Call<'_>) -> T) -> T {
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let origin = Origin {
        conversation: ConversationId("bench".into()),
        run: RunKey::unnumbered(format!("{}-{number}", std::process::id())),
        step: 0,
        retention: Retention::Process,
    };
    make(&Call { origin: &origin, cancel: &CancelFlag::new(), time_left: None })
}
