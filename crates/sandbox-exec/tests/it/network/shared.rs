//! Commands that share a network: a server in the background, its clients, and commands that cannot reach it.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sandbox_exec::{
    BackgroundProcess, Ending, Launcher, Level, NetworkHolder, Outcome, Policy, Readiness, ShellCommand,
};

use crate::fixture::{Fixture, HANG, marker, stderr, stdout, survivors, traced_spawner};
use crate::network::{at_level_full, python};

const OUTPUT_BYTES: usize = 64 << 10;

fn start(fixture: &Fixture, network: &NetworkHolder, text: &str, ready: &str) -> BackgroundProcess {
    let mut policy = fixture.policy.clone();
    // Layers serve one command at a time; the server sees the folder itself.
    policy.layer = None;
    let running = spawn(&fixture.launcher, network, &policy, text);
    BackgroundProcess::start(running, Some(ready), OUTPUT_BYTES).unwrap()
}

fn spawn(launcher: &Launcher, network: &NetworkHolder, policy: &Policy, text: &str) -> sandbox_exec::Running {
    launcher.spawn_in(network, policy, &ShellCommand::new(text).unwrap()).unwrap()
}

fn run_in(fixture: &Fixture, network: &NetworkHolder, text: &str) -> Outcome {
    spawn(&fixture.launcher, network, &fixture.policy, text).wait().unwrap()
}

fn wait(process: &BackgroundProcess) -> Readiness {
    process.wait_ready(Instant::now() + HANG, &|| false)
}

fn output(process: &BackgroundProcess) -> String {
    process.output().text(|omitted| format!("<{omitted} bytes>"))
}

/// Answers every connection, and prints its port when it listens.
const SERVER: &str = "\
import socket
server = socket.create_server((\"127.0.0.1\", 0))
print(\"Listening on\", server.getsockname()[1], flush=True)
while True:
    peer, _ = server.accept()
    peer.sendall(b\"served\")
    peer.close()
";

#[test]
fn a_later_command_reaches_the_server_and_another_network_does_not() {
    at_level_full(
        "network::shared::a_later_command_reaches_the_server_and_another_network_does_not",
        |fixture| {
            let network = fixture.launcher.make_network().unwrap();
            let other = fixture.launcher.make_network().unwrap();
            let server = start(fixture, &network, &python(SERVER), "Listening on ");
            assert_eq!(wait(&server), Readiness::Ready, "{}", output(&server));
            while !output(&server).ends_with('\n') {
                assert!(!server.wait_end(Instant::now() + Duration::from_millis(5)));
            }
            let port: u16 = output(&server).split_whitespace().last().unwrap().parse().unwrap();
            let ask = python(&format!(
                "import socket\nprint(socket.create_connection((\"localhost\", {port})).recv(9).decode())"
            ));
            let served = run_in(fixture, &network, &ask);
            assert_eq!(stdout(&served), "served\n", "{}", stderr(&served));
            if fixture.policy.layer.is_some() {
                crate::layer::renew(fixture, &marker());
            }
            for refused in [run_in(fixture, &other, &ask), super::run(fixture, &ask)] {
                assert!(!refused.ending.is_success() && stderr(&refused).contains("refused"), "{refused:?}");
            }
            assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
            server.stop(HANG);
            assert!(server.end().is_some());
        },
    );
}

#[test]
fn commands_in_one_network_are_confined_like_others() {
    at_level_full("network::shared::commands_in_one_network_are_confined_like_others", |fixture| {
        let network = fixture.launcher.make_network().unwrap();
        let secret = marker();
        let sleeper = start(fixture, &network, &format!("echo up; sleep 600 # {secret}"), "up");
        assert_eq!(wait(&sleeper), Readiness::Ready);
        let text = format!(
            "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c {secret}'[^\\[]'; \
             grep -E 'CapEff|CapBnd|CapPrm|NoNewPrivs' /proc/self/status; ip link add x type dummy 2>&1; \
             python3 -c 'import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))'; ls /sys 2>&1 | wc -l"
        );
        let shared = stdout(&run_in(fixture, &network, &text));
        if fixture.policy.layer.is_some() {
            crate::layer::renew(fixture, &marker());
        }
        let own = stdout(&super::run(fixture, &text));
        assert_eq!(shared, own);
        assert!(
            shared.contains("CapEff:\t0000000000000000") && shared.contains("NoNewPrivs:\t1"),
            "{shared}"
        );
    });
}

#[test]
fn what_ignores_the_request_to_end_is_killed_with_all_that_it_forked() {
    at_level_full(
        "network::shared::what_ignores_the_request_to_end_is_killed_with_all_that_it_forked",
        |fixture| {
            let network = fixture.launcher.make_network().unwrap();
            let marker = marker();
            let text = format!(
                "trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 600; : {marker}' &) ; echo up; \
                 sh -c 'trap \"\" TERM; sleep 600; : {marker}'"
            );
            let stubborn = start(fixture, &network, &text, "up");
            assert_eq!(wait(&stubborn), Readiness::Ready);
            assert!(!survivors(&marker).is_empty(), "the control: it runs");
            stubborn.stop(Duration::from_millis(20));
            assert_eq!(stubborn.end().unwrap().unwrap().ending, Ending::Cancelled);
            assert_eq!(survivors(&marker), Vec::<String>::new());
            // Twice does nothing more.
            stubborn.stop(Duration::ZERO);
        },
    );
}

#[test]
fn output_of_any_length_is_kept_at_both_ends() {
    let fixture = Fixture::contained();
    let network = fixture.launcher.make_network().unwrap();
    let text = "echo first; head -c 300000000 /dev/zero; echo; echo all of it; sleep 600";
    let loud = start(&fixture, &network, text, "all of it");
    assert_eq!(wait(&loud), Readiness::Ready);
    let kept = loud.output();
    assert!(kept.head.len() + kept.tail.len() <= OUTPUT_BYTES && kept.total_bytes > 300_000_000, "{kept:?}");
    assert!(kept.head.starts_with(b"first\n"));
    assert!(String::from_utf8_lossy(&kept.tail).contains("all of it"));
}

#[test]
fn a_text_that_never_comes_is_waited_for_until_the_deadline_or_the_end() {
    let fixture = Fixture::contained();
    let network = fixture.launcher.make_network().unwrap();
    let silent = start(&fixture, &network, "sleep 600", "up");
    let soon = Instant::now() + Duration::from_millis(50);
    assert_eq!(silent.wait_ready(soon, &|| false), Readiness::Waiting);
    assert_eq!(silent.wait_ready(Instant::now() + HANG, &|| true), Readiness::Waiting);
    let short = start(&fixture, &network, "echo no; exit 3", "up");
    assert_eq!(wait(&short), Readiness::Ended);
    assert_eq!(short.end().unwrap().unwrap().ending, Ending::Exited(3));
    assert_eq!(output(&short), "no\n");
}

#[test]
fn a_dropped_process_and_a_killed_spawner_leave_no_survivor() {
    for is_killed in [false, true] {
        let tools = tempfile::tempdir().unwrap();
        let fixture = Fixture::with_spawner(traced_spawner(tools.path()), Level::Full);
        let network = fixture.launcher.make_network().unwrap();
        let marker = marker();
        let text = format!("echo up; setsid sh -c 'sleep 600; : {marker}'");
        let process = start(&fixture, &network, &text, "up");
        assert_eq!(wait(&process), Readiness::Ready);
        assert!(!survivors(&marker).is_empty(), "the control: it runs");
        if is_killed {
            let number = std::fs::read_to_string(tools.path().join("spawner.pid")).unwrap();
            let spawner = Pid::from_raw(number.trim().parse().unwrap()).unwrap();
            kill_process(spawner, Signal::KILL).unwrap();
            assert!(process.wait_end(Instant::now() + HANG));
            // The network outlives the spawner that made it.
            assert!(run_in(&fixture, &network, "true").ending.is_success());
        }
        drop(process);
        assert_eq!(survivors(&marker), Vec::<String>::new());
    }
}
