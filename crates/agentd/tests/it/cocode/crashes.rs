//! `kill -9` of `agentd` at any moment of a run: no process outlives it, no work is lost, the records tell the truth.
//!
//! `CRASH_RUNS` says how many runs; `cargo xtask soak cocode` sets it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::cocode::desk::{Desk, MARKED};

/// The last moment of a kill, in milliseconds: agents need about half of it until they are at work.
const LAST_MOMENT: u64 = 2_500;

const AGENTS: [&str; 3] = ["busy", "quick", "stubborn"];

/// The events of a run before `agentd` was killed.
#[derive(Default)]
struct Events {
    commits: Vec<(String, String)>,
    ended: BTreeMap<String, String>,
}

/// A number between 0 and `last`, from the time.
fn some_number(last: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    // Nearby times give numbers far apart.
    (now.as_nanos() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) % (last + 1)
}

/// Starts three agents and kills `agentd` after this many milliseconds.
fn run_and_kill(desk: &Desk, after: u64) -> Events {
    let work =
        "n=0; while [ $n -lt 60 ]; do n=$((n+1)); echo $n > f; git add f; git commit -qm \"step $n\"; done";
    let scripts = [
        format!("busy=setsid sleep 600 & {work}; {MARKED}"),
        format!("quick=echo x > q; git add q; {MARKED}"),
        format!("stubborn=trap '' TERM HUP INT; (setsid sleep 600 &); {MARKED}; while :; do sleep 600; done"),
    ];
    let mut arguments = vec!["run", "--json", "--issue", "5", "--issue-body", "x"];
    for script in &scripts {
        arguments.extend(["--agent-cmd", script]);
    }
    let mut child = desk.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        let mut events = Events::default();
        for line in output.lines().map_while(Result::ok) {
            // The last line may be half a line.
            let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
            let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
            match text("event").as_str() {
                "commit" => events.commits.push((text("agent"), text("commit"))),
                "ended" => drop(events.ended.insert(text("agent"), text("state"))),
                _ => {}
            }
        }
        events
    });
    thread::sleep(Duration::from_millis(after));
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

/// The processes that work in this folder or for an agent whose worktree is in it.
fn survivors(folder: &Path) -> Vec<String> {
    let location = folder.display().to_string();
    let is_ours = |process: &Path| {
        let works_here = fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        works_here || String::from_utf8_lossy(&environment).contains(&format!("COCODE_REPO_PATH={location}"))
    };
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let processes = processes.filter(|path| path.join("exe").read_link().is_ok() && is_ours(path));
    let command_line = |path: PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        format!("{} {}", path.display(), String::from_utf8_lossy(&line).replace('\0', " "))
    };
    processes.map(command_line).collect()
}

/// Asserts that records, branches and worktrees agree with each other and with the events before the crash.
fn assert_the_truth(desk: &Desk, events: &Events, moment: &str) {
    let status = desk.status();
    let agents = status["agents"].as_array().unwrap();
    let listed = desk.git(&["worktree", "list", "--porcelain"]);
    assert!(!listed.contains("prunable"), "{moment}: {listed}");
    let branches = desk.git(&["branch", "--list", "--format=%(refname:short)", "cocode/*"]);
    for branch in branches.lines() {
        assert!(
            agents.iter().any(|agent| agent["branch"] == branch),
            "{moment}: {branch} belongs to no agent"
        );
    }
    for agent in agents {
        let text = |name: &str| agent[name].as_str().unwrap_or_default();
        let (name, state, branch) = (text("agent"), text("state"), text("branch"));
        let context = format!("{moment}: {agent:#}");
        assert!(!["pending", "running"].contains(&state), "{context}");
        if let Some(ended) = events.ended.get(name) {
            assert_eq!(state, ended, "{context}");
        }
        assert!(!Path::new(&format!("{}.issue.txt", text("worktree"))).exists(), "{context}");
        assert_eq!(Path::new(text("worktree")).exists(), listed.contains(text("worktree")), "{context}");
        let is_launched = agent["launched_at_ms"].is_u64();
        assert!(is_launched || state == "failed", "{context}");
        if is_launched {
            assert!(branches.lines().any(|one| one == branch), "{context}");
            assert_eq!(desk.git(&["rev-parse", branch]), text("head"), "{context}");
            let count = desk.git(&["rev-list", "--count", &format!("{}..{branch}", text("start_commit"))]);
            assert_eq!(agent["commits"].to_string(), count, "{context}");
        }
        for (_, commit) in events.commits.iter().filter(|(agent, _)| agent == name) {
            let head = text("head");
            assert_eq!(desk.git(&["merge-base", commit, head]), *commit, "{moment}: a commit is lost");
        }
    }
}

#[test]
fn a_kill_at_any_moment_leaves_no_orphan_no_lost_work_and_the_right_states() {
    let runs = std::env::var("CRASH_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let mut states: BTreeMap<String, u32> = BTreeMap::new();
    for run in 0..runs {
        let desk = Desk::new();
        let before = desk.digests();
        let after = some_number(LAST_MOMENT);
        let moment = format!("run {run}, killed after {after} ms");
        let events = run_and_kill(&desk, after);
        let began = Instant::now();
        loop {
            let survivors = survivors(desk.project.folder());
            if survivors.is_empty() {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{moment}: {survivors:#?}");
            thread::sleep(Duration::from_millis(20));
        }
        assert_the_truth(&desk, &events, &moment);
        desk.assert_untouched(&before);
        for agent in desk.status()["agents"].as_array().unwrap() {
            *states.entry(agent["state"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        // The next agents are not disturbed, and only worktrees with work are kept.
        let next =
            desk.cocode(&["run", "--issue", "6", "--issue-body", "x", "--agent-cmd", &format!("n={MARKED}")]);
        assert_eq!(next.code, 0, "{moment}: {next}");
        let cleaned: Value =
            serde_json::from_str(&desk.cocode(&["clean", "--all", "--json"]).stdout).unwrap();
        for agent in cleaned["agents"].as_array().unwrap() {
            let why = agent["why"].as_str().unwrap_or("it has unmerged commits");
            let is_at_work = why.starts_with("it holds files that are not committed: ");
            assert!(is_at_work || why == "it has unmerged commits", "{moment}: {agent}");
        }
        desk.assert_untouched(&before);
    }
    report(&format!("{runs} runs of {} agents killed: {states:?}, nothing left over or lost", AGENTS.len()));
}

#[expect(clippy::print_stderr, reason = "figures of a long run that was requested")]
fn report(text: &str) {
    eprintln!("{text}");
}
