//! Measures the time until a coding agent works, the memory for twenty of them, and the delay of their events.
//!
//! `cargo xtask bench cocode` runs it. It needs git and nothing else: the agents are shell scripts, confined as all are, in a
//! repository of 5,000 files that is made in the temporary folder.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it has measured")]

mod repository;
mod run;

use std::time::{Duration, Instant};

use crate::repository::Repository;
use crate::run::Run;

const FILES: usize = 5_000;
const TURNS: usize = 9;
const AGENTS: usize = 20;

/// Each agent of these says when it prints and when it has committed, in nanoseconds since 1970.
const REPORTING: &str = "for n in 1 2 3 4 5 6 7 8 9 10; do echo \"line $n $(date +%s%N)\"; sleep 0.13; \
     git commit -q --allow-empty -m \"commit $n\"; echo \"commit $n $(date +%s%N)\"; sleep 0.17; done";

fn main() {
    let repository = Repository::make(FILES);
    start(&repository);
    let one = [("one".to_owned(), REPORTING.to_owned())];
    let run = Run::of(&repository, 500, &one);
    println!("\nuntil an event is reported, one agent (goal: under 200 ms)");
    show_delays(&run);
    repository.forget();
    let many: Vec<(String, String)> =
        (0..AGENTS).map(|number| (format!("a{number}"), REPORTING.to_owned())).collect();
    let run = Run::of(&repository, 501, &many);
    println!("\n{AGENTS} agents at once");
    println!(
        "  {:<44} {:>8.1} MB (goal: under 60)",
        "the process that runs them, at most", run.most_megabytes
    );
    println!("  {:<44} {:>8.1} MB", "its spawner, at most", run.most_spawner_megabytes);
    show_delays(&run);
    repository.forget();
}

/// From `run` to the first line of an agent, compared with git's time for such a worktree; in turns. Git's own time
/// within a run, from its trace, is subtracted, because the speed of making files varies.
fn start(repository: &Repository) {
    let (mut ours, mut gits, mut over) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..TURNS {
        gits.push(repository.worktree_add(turn));
        repository.worktrees_took();
        let run = Run::of(repository, turn + 1, &[("a".to_owned(), "echo line 0 0".to_owned())]);
        let first = run.first_line.expect("the agent prints a line");
        ours.push(first);
        over.push(first.saturating_sub(repository.worktrees_took()));
        repository.forget();
    }
    println!("from `run` to an agent's first line, {FILES} files, {TURNS} turns");
    show("git worktree add alone", &mut gits);
    show("agentd cocode run", &mut ours);
    show("without git's part of it (goal: under 300 ms)", &mut over);
}

fn show_delays(run: &Run) {
    show("a line of the log", &mut run.line_delays());
    show("a commit, from the end of git", &mut run.commit_delays());
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!("  {what:<44} {:>8.1} ms (least {:.1}, most {:.1})", at(50), at(0), at(100));
}

/// Measures the time of some work.
fn time(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}
