//! Figures of one program, and those of all side by side with the goal for ours.

use std::time::Duration;

use crate::line_server::Answer;

pub(crate) struct Measured {
    name: &'static str,
    times: Vec<Duration>,
    bytes: usize,
    failure: Option<String>,
}

impl Measured {
    pub(crate) fn new(name: &'static str, times: Vec<Duration>) -> Measured {
        Measured { name, times, bytes: 0, failure: None }
    }

    pub(crate) fn add(&mut self, answer: Answer) {
        self.times.push(answer.time);
        self.bytes = answer.bytes;
        self.failure = self.failure.take().or(answer.failure);
    }

    fn at(&self, percent: usize) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3
    }

    pub(crate) fn is_of(&self, name: &str) -> bool {
        self.name == name
    }

    /// The median in milliseconds; `None` if it was not measured, or has failed.
    pub(crate) fn median(&self) -> Option<f64> {
        (!self.times.is_empty() && self.failure.is_none()).then(|| self.at(50))
    }
}

/// Prints a row: all programs, ours first, and the goal, a part of the median of the faster peer.
pub(crate) fn show(title: &str, goal: f64, all: &[Measured]) {
    println!("\n{title}");
    for one in all {
        if one.times.is_empty() {
            println!("  {:<28} –", one.name);
            continue;
        }
        let mut line = format!("  {:<28} {:>8.2} ms (least {:.2})", one.name, one.at(50), one.at(0));
        if one.bytes > 0 {
            line.push_str(&format!(", {} bytes", one.bytes));
        }
        if let Some(failure) = &one.failure {
            line.push_str(&format!(", FAILS: {failure}"));
        }
        println!("{line}");
    }
    let (ours, peers) = all.split_first().expect("ours is the first");
    judge(goal, ours.median(), peers.iter().filter_map(Measured::median), "the faster peer's time");
}

/// Prints whether a figure of ours is at most `goal` times the least one of the peers, whose name is `least`.
pub(crate) fn judge(goal: f64, ours: Option<f64>, peers: impl Iterator<Item = f64>, least: &str) {
    match (ours, peers.reduce(f64::min)) {
        (None, _) => println!("  goal NOT met: ours fails"),
        (_, None) => println!("  goal met: no peer can do this"),
        (Some(ours), Some(peer)) => {
            let factor = ours / peer;
            let word = if factor <= goal { "met" } else { "NOT met" };
            println!("  goal {word}: {factor:.2} of {least}, wanted are {goal:.2}");
        }
    }
}
