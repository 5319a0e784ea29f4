//! Host names in one spelling.

use std::fmt;
use std::str::FromStr;

/// The most characters of a host name, without the dot at its end.
pub const MOST_NAME_BYTES: usize = 253;

/// The most characters between two dots.
const MOST_LABEL_BYTES: usize = 63;

/// A host name: lower case, without a dot at its end.
///
/// International names are accepted in their ASCII form only (`xn--…`), because that form is sent over the network, and it
/// distinguishes names that look the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName(String);

/// The reason that a text is not a host name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// Nothing, or a dot alone.
    #[error("a host name is missing")]
    Empty,
    /// More than [`MOST_NAME_BYTES`].
    #[error("a host name has at most {MOST_NAME_BYTES} characters")]
    TooLong,
    /// More than 63 characters between two dots.
    #[error("a part of a host name has at most {MOST_LABEL_BYTES} characters between two dots")]
    LongLabel,
    /// Two dots, or one at the start.
    #[error("two dots of a host name have nothing between them")]
    EmptyLabel,
    /// A label that begins or ends with a hyphen.
    #[error("a part of a host name begins or ends with a hyphen")]
    Hyphen,
    /// A character that is not ASCII.
    #[error("an international name is written in its ASCII form, xn--…")]
    International,
    /// Another character that no host name has.
    #[error("a host name has no {0:?}")]
    Character(char),
    /// An address, or a text that a resolver would take for one.
    #[error("this is an address: give a name for it, NAME@ADDRESS, and have the command use the name")]
    Address,
    /// The name of the machine itself.
    #[error("localhost is the command's own: give another name for this machine, NAME:PORT@127.0.0.1")]
    Localhost,
}

impl HostName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks whether the name is a subdomain of `suffix`, one or more labels deeper.
    #[must_use]
    pub fn is_subdomain_of(&self, suffix: &HostName) -> bool {
        self.0.strip_suffix(suffix.as_str()).is_some_and(|labels| labels.ends_with('.'))
    }

    /// Returns the number of labels.
    pub(crate) fn label_count(&self) -> usize {
        self.0.split('.').count()
    }
}

impl FromStr for HostName {
    type Err = NameFault;

    fn from_str(text: &str) -> Result<HostName, NameFault> {
        let name = text.strip_suffix('.').unwrap_or(text);
        if name.is_empty() {
            return Err(NameFault::Empty);
        }
        if let Some(character) = name.chars().find(|character| !is_of_name(*character)) {
            return Err(match character {
                ':' | '[' | ']' if looks_like_v6(name) => NameFault::Address,
                _ if !character.is_ascii() => NameFault::International,
                _ => NameFault::Character(character),
            });
        }
        if name.len() > MOST_NAME_BYTES {
            return Err(NameFault::TooLong);
        }
        for label in name.split('.') {
            match label {
                "" => return Err(NameFault::EmptyLabel),
                _ if label.len() > MOST_LABEL_BYTES => return Err(NameFault::LongLabel),
                _ if label.starts_with('-') || label.ends_with('-') => return Err(NameFault::Hyphen),
                _ => {}
            }
        }
        let name = name.to_ascii_lowercase();
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_number(last) {
            return Err(NameFault::Address);
        }
        if last == "localhost" {
            return Err(NameFault::Localhost);
        }
        Ok(HostName(name))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks whether a name may contain a character. Underscores occur in existing names, though the standard for host names
/// excludes them.
fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// Checks whether resolvers read a last label as a number, and the whole as an IPv4 address: `10.1`, `0x7f.1`, `017700000001`.
fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x");
    hexadecimal.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        || label.bytes().all(|digit| digit.is_ascii_digit())
}

fn looks_like_v6(text: &str) -> bool {
    text.trim_start_matches('[').trim_end_matches(']').parse::<std::net::Ipv6Addr>().is_ok()
}
