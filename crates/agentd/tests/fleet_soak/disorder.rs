//! The disorder that befalls a fleet, drawn from a seed before it starts.

use std::time::Duration;

use crate::plan::Plan;
use crate::random::Random;

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A host is killed, and is started again after the time.
    KillWorker {
        worker: usize,
        back_after: Duration,
    },
    KillServer {
        back_after: Duration,
    },
    /// The starter of the server is killed, and the server stays.
    OrphanServer {
        back_after: Duration,
    },
    CutPower {
        back_after: Duration,
    },
    KillSubmitter {
        back_after: Duration,
    },
    /// The link of a host is cut for the time.
    Cut {
        worker: usize,
        length: Duration,
    },
    /// The link of a host delays for the time, by half a second in each direction.
    Slow {
        worker: usize,
        length: Duration,
    },
}

/// A thing with the least pause before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) pause: Duration,
    pub(crate) what: What,
}

/// Draws everything that happens: of twenty kills about fifteen are of hosts, two of the server or what has started it, and three
/// of the submitter.
pub(crate) fn draw(plan: &Plan) -> Vec<Event> {
    let mut random = Random::of(plan.seed);
    let mut events = Vec::new();
    for number in 0..plan.steps() {
        let pause = Duration::from_millis(random.within(50..1_500));
        let worker = random.index(plan.workers);
        let back_after = Duration::from_millis(random.within(50..2_500));
        let length = Duration::from_millis(random.within(1_000..40_000));
        let what = match (number.checked_sub(plan.kills), random.within(0..20)) {
            (None, 0..15) => What::KillWorker { worker, back_after },
            (None, 15) => What::KillServer { back_after },
            (None, 16) => What::OrphanServer { back_after },
            (None, _) => What::KillSubmitter { back_after },
            (Some(further), _) if further < plan.partitions => What::Cut { worker, length },
            (Some(further), _) if further < plan.partitions + plan.delays => What::Slow { worker, length },
            (Some(_), _) => What::CutPower { back_after },
        };
        events.push(Event { pause, what });
    }
    for last in (1..events.len()).rev() {
        events.swap(last, random.index(last + 1));
    }
    events
}

/// Draws the delay of each link at rest, in each direction.
pub(crate) fn latencies(plan: &Plan) -> Vec<Duration> {
    let mut random = Random::of(plan.seed ^ 1);
    let most = u64::try_from(plan.latency.as_micros()).unwrap();
    (0..plan.workers).map(|_| Duration::from_micros(random.within(0..most + 1))).collect()
}
