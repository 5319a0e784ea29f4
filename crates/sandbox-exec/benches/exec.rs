//! Measures the cost of confinement, in one run: `cargo xtask bench exec`.
//!
//! The time of a command runs from the request to the last process's death. Kinds of commands take turns, so that
//! background load affects all of them alike. Figures are printed next to their targets; a slow machine is not an
//! error, a failing command is.
#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]

use std::fs;
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sandbox_exec::{
    KeptHome, Launcher, LauncherConfig, Level, OutputStream, Policy, ShellCommand, SpawnerProgram, Timeout,
    User, spawner_main_if_requested,
};

const ROUNDS: usize = 300;

/// The pause between two commands in the benchmarks that pause: a model is never faster.
const PAUSE: Duration = Duration::from_millis(20);

/// The memory of the large daemon.
const LARGE_BYTES: usize = 500 << 20;

const FLOOD_BYTES: u64 = 1 << 30;
const BOMB_PROCESSES: u32 = 500;
const BOMB_ROUNDS: usize = 10;

fn main() {
    spawner_main_if_requested();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let bench = Bench::new(folder.path());
    println!("{}", bench.launcher.report());
    println!("`/bin/sh -c true`, from the request to the last process's death, {ROUNDS} rounds:");
    bench.compare("one after the other", Duration::ZERO);
    bench.compare("with a pause of 20 ms between", PAUSE);
    let large = vec![1_u8; LARGE_BYTES];
    bench.compare("the same, from a daemon with 500 MB in memory", PAUSE);
    drop(black_box(large));
    println!("at lower levels, with the same pause:");
    for level in [Level::None, Level::Process, Level::Landlock, Level::Namespaces] {
        let launcher = launcher(&bench.root, level);
        let times = (0..ROUNDS / 3).map(|_| after(PAUSE, || bench.run(&launcher)));
        Figures::of(times.collect()).print(&level.to_string(), None);
    }
    bench.drain();
    bench.bomb();
}

struct Bench {
    root: PathBuf,
    launcher: Launcher,
    policy: Policy,
    /// With a kept home over four caches.
    kept_launcher: Launcher,
    kept: Policy,
}

impl Bench {
    fn new(root: &Path) -> Bench {
        for name in ["home", "workspace"] {
            fs::create_dir(root.join(name)).expect("the folder is empty");
        }
        for cache in [".cargo/registry", ".npm/_cacache", ".cache/pip", "go/pkg/mod"] {
            fs::create_dir_all(root.join("home").join(cache)).expect("the folder is empty");
        }
        let [kept_launcher, launcher] = [Level::Full; 2].map(|level| launcher(root, level));
        let policy = Policy::for_workspace(&root.join("workspace"));
        let kept = policy.clone().with_kept_home(KeptHome::new(root.join("kept")));
        Bench { root: root.to_owned(), launcher, policy, kept_launcher, kept }
    }

    /// Measures a plain command, a confined one, and one in another sandbox, in turns.
    fn compare(&self, title: &str, pause: Duration) {
        println!("{title}:");
        let peer = Peer::find(&self.root.join("workspace"));
        let (mut plain_times, mut full_times, mut peer_times) = (Vec::new(), Vec::new(), Vec::new());
        let mut kept_times = Vec::new();
        for _ in 0..ROUNDS {
            plain_times.push(after(pause, plain));
            full_times.push(after(pause, || self.run(&self.launcher)));
            kept_times.push(after(pause, || run(&self.kept_launcher, &self.kept)));
            peer_times.extend(peer.as_ref().map(|peer| after(pause, || peer.run())));
        }
        let plain = Figures::of(plain_times);
        let full = Figures::of(full_times);
        plain.print("plain", None);
        full.print("level full", Some(&plain));
        println!(
            "    more than plain: {} by minimum (wanted: 1.3 ms), {} by median (wanted: 2.5 ms)",
            milliseconds(full.minimum.saturating_sub(plain.minimum)),
            milliseconds(full.median.saturating_sub(plain.median)),
        );
        Figures::of(kept_times).print("kept home", Some(&plain));
        match peer {
            Some(_) => Figures::of(peer_times).print("bwrap", Some(&plain)),
            None => println!("    bwrap: not installed, or it cannot make namespaces here"),
        }
    }

    fn run(&self, launcher: &Launcher) {
        run(launcher, &self.policy);
    }

    fn drain(&self) {
        // Each write fills the pipe: with smaller ones the producer would be slower than any reader.
        let text = format!("dd if=/dev/zero bs=64k count={} status=none", FLOOD_BYTES >> 16);
        let plain_seconds = plain_drain(&text);
        let command = ShellCommand::new(&text).expect("the command is well formed");
        let command = command.with_timeout(Timeout::from_seconds(60).expect("that is more than nothing"));
        // Resets the kernel's record of the highest value.
        let _ = fs::write("/proc/self/clear_refs", "5");
        let before = status_bytes("VmRSS:");
        let started = Instant::now();
        let running = self.launcher.spawn(&self.policy, &command).expect("the command starts");
        let outcome = running.wait().expect("the benchmark kills no command");
        let seconds = started.elapsed().as_secs_f64();
        assert_eq!(outcome.stdout.total_bytes, FLOOD_BYTES);
        let growth = status_bytes("VmHWM:").saturating_sub(before);
        println!(
            "1 GiB of output drained: {:.2} GB/s (wanted: 1; a bare loop around read: {:.2}), memory growth {:.1} MiB \
             (wanted: below 16)",
            FLOOD_BYTES as f64 / 1e9 / seconds,
            FLOOD_BYTES as f64 / 1e9 / plain_seconds,
            growth as f64 / f64::from(1 << 20),
        );
    }

    fn bomb(&self) {
        let text = format!(
            "i=0; while [ $i -lt {BOMB_PROCESSES} ]; do sleep 100 & i=$((i+1)); done; echo ready; wait"
        );
        let command = ShellCommand::new(&text).expect("the command is well formed");
        let times = (0..BOMB_ROUNDS).map(|_| {
            let running = self.launcher.spawn(&self.policy, &command).expect("the command starts");
            let (killer, mut cancelled_at) = (running.killer(), None);
            let ended = running.wait_with(
                &mut |_: OutputStream, _: &[u8]| {
                    cancelled_at.get_or_insert_with(Instant::now);
                    killer.cancel();
                },
                None,
            );
            ended.expect("everything can be killed");
            cancelled_at.expect("the bomb went off").elapsed()
        });
        let figures = Figures::of(times.collect());
        println!(
            "{BOMB_PROCESSES} processes, from the cancellation until all are dead: {} by minimum, {} by median \
             (wanted: 100 ms)",
            milliseconds(figures.minimum),
            milliseconds(figures.median),
        );
    }
}

/// Returns the seconds that a plain read loop needs for the output of the same command without a sandbox.
fn run(launcher: &Launcher, policy: &Policy) {
    let command = ShellCommand::new("true").expect("the command is well formed");
    let running = launcher.spawn(policy, &command).expect("the command starts");
    assert_eq!(running.home_fault(), None);
    assert!(running.wait().is_ok_and(|outcome| outcome.ending.is_success()));
}

fn plain_drain(text: &str) -> f64 {
    let started = Instant::now();
    let mut shell =
        Command::new("/bin/sh").args(["-c", text]).stdout(Stdio::piped()).spawn().expect("there is a shell");
    let mut output = shell.stdout.take().expect("it is a pipe");
    let (mut buffer, mut total) = (vec![0; 1 << 16], 0);
    while let Ok(length @ 1..) = output.read(&mut buffer) {
        total += length as u64;
    }
    assert_eq!(total, FLOOD_BYTES);
    shell.wait().expect("it has ended");
    started.elapsed().as_secs_f64()
}

fn launcher(root: &Path, highest: Level) -> Launcher {
    let home = root.join("home");
    let user =
        User { name: "bench".into(), home, search_path: "/usr/bin:/bin".into(), language: "C.UTF-8".into() };
    let mut config = LauncherConfig::new(SpawnerProgram::this_program(), user, root.to_owned());
    config.highest_level = highest;
    Launcher::start(config).expect("the launcher starts")
}

/// Another sandbox with the same isolation.
struct Peer {
    workspace: PathBuf,
}

impl Peer {
    fn find(workspace: &Path) -> Option<Peer> {
        let peer = Peer { workspace: workspace.to_owned() };
        peer.command().output().is_ok_and(|output| output.status.success()).then_some(peer)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("bwrap");
        command.args(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        for tree in ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/etc/alternatives", "/etc/ssl/certs"]
        {
            command.args(["--ro-bind-try", tree, tree]);
        }
        command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"]);
        command.args(["--tmpfs", "/root", "--tmpfs", "/dev/shm", "--bind"]);
        command.arg(&self.workspace).arg(&self.workspace).arg("--chdir").arg(&self.workspace);
        command.args(["/bin/sh", "-c", "true"]);
        command.stdin(Stdio::null());
        command
    }

    fn run(&self) {
        assert!(self.command().output().is_ok_and(|output| output.status.success()));
    }
}

fn plain() {
    let output = Command::new("/bin/sh").args(["-c", "true"]).stdin(Stdio::null()).output();
    assert!(output.is_ok_and(|output| output.status.success()));
}

fn after(pause: Duration, run: impl FnOnce()) -> Duration {
    if !pause.is_zero() {
        std::thread::sleep(pause);
    }
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

    fn print(&self, name: &str, plain: Option<&Figures>) {
        let ratio = plain.map_or(String::new(), |plain| {
            format!(", {:.1} times plain", self.median.as_secs_f64() / plain.median.as_secs_f64())
        });
        println!(
            "    {name:<12} minimum {}, median {}{ratio}",
            milliseconds(self.minimum),
            milliseconds(self.median)
        );
    }
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}

/// Reads a field of this process's status, which the kernel gives in kibibytes.
fn status_bytes(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |line: &str| line.strip_prefix(field)?.split_whitespace().next()?.parse().ok();
    status.lines().find_map(value).unwrap_or(0_u64) * 1024
}
