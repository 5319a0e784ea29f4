//! Measures what a round of `agentd new --model` costs apart from the model, and the memory over a thousand rounds.
//!
//! `cargo xtask bench loop` runs it. It needs nothing else: this program is the model as well, and notes when it begins and ends. The
//! time from its end to its next beginning is the overhead of a round, with the start of a shell and of this program. The folder of
//! 20,000 files is made in the temporary folder. `-- ROUNDS` measures the memory over fewer rounds, and the variable `BENCH_AGENTD`
//! names another `agentd` to measure.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it has measured")]

mod model;
mod session;

use std::time::Duration;

use crate::model::Reply;
use crate::session::{Round, Session};

const FILES: usize = 20_000;
const ROUNDS: usize = 60;
const MANY_ROUNDS: usize = 1_000;

/// The milliseconds of a tick: Linux shows 100 ticks a second to every program.
const TICK_MS: f64 = 10.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [mode, rest @ ..] = arguments.as_slice()
        && mode == model::MODE
    {
        return model::reply(rest);
    }
    let many = arguments.first().map_or(MANY_ROUNDS, |rounds| rounds.parse().expect("a number of rounds"));
    println!(
        "from the end of a reply to the next question, {ROUNDS} rounds (goal: at most 30 ms in {FILES} files)"
    );
    for (what, files, reply) in [
        ("one file created or changed, 10 files", 10, Reply::Edit),
        ("one file created or changed, 20,000 files", FILES, Reply::Edit),
        ("one file read, 20,000 files", FILES, Reply::Read),
        ("an edit and the command `true`, 20,000 files", FILES, Reply::Command),
    ] {
        show(what, &Session::of(files).run(ROUNDS, reply));
    }
    println!("\nmemory of the process over {many} rounds, one file created or changed in each");
    let rounds = Session::of(FILES).run(many, Reply::Edit);
    for part in [0, 10, 25, 50, 75, 100] {
        let index = (rounds.len() - 1) * part / 100;
        let mebibytes = rounds[index].resident_kib as f64 / 1024.0;
        println!("  after {:>5} rounds {mebibytes:>8.1} MiB", rounds[index].number);
    }
    let (first, last) = rounds.split_at(rounds.len() / 2);
    show("overhead, first half", first);
    show("overhead, second half", last);
}

/// Returns the times from the end of one reply to the beginning of the next; the first message is not among them.
fn overheads(rounds: &[Round]) -> Vec<Duration> {
    let pairs = rounds.iter().zip(rounds.iter().skip(1));
    pairs.map(|(one, next)| Duration::from_nanos(next.began.saturating_sub(one.ended))).collect()
}

/// Prints the overheads, and the processor time of `agentd` for each round: on a busy machine only that says something.
fn show(what: &str, rounds: &[Round]) {
    let mut times = overheads(rounds);
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    let ticks = rounds[rounds.len() - 1].ticks - rounds[0].ticks;
    let processor = ticks as f64 * TICK_MS / (rounds.len() - 1) as f64;
    println!(
        "  {what:<46} {:>7.1} ms (least {:.1}, 95 % {:.1}, most {:.1}); {processor:.1} ms of processor time",
        at(50),
        at(0),
        at(95),
        at(100)
    );
}
