//! Receipts of connections that were not made.

use std::fmt;

use crate::allow::HostName;

/// A connection that was not made.
///
/// Displays as one line: `connect example.com:443 · not on the allow-list · --network allow=example.com`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// The attempt.
    pub what: String,
    /// The reason.
    pub why: String,
    /// The option that would allow it; `None` if nothing does.
    pub allow: Option<String>,
}

impl Refusal {
    /// The refusal of a name and port that no entry allows.
    #[must_use]
    pub fn of_name(name: &HostName, port: u16) -> Refusal {
        let entry = if crate::USUAL_PORTS.contains(&port) && name.label_count() > 1 {
            name.to_string()
        } else {
            format!("{name}:{port}")
        };
        Refusal {
            what: connecting(name, port),
            why: "not on the allow-list".to_owned(),
            allow: Some(format!("--network allow={entry}")),
        }
    }

    /// The refusal to look up a name that no entry allows.
    #[must_use]
    pub fn of_lookup(name: &HostName) -> Refusal {
        Refusal { what: format!("look up {name}"), ..Refusal::of_name(name, crate::USUAL_PORTS[0]) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {}", self.what, self.why)?;
        self.allow.iter().try_for_each(|allow| write!(f, " · {allow}"))
    }
}

/// Describes an attempt.
pub(crate) fn connecting(name: &HostName, port: u16) -> String {
    format!("connect {name}:{port}")
}
