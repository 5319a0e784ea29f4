//! The size of a run of `soak fleet`.

use crate::Step;

/// The size of a run of `soak fleet`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct FleetSize {
    /// The number of tasks, made a multiple of the number of scripted agents.
    #[arg(long, default_value_t = 1_000)]
    pub tasks: u32,
    /// The number of hosts, each in a network namespace of its own.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub workers: u32,
    /// The number of kills with `kill -9` of hosts, server and submitter.
    #[arg(long, default_value_t = 200)]
    pub kills: u32,
    /// The number of links that are cut, for 1 to 40 seconds.
    #[arg(long, default_value_t = 20)]
    pub partitions: u32,
    /// The number of links that delay by half a second, for 1 to 40 seconds.
    #[arg(long, default_value_t = 10)]
    pub delays: u32,
    /// The number of power cuts of the server, which then has the files of its last sync.
    #[arg(long, default_value_t = 3)]
    pub power_cuts: u32,
    /// The most that each link delays all the time, in milliseconds and in each direction.
    #[arg(long, default_value_t = 5)]
    pub latency_ms: u32,
    /// The seed of another run, to draw the same disorder; from the time, and printed, if there is none.
    #[arg(long)]
    pub seed: Option<u64>,
}

impl FleetSize {
    /// Returns a step with the size in the variables that the test reads.
    pub(super) fn sized(self, step: Step, seed: u64) -> Step {
        let variables = [
            ("TASKS", u64::from(self.tasks)),
            ("WORKERS", self.workers.into()),
            ("KILLS", self.kills.into()),
            ("PARTITIONS", self.partitions.into()),
            ("DELAYS", self.delays.into()),
            ("POWER_CUTS", self.power_cuts.into()),
            ("LATENCY_MS", self.latency_ms.into()),
            ("SEED", seed),
        ];
        variables.into_iter().fold(step, |step, (name, value)| {
            step.variable(&format!("FLEET_SOAK_{name}"), &value.to_string())
        })
    }
}
