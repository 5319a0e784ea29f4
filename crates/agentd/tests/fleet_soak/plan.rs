//! The size of a run.

use std::time::Duration;

/// The number of tasks and hosts, and of what befalls them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Rounded to a multiple of the number of kinds of agents.
    pub(crate) tasks: usize,
    pub(crate) workers: usize,
    pub(crate) kills: usize,
    pub(crate) partitions: usize,
    /// Links that become slow for a while.
    pub(crate) delays: usize,
    /// Power cuts of the server, which then has the files of its last sync.
    pub(crate) power_cuts: usize,
    /// The most that the link of a host delays all the time, in each direction.
    pub(crate) latency: Duration,
    pub(crate) seed: u64,
}

impl Plan {
    /// Returns the number of things that happen.
    pub(crate) fn steps(&self) -> usize {
        self.kills + self.partitions + self.delays + self.power_cuts
    }

    /// Reads the plan from the variables that the task sets.
    pub(crate) fn of_environment() -> Plan {
        let number = |name: &str, usual: u64| {
            let text = std::env::var(format!("FLEET_SOAK_{name}")).ok();
            text.map_or(usual, |text| text.parse().unwrap())
        };
        let count = |name, usual| usize::try_from(number(name, usual)).unwrap();
        Plan {
            tasks: count("TASKS", 20),
            workers: count("WORKERS", 2),
            kills: count("KILLS", 4),
            partitions: count("PARTITIONS", 1),
            delays: count("DELAYS", 1),
            power_cuts: count("POWER_CUTS", 1),
            latency: Duration::from_millis(number("LATENCY_MS", 5)),
            seed: number("SEED", 1),
        }
    }
}
