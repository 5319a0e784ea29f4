//! Measures the cost of a copy-on-write layer for a command, on a tree of 20,000 files: `cargo bench -p sandbox-exec --bench layer`.
//!
//! Making a layer writes a little to the disk; with `TMPDIR` on a memory file system that part is not measured.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cow_layer::{Layer, LayerStore, ScanRules};
use divan::Bencher;
use sandbox_exec::{
    Launcher, LauncherConfig, LayerMount, Policy, ShellCommand, SpawnerProgram, User,
    spawner_main_if_requested,
};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};

fn main() {
    spawner_main_if_requested();
    divan::main();
}

/// The number of files in the workspace.
const FILES: u32 = 20_000;

struct Fixture {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    launcher: Launcher,
    store: LayerStore,
}

impl Fixture {
    /// Keeps layers inside the workspace, as `agentd` does by default.
    fn new() -> Fixture {
        Fixture::with_layers_at("workspace/.agentd/layers")
    }

    fn with_layers_at(name: &str) -> Fixture {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = std::fs::canonicalize(folder.path()).expect("the folder is there");
        let [home, workspace, layers] = ["home", "workspace", name].map(|folder| path.join(folder));
        for folder in [&home, &workspace, &layers] {
            std::fs::create_dir_all(folder).expect("a folder can be made");
        }
        for number in 0..FILES {
            let folder = workspace.join(format!("{}", number / 100));
            std::fs::create_dir_all(&folder).expect("a folder can be made");
            std::fs::write(folder.join(number.to_string()), "text\n").expect("a file can be made");
        }
        let user = User {
            name: "bench".into(),
            home,
            search_path: "/usr/bin:/bin".into(),
            language: "C.UTF-8".into(),
        };
        let config = LauncherConfig::new(SpawnerProgram::this_program(), user, path.clone());
        let launcher = Launcher::start(config).expect("the launcher starts");
        let root = FileRoot::open(&workspace, &RootRules::default(), FsPolicy::default());
        let root = Arc::new(root.expect("the workspace opens"));
        let held = std::fs::File::open(&layers).expect("the folder is there").into();
        let store = LayerStore::open(held, &layers, root).expect("layers can be made");
        Fixture { _folder: folder, workspace, launcher, store }
    }

    fn layer(&self, number: u64) -> Layer {
        let name = format!("{number}").parse().expect("a number is a name");
        self.store.create(&name).expect("a layer can be made")
    }

    fn run(&self, layer: Option<&Layer>, text: &str) {
        let mut policy = Policy::for_workspace(&self.workspace).with_git_writable();
        policy.hidden.push(self.workspace.join(".agentd"));
        if let Some(spec) = layer.map(Layer::mount_spec) {
            policy = policy.with_layer(LayerMount::new(spec.lower, spec.upper, spec.work));
        }
        let command = ShellCommand::new(text).expect("the command is well formed");
        let running = self.launcher.spawn(&policy, &command).expect("the command starts");
        assert!(running.wait().is_ok_and(|outcome| outcome.ending.is_success()));
    }
}

/// A new number for each layer.
fn next() -> u64 {
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

#[divan::bench(sample_count = 300)]
fn true_without_a_layer(bencher: Bencher<'_, '_>) {
    let fixture = Fixture::new();
    bencher.bench_local(|| fixture.run(None, "true"));
}

#[divan::bench(sample_count = 300)]
fn true_on_a_layer(bencher: Bencher<'_, '_>) {
    let fixture = Fixture::new();
    bencher.with_inputs(|| fixture.layer(next())).bench_local_values(|layer| {
        fixture.run(Some(&layer), "true");
        layer
    });
}

#[divan::bench(sample_count = 300)]
fn true_on_a_layer_kept_outside(bencher: Bencher<'_, '_>) {
    let fixture = Fixture::with_layers_at("layers");
    bencher.with_inputs(|| fixture.layer(next())).bench_local_values(|layer| {
        fixture.run(Some(&layer), "true");
        layer
    });
}

#[divan::bench(sample_count = 300)]
fn making_a_layer(bencher: Bencher<'_, '_>) {
    let fixture = Fixture::new();
    bencher.bench_local(|| fixture.layer(next()));
}

#[divan::bench(sample_count = 100, args = [1, 100, 10_000])]
fn looking_at_new_files(bencher: Bencher<'_, '_>, files: u32) {
    let fixture = Fixture::new();
    let layer = fixture.layer(next());
    let upper: &Path = &layer.mount_spec().upper;
    for number in 0..files {
        std::fs::write(upper.join(format!("new{number}")), "text\n").expect("a file can be made");
    }
    bencher.bench_local(|| layer.changes(ScanRules::default()).map(|changes| changes.len()));
}

#[divan::bench(sample_count = 100)]
fn discarding_a_used_layer(bencher: Bencher<'_, '_>) {
    let fixture = Fixture::new();
    let used = || {
        let layer = fixture.layer(next());
        fixture.run(Some(&layer), "echo x > new; rm 0/1; echo y >> 0/2");
        layer
    };
    bencher.with_inputs(used).bench_local_values(Layer::discard);
}
