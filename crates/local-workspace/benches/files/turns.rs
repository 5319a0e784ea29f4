//! Measuring two things in turns.

use std::time::{Duration, Instant};

use crate::processor_time::ProcessorTime;

/// The number of times that each thing is measured.
const TURNS: usize = 15;

/// Times of two things that were measured in turns.
pub(crate) struct Turns {
    pub ours: Duration,
    pub theirs: Duration,
    /// The median of the turns' ratios, ours over theirs.
    pub ratio: f64,
    /// The ratio of the processor time of all turns, theirs being that of a program that was started.
    pub processor_ratio: Option<f64>,
}

/// Measures both in turns, after one turn that does not count. Times are medians.
pub(crate) fn turns(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> Turns {
    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut start = ProcessorTime::now();
    for turn in 0..=TURNS {
        let (our_time, their_time) = (time(&mut ours), time(&mut theirs));
        if turn == 0 {
            start = ProcessorTime::now();
        } else {
            our_times.push(our_time);
            their_times.push(their_time);
            ratios.push(our_time.as_secs_f64() / their_time.as_secs_f64());
        }
    }
    ratios.sort_by(f64::total_cmp);
    let end = ProcessorTime::now();
    let (own, children) = (end.own - start.own, end.children - start.children);
    let processor_ratio = (children > 0).then(|| own as f64 / children as f64);
    let ratio = ratios[ratios.len() / 2];
    Turns { ours: median(our_times), theirs: median(their_times), ratio, processor_ratio }
}

/// The median time of many rounds.
pub(crate) fn median_of(rounds: usize, mut work: impl FnMut()) -> Duration {
    work();
    median((0..rounds).map(|_| time(&mut work)).collect())
}

pub(crate) fn time(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
