//! The permissions of a host: its own keys, its own bundles, and the record of a task; nothing else.

use crate::names::{Bucket, FleetName, HostName, Subjects};

/// Subjects that a host may publish to, and subscribe to.
pub(super) struct Permissions {
    pub(super) publish: Vec<String>,
    /// Subjects for the answers to its requests.
    pub(super) inboxes: Vec<String>,
    /// Subjects of the fleet that it may subscribe to.
    pub(super) listen: Vec<String>,
}

/// Returns the permissions of a host.
///
/// It creates no consumers: one that pushes could deliver to subjects that the host may not publish to.
pub(super) fn host_permissions(fleet: &FleetName, host: &HostName) -> Permissions {
    let subjects = Subjects::new(fleet);
    let tasks = subjects.stream("tasks");
    let own = |word: &str| subjects.own(word, host);
    let read = |stream: String| format!("$JS.API.STREAM.MSG.GET.{stream}");
    let publish = vec![
        "$JS.API.INFO".to_owned(),
        format!("$JS.API.CONSUMER.INFO.{tasks}.*"),
        format!("$JS.API.CONSUMER.MSG.NEXT.{tasks}.*"),
        format!("$JS.ACK.{tasks}.>"),
        format!("$JS.API.DIRECT.GET.{}.>", subjects.stream("bases")),
        read(subjects.bucket_stream(Bucket::Runs)),
        read(subjects.bucket_stream(Bucket::Leases)),
        read(subjects.bucket_stream(Bucket::Control)),
        read(subjects.bucket_stream(Bucket::Hosts)),
        subjects.key(Bucket::Runs, "*.*"),
        subjects.key(Bucket::Results, &format!("{host}.>")),
        subjects.key(Bucket::Leases, &format!("{host}.>")),
        subjects.key(Bucket::Hosts, host.as_str()),
        own("ev"),
        own("dead"),
        own("bundle"),
    ];
    let listen =
        vec![subjects.key(Bucket::Runs, ">"), subjects.key(Bucket::Control, &crate::store::drain_key(host))];
    Permissions { publish, inboxes: vec![format!("_INBOX.host.{host}.>")], listen }
}
