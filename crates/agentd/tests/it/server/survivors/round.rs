//! One round: something that tries to outlive its end, a kill at a random moment, and a look at what is left.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::processes::{is_running, spawners_of, until_at_work, until_none, with_marker, with_mount};
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

/// The last moment of a kill in milliseconds, after the request or after the command is at work: its processes need about half
/// of it to be there.
const LAST_MOMENT: u64 = 400;

/// A kind of command, and a way to run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Work {
    pub(super) name: &'static str,
    text: &'static str,
    pub(super) is_background: bool,
}

const fn command(name: &'static str, text: &'static str) -> Work {
    Work { name, text, is_background: false }
}

const fn background(name: &'static str, text: &'static str) -> Work {
    Work { name, text, is_background: true }
}

const FORKS: &str = "for i in 1 2 3; do sleep 600 & done; wait";
const DEAF: &str = "trap '' TERM HUP INT QUIT USR1; while :; do sleep 1; done";
const SESSION: &str = "setsid sh -c 'sleep 600; :' >/dev/null 2>&1 & sleep 600";
const DOUBLE: &str =
    "(setsid sh -c 'trap \"\" TERM HUP; sleep 600 & sleep 600; :' >/dev/null 2>&1 &) & sleep 600";
const PRINTS: &str = "yes 0123456789abcdef | head -c 10000000000";
const STOPS: &str = "sh -c 'kill -STOP $$; :' & sleep 600";
const REPEATS: &str =
    "for i in 1 2 3; do (setsid sh -c 'while :; do (sleep 600 & exit); sleep 0.2; done' &) & done; sleep 600";

/// The work of the rounds.
pub(super) const WORK: [Work; 12] = [
    command("forks", FORKS),
    background("forks", FORKS),
    command("ignores signals", DEAF),
    background("ignores signals", DEAF),
    command("new session", SESSION),
    background("double fork", DOUBLE),
    command("double fork", DOUBLE),
    command("prints 10 GB", PRINTS),
    background("prints 10 GB", PRINTS),
    command("stops itself", STOPS),
    command("forks for ever", REPEATS),
    background("forks for ever", REPEATS),
];

/// The process that is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Victim {
    /// The daemon, which has the call from its own client.
    Daemon,
    /// The daemon, which has the call from another process, and that process.
    DaemonAndClient,
    Spawner,
    /// The process that the call comes from; the daemon lives on.
    Client,
}

/// The victims of the rounds.
pub(super) const VICTIMS: [Victim; 4] =
    [Victim::Daemon, Victim::Spawner, Victim::Client, Victim::DaemonAndClient];

/// The findings of one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding {
    /// The processes of the command when the kill came.
    pub(super) killed_among: usize,
    /// The time from the kill to the end of the last of them.
    pub(super) gone_after: Duration,
}

/// A project, whose processes are killed again and again.
pub(super) struct Scene {
    project: Project,
    options: &'static [&'static str],
    is_confined: bool,
}

impl Scene {
    /// A project with commands at the level that the machine has.
    pub(super) fn confined() -> Scene {
        Scene { project: Project::new(), options: &["mcp"], is_confined: true }
    }

    /// A project with commands at the lowest level, at which descendants are searched for.
    pub(super) fn unconfined() -> Scene {
        let project = Project::with_base_outside();
        Scene { project, options: &["mcp", "--sandbox", "off"], is_confined: false }
    }

    fn start(&self) -> LineClient {
        let mut client = LineClient::start(self.project.command(self.options));
        client.does("initialize", json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
        }));
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// Runs one round. `turn` counts the rounds of this work and victim.
    pub(super) fn round(&self, work: Work, victim: Victim, turn: usize) -> Finding {
        let marker = marker();
        let mut owner = self.start();
        let has_client = matches!(victim, Victim::Client | Victim::DaemonAndClient);
        if has_client {
            // On a busy machine the client could otherwise be the first to open the state folder, and own it.
            tool(&mut owner, "getWorkspaceInfo", &json!({}));
        }
        let mut client = has_client.then(|| self.start());
        let call = self.call(work, victim, &marker);
        let id = client.as_mut().unwrap_or(&mut owner).request("tools/call", call);
        let wait = Duration::from_millis(some_number(LAST_MOMENT));
        let context = format!("{work:?} {victim:?}, turn {turn}, after {wait:?}, {marker}");
        // One half of the kills meets it at work, and the other half wherever it is.
        if turn.is_multiple_of(2) {
            until_at_work(&context, &marker);
        }
        std::thread::sleep(wait);
        // In this order: a process that is there has a spawner, which stays.
        let killed_among = with_marker(&marker).len();
        let spawners = spawners_of(owner.process_id());
        assert!(killed_among == 0 || !spawners.is_empty(), "{context}: no spawner to kill");
        let killed_at = Instant::now();
        match victim {
            Victim::Daemon => owner.kill(),
            Victim::Client => client.as_mut().unwrap().kill(),
            Victim::DaemonAndClient => {
                client.as_mut().unwrap().kill();
                owner.kill();
            }
            Victim::Spawner => {
                for spawner in &spawners {
                    kill(Pid::from_raw(i32::try_from(*spawner).unwrap()), Signal::SIGKILL).unwrap();
                }
                // A kill before the command began has it begin in the next spawner, and end with its time.
                owner.answer(id);
                if work.is_background {
                    tool(&mut owner, "stopProcess", &json!({ "name": "web" }));
                }
            }
        }
        until_none(&context, || with_marker(&marker));
        let gone_after = killed_at.elapsed();
        if matches!(victim, Victim::Spawner | Victim::Client) {
            // The daemon that is left works.
            let answer =
                tool(&mut owner, "executeCommand", &json!({ "command": "echo \"still $((6 * 7))\"" }));
            assert!(answer.contains("still 42"), "{context}: {answer}");
            owner.end().ok();
        }
        let sandboxes = if self.is_confined { self.project.workspace() } else { "/nowhere".into() };
        until_none(&context, || with_mount(&sandboxes));
        until_none(&context, || spawners.iter().filter(|spawner| is_running(**spawner)).collect());
        assert!(with_marker(&marker).is_empty(), "{context}: something began again");
        Finding { killed_among, gone_after }
    }

    fn call(&self, work: Work, victim: Victim, marker: &str) -> Value {
        let text = format!("export SURVIVOR={marker}\n{}", work.text);
        // After the death of a spawner the call has an answer, and it may be that the time is over.
        let limit_ms = if victim == Victim::Spawner { 5_000 } else { 60_000 };
        let mut arguments = json!({ "command": text, "timeout": limit_ms });
        // Where nothing confines it, a background process is refused: it is a command then.
        if work.is_background && self.is_confined {
            arguments["background"] = json!("web");
            arguments["ready"] = json!("a text that does not appear");
        }
        json!({ "name": "executeCommand", "arguments": arguments })
    }

    /// Asserts that a daemon that is started and ended in order has removed what the killed ones left.
    pub(super) fn assert_clean(&self) {
        let mut owner = self.start();
        tool(&mut owner, "executeCommand", &json!({ "command": "true" }));
        owner.end().ok();
        let layers = std::fs::read_dir(self.project.base().join("layers")).into_iter().flatten();
        let layers: Vec<_> = layers.map(|layer| layer.unwrap().path()).collect();
        assert!(layers.is_empty(), "{layers:?}");
    }
}

fn tool(client: &mut LineClient, name: &str, arguments: &Value) -> String {
    let answer = client.does("tools/call", json!({ "name": name, "arguments": arguments }));
    answer["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// A text that no other process has in its environment.
pub(super) fn marker() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    format!("agentd-survivor-{}-{}-", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// A number between 0 and `last`, from the time.
fn some_number(last: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    // Nearby times give numbers far apart.
    (now.as_nanos() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) % (last + 1)
}
