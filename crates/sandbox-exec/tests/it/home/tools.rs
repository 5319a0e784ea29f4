//! Real programs with their caches. A missing one is skipped by name, and a failure where `CI` is set.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use sandbox_exec::{Launcher, LauncherConfig, ShellCommand, Timeout};

use crate::fixture::{Fixture, spawner, stderr, stdout, user};
use crate::home::{fingerprint, kept, write};

fn is_there(program: &str, argument: &str) -> bool {
    let is_there = Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success());
    assert!(is_there || std::env::var_os("CI").is_none(), "{program} is missing");
    if !is_there {
        println!("skipped: {program} is missing");
    }
    is_there
}

/// Runs a slow command; the output of both streams must hold `expected`.
fn works(fixture: &Fixture, launcher: &Launcher, text: &str, expected: &str) -> String {
    let timeout = Timeout::new(Duration::from_secs(300)).unwrap();
    let command = ShellCommand::new(text).unwrap().with_timeout(timeout);
    let running = launcher.spawn(&fixture.policy, &command).unwrap();
    assert_eq!(running.home_fault(), None);
    let outcome = running.wait().unwrap();
    let said = [stdout(&outcome), stderr(&outcome)].concat();
    assert!(outcome.ending.is_success() && said.contains(expected), "{}: {said}", outcome.ending);
    said
}

/// A launcher for the user who runs the tests, with their toolchains and caches.
fn own_launcher(fixture: &Fixture) -> Launcher {
    let home = std::env::var_os("HOME").unwrap_or_else(|| "/nonexistent".into());
    let config = LauncherConfig::new(spawner(), user(Path::new(&home)), fixture.root().join("scratch"));
    Launcher::start(config).unwrap()
}

#[test]
fn cargo_builds_offline_from_the_users_registry_and_a_second_build_is_warm() {
    if !is_there("cargo", "--version") {
        return;
    }
    let fixture = kept();
    let launcher = own_launcher(&fixture);
    let manifest = "[package]\nname = \"inside\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\ncfg-if = \"1\"\n\n[workspace]\n";
    write(&fixture.workspace().join("Cargo.toml"), manifest);
    write(&fixture.workspace().join("src/lib.rs"), "cfg_if::cfg_if! { if #[cfg(unix)] { pub fn f() {} } }\n");
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from).unwrap_or_default();
    let index = home.join(".cargo/registry/index");
    let before = index.is_dir().then(|| fingerprint(&index));
    works(&fixture, &launcher, "cargo fetch --offline && cargo build --offline", "Compiling inside");
    let second = works(&fixture, &launcher, "cargo build --offline", "Finished");
    assert!(!second.contains("Compiling"), "{second}");
    // From the caches, without anything that was built.
    works(&fixture, &launcher, "rm -r target && cargo build --offline --frozen", "Compiling cfg-if");
    assert_eq!(index.is_dir().then(|| fingerprint(&index)), before);
}

#[test]
fn npm_installs_from_its_cache_and_writes_new_entries() {
    if !is_there("npm", "--version") {
        return;
    }
    let fixture = kept();
    let launcher = own_launcher(&fixture);
    write(&fixture.workspace().join("dep/package.json"), r#"{ "name": "dep", "version": "1.0.0" }"#);
    write(&fixture.workspace().join("package.json"), r#"{ "name": "inside", "version": "1.0.0" }"#);
    let pack = "npm pack ./dep --silent && npm cache add ./dep-1.0.0.tgz";
    works(&fixture, &launcher, pack, "");
    let install = "npm install --offline --no-audit --no-fund ./dep-1.0.0.tgz && rm -rf node_modules && \
                   npm ci --prefer-offline --no-audit --no-fund && cat node_modules/dep/package.json";
    works(&fixture, &launcher, install, "\"dep\"");
    let listed = works(&fixture, &launcher, "npm cache ls", "dep-1.0.0.tgz");
    assert!(!listed.contains("EROFS"), "{listed}");
}

#[test]
fn pip_installs_a_local_wheel_and_keeps_its_cache() {
    if !is_there("python3", "--version") {
        return;
    }
    let fixture = kept();
    let launcher = own_launcher(&fixture);
    let wheel = "import zipfile\n\
                 z = zipfile.ZipFile('dep-1.0-py3-none-any.whl', 'w')\n\
                 z.writestr('dep.py', 'answer = 42\\n')\n\
                 z.writestr('dep-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0\\n')\n\
                 z.writestr('dep-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
                 z.writestr('dep-1.0.dist-info/RECORD', '')\n\
                 z.close()\n";
    fs::write(fixture.workspace().join("wheel.py"), wheel).unwrap();
    let text = "python3 wheel.py && python3 -m pip install --quiet --no-index --target lib ./dep-1.0-py3-none-any.whl && \
                PYTHONPATH=lib python3 -c 'import dep; print(dep.answer)'";
    works(&fixture, &launcher, text, "42");
    works(
        &fixture,
        &launcher,
        "python3 -m pip cache dir && mkdir -p $(python3 -m pip cache dir) && echo x > $(python3 -m pip cache dir)/x",
        ".cache/pip",
    );
    works(&fixture, &launcher, "cat $(python3 -m pip cache dir)/x", "x");
}

#[test]
fn go_tests_are_cached_from_one_command_to_the_next() {
    if !is_there("go", "version") {
        return;
    }
    let fixture = kept();
    let launcher = own_launcher(&fixture);
    let code = "package inside\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif 1+1 != 2 {\n\t\tt.Fatal()\n\t}\n}\n";
    write(&fixture.workspace().join("go.mod"), "module inside\n\ngo 1.19\n");
    write(&fixture.workspace().join("adds_test.go"), code);
    works(&fixture, &launcher, "go test ./...", "ok");
    works(&fixture, &launcher, "go test ./...", "(cached)");
    // The control: with a fresh home it builds anew.
    let mut fresh = fixture;
    fresh.policy.kept_home = None;
    let again = works(&fresh, &launcher, "go test ./...", "ok");
    assert!(!again.contains("(cached)"), "{again}");
}
