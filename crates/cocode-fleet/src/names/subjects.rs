//! Subjects, streams and buckets of one fleet.

use super::{ClassName, FleetName, HostName, TaskName};
use crate::digest::BundleDigest;

/// The names of everything that a fleet has on a server.
///
/// Stream names contain the fleet's name between `agentd_` and a last part without `_`, so no two fleets share one.
#[derive(Clone, Debug)]
pub(crate) struct Subjects {
    fleet: FleetName,
}

/// The buckets of keys and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bucket {
    /// The record of each task.
    Runs,
    /// The claims of hosts.
    Results,
    /// The host that works on a task, by keys that expire.
    Leases,
    /// The present hosts, by keys that expire.
    Hosts,
    /// Requests of people: to drain a host, to cancel a task.
    Control,
}

impl Bucket {
    pub(crate) const ALL: [Bucket; 5] =
        [Bucket::Runs, Bucket::Results, Bucket::Leases, Bucket::Hosts, Bucket::Control];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Bucket::Runs => "runs",
            Bucket::Results => "results",
            Bucket::Leases => "leases",
            Bucket::Hosts => "hosts",
            Bucket::Control => "control",
        }
    }
}

/// The owner of bundles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BundleOwner {
    /// Home, which offers them as bases for any number of tasks.
    Home,
    /// A host, for one start of a task. Another task may have the same bytes, and is judged separately.
    Start {
        /// The host.
        host: HostName,
        /// The task.
        task: TaskName,
        /// The epoch of the start.
        epoch: u64,
    },
}

impl Subjects {
    pub(crate) fn new(fleet: &FleetName) -> Subjects {
        Subjects { fleet: fleet.clone() }
    }

    pub(crate) fn stream(&self, word: &str) -> String {
        format!("agentd_{}_{word}", self.fleet)
    }

    pub(crate) fn bucket(&self, bucket: Bucket) -> String {
        self.stream(bucket.word())
    }

    pub(crate) fn bucket_stream(&self, bucket: Bucket) -> String {
        format!("KV_{}", self.bucket(bucket))
    }

    /// Returns the subject of a key, which also notifies those who subscribe to it.
    pub(crate) fn key(&self, bucket: Bucket, key: &str) -> String {
        format!("$KV.{}.{key}", self.bucket(bucket))
    }

    fn prefixed(&self, rest: &str) -> String {
        format!("agentd.v1.{}.{rest}", self.fleet)
    }

    pub(crate) fn all_tasks(&self) -> String {
        self.prefixed("task.>")
    }

    pub(crate) fn class(&self, class: &ClassName) -> String {
        self.prefixed(&format!("task.{class}.>"))
    }

    pub(crate) fn task(&self, class: &ClassName, task: &TaskName) -> String {
        self.prefixed(&format!("task.{class}.{}", task.tokens()))
    }

    /// Returns the filter of a task's message in any queue.
    pub(crate) fn task_of_any_class(&self, task: &TaskName) -> String {
        self.prefixed(&format!("task.*.{}", task.tokens()))
    }

    /// Returns the task of a subject that [`Subjects::task`] made.
    pub(crate) fn task_of(&self, subject: &str) -> Option<TaskName> {
        let rest = subject.strip_prefix(&self.prefixed("task."))?;
        TaskName::from_tokens(rest.split_once('.')?.1)
    }

    pub(crate) fn all_events(&self) -> String {
        self.prefixed("ev.>")
    }

    pub(crate) fn events(&self, host: &HostName, task: &TaskName) -> String {
        self.prefixed(&format!("ev.{host}.{}", task.tokens()))
    }

    /// Returns the subjects of one kind that only this host publishes to.
    pub(crate) fn own(&self, word: &str, host: &HostName) -> String {
        self.prefixed(&format!("{word}.{host}.>"))
    }

    /// Returns the host and the task of a subject of events, or of the dead.
    pub(crate) fn host_and_task_of(&self, subject: &str) -> Option<(HostName, TaskName)> {
        let rest = subject.strip_prefix(&self.prefixed(""))?;
        let (_, rest) = rest.split_once('.')?;
        let (host, tokens) = rest.split_once('.')?;
        Some((host.parse().ok()?, TaskName::from_tokens(tokens)?))
    }

    /// Returns the filter of the events of one task from any host.
    pub(crate) fn events_of_task(&self, task: &TaskName) -> String {
        self.prefixed(&format!("ev.*.{}", task.tokens()))
    }

    pub(crate) fn all_dead(&self) -> String {
        self.prefixed("dead.>")
    }

    pub(crate) fn dead(&self, host: &HostName, task: &TaskName) -> String {
        self.prefixed(&format!("dead.{host}.{}", task.tokens()))
    }

    /// Returns the subjects of all bundles of home, or of all hosts.
    pub(crate) fn all_bundles(&self, word: &str) -> String {
        self.prefixed(&format!("{word}.>"))
    }

    /// Returns the subjects of the chunks of a bundle, without the chunk's number.
    pub(crate) fn bundle(&self, owner: &BundleOwner, digest: &BundleDigest) -> String {
        match owner {
            BundleOwner::Home => self.prefixed(&format!("base.{digest}")),
            BundleOwner::Start { host, task, epoch } => {
                self.prefixed(&format!("bundle.{host}.{}.{epoch}.{digest}", task.tokens()))
            }
        }
    }

    /// Returns the stream that holds the bundles of an owner.
    pub(crate) fn bundle_stream(&self, owner: &BundleOwner) -> String {
        self.stream(match owner {
            BundleOwner::Home => "bases",
            BundleOwner::Start { .. } => "bundles",
        })
    }
}
