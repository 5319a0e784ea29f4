//! The size of a run.

/// The number of tasks and hosts, and of what befalls them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// A multiple of the number of kinds of agents is made of it.
    pub(crate) tasks: usize,
    pub(crate) workers: usize,
    pub(crate) kills: usize,
    pub(crate) partitions: usize,
    pub(crate) seed: u64,
}

impl Plan {
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
            seed: number("SEED", 1),
        }
    }
}
