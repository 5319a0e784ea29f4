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
    KillSubmitter {
        back_after: Duration,
    },
    /// The link of a host is cut for the time.
    Cut {
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

/// Draws everything that happens: of twenty kills about fifteen are of hosts, two of the server and three of the submitter.
pub(crate) fn draw(plan: &Plan) -> Vec<Event> {
    let mut random = Random::of(plan.seed);
    let mut events = Vec::new();
    for number in 0..plan.kills + plan.partitions {
        let pause = Duration::from_millis(random.within(50..1_500));
        let worker = random.index(plan.workers);
        let back_after = Duration::from_millis(random.within(50..2_500));
        let what = match random.within(0..20) {
            _ if number >= plan.kills => {
                What::Cut { worker, length: Duration::from_millis(random.within(1_000..40_000)) }
            }
            0..15 => What::KillWorker { worker, back_after },
            15..17 => What::KillServer { back_after },
            _ => What::KillSubmitter { back_after },
        };
        events.push(Event { pause, what });
    }
    for last in (1..events.len()).rev() {
        events.swap(last, random.index(last + 1));
    }
    events
}
