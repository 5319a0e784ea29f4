//! The accounts of a server: one for the fleet, and one for each host.
//!
//! The server sends the answer to a request to any subject that the request names, with the server's own rights. In the
//! fleet's account, a host could thus write the keys of others, and have streams deleted. In a separate account the
//! answer stays in that account, which is only connected to the subjects that the host may publish to.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use super::configuration::{ServerUsers, quoted};
use super::permissions::host_permissions;
use crate::names::{FleetName, HostName};

/// The account with the streams and home.
const FLEET: &str = "FLEET";

/// The section of the configuration with all users.
pub(super) struct Accounts<'a> {
    pub(super) fleet: &'a FleetName,
    pub(super) users: &'a ServerUsers,
}

impl Display for Accounts<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let hosts = || self.users.hosts.iter().map(|(host, _)| host_permissions(self.fleet, host));
        // A set, because hosts have some subjects in common, and each is exported once.
        let services: BTreeSet<String> = hosts().flat_map(|host| host.publish).collect();
        let streams: BTreeSet<String> = hosts().flat_map(|host| host.listen).collect();
        writeln!(formatter, "accounts {{\n  {FLEET} {{\n    jetstream: enabled")?;
        writeln!(formatter, "    users: [{{ nkey: {} }}]\n    exports: [", self.users.home)?;
        for subject in &services {
            // A pull may be answered with a task and a status, everything else with one message.
            let answers = if subject.contains(".MSG.NEXT.") { ", response_type: \"Stream\"" } else { "" };
            writeln!(formatter, "      {{ service: {}{answers} }}", quoted(subject))?;
        }
        for subject in &streams {
            writeln!(formatter, "      {{ stream: {} }}", quoted(subject))?;
        }
        writeln!(formatter, "    ]\n  }}")?;
        for (host, key) in &self.users.hosts {
            let permissions = host_permissions(self.fleet, host);
            let list = |subjects: &[String]| {
                subjects.iter().map(|subject| quoted(subject)).collect::<Vec<_>>().join(", ")
            };
            writeln!(formatter, "  {} {{", account(host))?;
            writeln!(formatter, "    users: [{{ nkey: {key}, permissions: {{")?;
            writeln!(formatter, "      publish: {{ allow: [{}] }}", list(&permissions.publish))?;
            let heard = [permissions.inboxes.as_slice(), &permissions.listen].concat();
            writeln!(formatter, "      subscribe: {{ allow: [{}] }}", list(&heard))?;
            writeln!(formatter, "    }} }}]\n    imports: [")?;
            for (kind, subjects) in [("service", &permissions.publish), ("stream", &permissions.listen)] {
                for subject in subjects {
                    let subject = quoted(subject);
                    writeln!(formatter, "      {{ {kind}: {{ account: {FLEET}, subject: {subject} }} }}")?;
                }
            }
            writeln!(formatter, "    ]\n  }}")?;
        }
        write!(formatter, "}}")
    }
}

/// Returns the name of a host's account, which never equals that of the fleet.
fn account(host: &HostName) -> String {
    format!("HOST_{host}")
}
