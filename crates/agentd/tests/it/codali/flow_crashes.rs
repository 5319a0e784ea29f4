//! `kill -9` of `agentd codali run` at any moment: resumed, the flow has the same end, no agent is called again for a reply that
//! was kept, and no command runs twice.
//!
//! `FLOW_CRASH_RUNS` says how many flows; `cargo xtask soak codali` sets it.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::flow_project::{FlowProject, LONG};

/// The flows of an ordinary run of the tests.
const USUAL_RUNS: usize = 3;

/// The kills of one flow, before it may end.
const KILLS: u32 = 4;

/// The reply of the builder after the crash has cut off its command, which is not run again by itself.
const AFTER_A_CUT: &str = "[RUN_COMMAND]\ngrep -q once log.txt || echo once >> log.txt\n[/RUN_COMMAND]\n";

/// A number between 0 and `last`, from the time.
fn some_number(last: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    // Nearby times give numbers far apart.
    (now.as_nanos() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) % (last + 1)
}

/// The replies that were kept so far, by role.
fn kept(flow: &FlowProject) -> BTreeMap<String, usize> {
    let mut kept = BTreeMap::new();
    for folder in fs::read_dir(flow.project.base().join("codali")).into_iter().flatten().flatten() {
        for step in fs::read_dir(folder.path()).unwrap().flatten() {
            let name = step.file_name().into_string().unwrap();
            if let Some((_, role)) = name.strip_suffix(".txt").and_then(|name| name.split_once('-')) {
                *kept.entry(role.to_owned()).or_default() += 1;
            }
        }
    }
    kept
}

/// Returns true if a flow was begun that can be resumed.
fn has_begun(flow: &FlowProject) -> bool {
    let folders = fs::read_dir(flow.project.base().join("codali")).into_iter().flatten().flatten();
    folders.into_iter().any(|folder| folder.path().join("settings.json").exists())
}

/// Asserts that a process called no agent for a reply that was kept before it began.
fn assert_not_called_again(flow: &FlowProject, run: u32, kept: &BTreeMap<String, usize>, context: &str) {
    let begun = fs::read_to_string(flow.agents().join("begun")).unwrap_or_default();
    for line in begun.lines().filter_map(|line| line.strip_prefix(&format!("{run} "))) {
        let (role, number) = line.split_once(' ').unwrap();
        let kept = kept.get(role).copied().unwrap_or_default();
        assert!(number.parse::<usize>().unwrap() > kept, "{context}: {role} {number} was kept\n{begun}");
    }
}

#[test]
fn a_killed_flow_comes_to_the_same_end() {
    let runs = std::env::var("FLOW_CRASH_RUNS").map_or(USUAL_RUNS, |runs| runs.parse().unwrap());
    let mut cut = 0;
    // A kill may come at any moment of a flow: the control, which is not killed, says how long one takes here and now.
    let control = FlowProject::new(&LONG);
    let begun = Instant::now();
    let program = control.steady_command();
    let run =
        ["codali", "run", "greet in French", "--model", &program, "--test", "grep -c bonjour greet.txt"];
    control.project.run(&run).ok().prints("PASS after 2 rounds");
    let last_moment = u64::try_from(begun.elapsed().as_millis()).unwrap();
    for index in 0..runs {
        let flow = FlowProject::new(&LONG);
        fs::write(flow.agents().join("builder-4"), AFTER_A_CUT).unwrap();
        let program = flow.steady_command();
        let mut moments = Vec::new();
        for run in 0.. {
            let kept = kept(&flow);
            let begin: &[&str] = if has_begun(&flow) { &["--resume"] } else { &["greet in French"] };
            let more = ["--model", &program, "--test", "grep -c bonjour greet.txt"];
            let more = if has_begun(&flow) { &more[..2] } else { &more[..] };
            let mut command = flow.project.command(&[&["codali", "run"], begin, more].concat());
            command.env("RUN", run.to_string());
            let context = format!("flow {index}, killed after {moments:?} ms");
            if run == KILLS {
                let ran = crate::fixture::project::Ran::of(command.output().unwrap());
                assert_not_called_again(&flow, run, &kept, &context);
                // One that had its end before says so.
                let is_over = ran.code == 2 && ran.stderr.contains("there is no flow to resume");
                assert!(
                    is_over || (ran.code == 0 && ran.stdout.contains("PASS after 2 rounds")),
                    "{context}\n{ran}"
                );
                break;
            }
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let moment = some_number(last_moment);
            thread::sleep(Duration::from_millis(moment));
            moments.push(moment);
            child.kill().unwrap();
            child.wait().unwrap();
            assert_not_called_again(&flow, run, &kept, &context);
        }
        let files: Vec<_> = flow.project.tree();
        let expected = [("greet.txt", "bonjour\n"), ("log.txt", "once\n")];
        let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
        assert_eq!(files, expected, "flow {index}, killed after {moments:?} ms");
        cut += usize::from(kept(&flow).get("builder") == Some(&4));
    }
    println!(
        "{runs} flows, each killed {KILLS} times within {last_moment} ms; a command was cut off in {cut}"
    );
}
