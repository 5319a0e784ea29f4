//! Figures of one program, and those of all side by side.

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
}

/// Prints them, each beside the first.
pub(crate) fn show(all: &[Measured]) {
    for one in all {
        if one.times.is_empty() {
            println!("  {:<28} –", one.name);
            continue;
        }
        let mut line = format!("  {:<28} {:>8.2} ms (least {:.2})", one.name, one.at(50), one.at(0));
        if one.bytes > 0 {
            line.push_str(&format!(", {} bytes", one.bytes));
        }
        if one.name != all[0].name && !all[0].times.is_empty() {
            line.push_str(&format!(", {:.1} times ours", one.at(50) / all[0].at(50)));
        }
        if let Some(failure) = &one.failure {
            line.push_str(&format!(", FAILS: {failure}"));
        }
        println!("{line}");
    }
}
