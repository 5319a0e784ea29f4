//! The streams of a fleet: made by home, compared if they exist.

use std::time::Duration;

use async_nats::jetstream::consumer::{self, AckPolicy, pull};
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};

use futures_util::future::{try_join, try_join_all};

use super::FleetLimits;
use crate::connection::{FleetConnection, FleetError, refused};
use crate::names::{Bucket, ClassName};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The maximum number of tasks with hosts, and of waiting hosts, for one class.
const CLASS_LIMIT: i64 = 20_000;

impl FleetConnection {
    /// Makes the streams of the fleet that do not exist, and compares the others. Only home may.
    ///
    /// All are checked together; if nothing is missing, nothing is written.
    ///
    /// # Errors
    ///
    /// [`FleetError::Shape`] for a stream of another shape; those of a call.
    pub async fn prepare(&self, limits: &FleetLimits) -> Result<(), FleetError> {
        let class = ClassName::any();
        let streams = try_join_all(self.shapes(limits).into_iter().map(|wanted| self.if_missing(wanted)));
        let (missing, has_class) = try_join(streams, self.has_class(&class)).await?;
        // The consumer comes last: hosts read nothing before it is there.
        for wanted in missing.into_iter().flatten() {
            self.create_stream(wanted).await?;
        }
        if has_class { Ok(()) } else { self.make_class(&class).await }
    }

    /// Returns the stream if it is missing, and compares it if it exists.
    async fn if_missing(&self, wanted: Config) -> Result<Option<Config>, FleetError> {
        match self.bounded("a stream's state", self.context.get_stream(&wanted.name)).await? {
            Ok(stream) => compare(&wanted, &stream.cached_info().config).map(|()| None),
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(_) => Ok(Some(wanted)),
                _ => Err(self.no_answer("a stream's state")),
            },
        }
    }

    async fn create_stream(&self, wanted: Config) -> Result<(), FleetError> {
        const CALL: &str = "making a stream";
        let Err(error) = self.bounded(CALL, self.context.create_stream(&wanted)).await? else {
            return Ok(());
        };
        // Another home may have made it at the same moment.
        match self.bounded(CALL, self.context.get_stream(&wanted.name)).await? {
            Ok(stream) => compare(&wanted, &stream.cached_info().config),
            Err(_) => Err(refused(CALL, &error)),
        }
    }

    /// Makes the consumer that all hosts of a class share, unless it exists.
    pub(crate) async fn prepare_class(&self, class: &ClassName) -> Result<(), FleetError> {
        if self.has_class(class).await? { Ok(()) } else { self.make_class(class).await }
    }

    /// Returns whether the consumer of a class exists, with the settings of these intervals.
    async fn has_class(&self, class: &ClassName) -> Result<bool, FleetError> {
        const CALL: &str = "a queue's consumer";
        let looking = self
            .context
            .get_consumer_from_stream::<pull::Config, _, _>(class.as_str(), self.subjects.stream("tasks"));
        let wanted = self.class_config(class);
        Ok(match self.bounded(CALL, looking).await? {
            Ok(consumer) => {
                let present = &consumer.cached_info().config;
                (present.ack_wait, present.max_ack_pending, &present.filter_subject)
                    == (wanted.ack_wait, wanted.max_ack_pending, &wanted.filter_subject)
            }
            // Creating it reports the problem.
            Err(_) => false,
        })
    }

    fn class_config(&self, class: &ClassName) -> pull::Config {
        pull::Config {
            durable_name: Some(class.to_string()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.timings.ack_wait,
            // Starts are counted in the record, where a host that cannot take a task does not count.
            max_deliver: -1,
            filter_subject: self.subjects.class(class),
            max_ack_pending: CLASS_LIMIT,
            max_waiting: CLASS_LIMIT,
            ..pull::Config::default()
        }
    }

    async fn make_class(&self, class: &ClassName) -> Result<(), FleetError> {
        const CALL: &str = "making a queue's consumer";
        let config = self.class_config(class);
        let creating = self.context.create_consumer_on_stream(config, self.subjects.stream("tasks"));
        let created: Result<consumer::PullConsumer, _> = self.bounded(CALL, creating).await?;
        created.map(drop).map_err(|error| refused(CALL, &error))
    }

    fn shapes(&self, limits: &FleetLimits) -> Vec<Config> {
        let stream = |word: &str, subjects: Vec<String>| Config {
            name: self.subjects.stream(word),
            subjects,
            max_messages: -1,
            max_bytes: -1,
            max_messages_per_subject: -1,
            storage: StorageType::File,
            num_replicas: 1,
            duplicate_window: self.timings.duplicate_window,
            ..Config::default()
        };
        let bounded = |limit: u64| i64::try_from(limit).unwrap_or(i64::MAX);
        let mut shapes = vec![
            Config {
                retention: RetentionPolicy::WorkQueue,
                discard: DiscardPolicy::New,
                discard_new_per_subject: true,
                max_messages: bounded(limits.tasks),
                max_messages_per_subject: 1,
                max_age: DAY * 30,
                ..stream("tasks", vec![self.subjects.all_tasks()])
            },
            Config {
                max_message_size: 256 << 10,
                max_bytes: bounded(limits.events_bytes),
                max_age: DAY * 7,
                ..stream("events", vec![self.subjects.all_events()])
            },
            Config {
                max_message_size: 128 << 10,
                max_age: DAY * 30,
                ..stream("dead", vec![self.subjects.all_dead()])
            },
            Config {
                discard: DiscardPolicy::New,
                max_bytes: bounded(limits.bases_bytes),
                max_messages_per_subject: 1,
                // Direct reads are fine: an older answer would do no harm, since the digest names the content.
                allow_direct: true,
                max_age: DAY * 30,
                ..stream("bases", vec![self.subjects.all_bundles("base")])
            },
            Config {
                discard: DiscardPolicy::New,
                max_bytes: bounded(limits.bundles_bytes),
                max_messages_per_subject: 1,
                allow_direct: true,
                max_age: DAY * 7,
                ..stream("bundles", vec![self.subjects.all_bundles("bundle")])
            },
        ];
        shapes.extend(Bucket::ALL.map(|bucket| {
            let max_age = match bucket {
                Bucket::Runs => DAY * 30,
                Bucket::Results => DAY * 7,
                Bucket::Leases | Bucket::Hosts => self.timings.lease,
                Bucket::Control => Duration::ZERO,
            };
            let window = self.timings.duplicate_window;
            Config {
                name: self.subjects.bucket_stream(bucket),
                discard: DiscardPolicy::New,
                max_messages_per_subject: 1,
                max_age,
                // Reads go to the stream itself: a copy could answer with an older value.
                allow_direct: false,
                max_message_size: 128 << 10,
                // One message with a rollup header would remove the keys of all hosts.
                allow_rollup: false,
                deny_delete: true,
                duplicate_window: if max_age.is_zero() { window } else { window.min(max_age) },
                ..stream("", vec![self.subjects.key(bucket, ">")])
            }
        }));
        shapes
    }
}

/// Compares the settings that affect correctness. Size limits may be another person's choice.
fn compare(wanted: &Config, present: &Config) -> Result<(), FleetError> {
    let differs = |difference: String| Err(FleetError::Shape { stream: wanted.name.clone(), difference });
    if present.subjects != wanted.subjects {
        return differs(format!("subjects {:?}", present.subjects));
    }
    if present.retention != wanted.retention {
        return differs(format!("retention {:?}", present.retention));
    }
    if present.storage != wanted.storage {
        return differs(format!("storage {:?}", present.storage));
    }
    if (present.discard, present.discard_new_per_subject) != (wanted.discard, wanted.discard_new_per_subject)
    {
        return differs(format!("discard {:?}", present.discard));
    }
    if present.max_messages_per_subject != wanted.max_messages_per_subject {
        return differs(format!("max_msgs_per_subject {}", present.max_messages_per_subject));
    }
    if present.max_age != wanted.max_age {
        return differs(format!("max_age {:?}", present.max_age));
    }
    if present.allow_rollup {
        return differs("allow_rollup".to_owned());
    }
    if present.allow_direct != wanted.allow_direct {
        return differs(format!("allow_direct {}", present.allow_direct));
    }
    Ok(())
}
