//! How long a command takes from the request to the last process's death: `cargo bench -p sandbox-exec`.
//!
//! `plain` is the same shell without a launcher, for comparison on the machine at hand.

use std::process::Command;

use divan::Bencher;
use sandbox_exec::{
    Launcher, LauncherConfig, Level, Policy, ShellCommand, SpawnerProgram, User, spawner_main_if_requested,
};

fn main() {
    spawner_main_if_requested();
    divan::main();
}

#[divan::bench]
fn plain(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| {
        let output = Command::new("/bin/sh").args(["-c", "true"]).output();
        assert!(output.is_ok_and(|output| output.status.success()));
    });
}

#[divan::bench(args = ["none", "process", "landlock", "namespaces", "full"])]
fn confined(bencher: Bencher<'_, '_>, level: &str) {
    let level = match level {
        "none" => Level::None,
        "process" => Level::Process,
        "landlock" => Level::Landlock,
        "namespaces" => Level::Namespaces,
        _ => Level::Full,
    };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let home = folder.path().join("home");
    let workspace = folder.path().join("workspace");
    for path in [&home, &workspace] {
        std::fs::create_dir(path).expect("a folder can be made");
    }
    let user =
        User { name: "bench".into(), home, search_path: "/usr/bin:/bin".into(), language: "C.UTF-8".into() };
    let mut config = LauncherConfig::new(SpawnerProgram::this_program(), user, folder.path().to_owned());
    config.highest_level = level;
    let launcher = Launcher::start(config).expect("the launcher starts");
    let policy = Policy::for_workspace(&workspace);
    let command = ShellCommand::new("true").expect("the command is well formed");
    bencher.bench_local(|| {
        let running = launcher.spawn(&policy, &command).expect("the command starts");
        assert!(running.wait().is_ok_and(|outcome| outcome.ending.is_success()));
    });
}
