//! The name of a resource, such as `agentd://run/7`, and the line from which to read.

use std::fmt;
use std::str::FromStr;

/// The scheme of all names.
const SCHEME: &str = "agentd://";

/// The most bytes of a name.
const MOST_BYTES: usize = 200;

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceName {
    /// The whole output of a command, by its name without `@output/`.
    Output(String),
    /// The output of a background process of the client, by its name.
    Process(String),
    /// The changes of a run to files, by its number.
    Run(u64),
    /// A waiting or reviewed proposal, by its number.
    Review(u64),
}

/// The refusal of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// It does not begin with `agentd://` and one of the four kinds.
    #[error(
        "a resource is agentd://output/, agentd://process/, agentd://run/ or agentd://review/ and a name"
    )]
    UnknownKind,
    /// The name after the kind is empty, too long, or has characters other than letters, digits, `.`, `_` and `-`.
    #[error("the name of a resource has letters, digits, '.', '_' and '-', and no '..'")]
    InvalidName,
    /// A run or a review is named by its number, from 1 on.
    #[error("runs and reviews are named by their numbers")]
    InvalidNumber,
    /// The part after `?` is not `line=` and a number from 1 on.
    #[error("after '?' comes line= and the number of the first line")]
    InvalidLine,
}

impl ResourceName {
    /// Parses a name with the line at which to begin, 1 by default.
    ///
    /// # Errors
    ///
    /// [`NameError`] if there can be no such resource.
    pub fn parse_page(uri: &str) -> Result<(ResourceName, u64), NameError> {
        let (name, line) = match uri.split_once('?') {
            None => (uri, 1),
            Some((name, query)) => {
                let line = query.strip_prefix("line=").and_then(number).ok_or(NameError::InvalidLine)?;
                (name, line)
            }
        };
        Ok((name.parse()?, line))
    }
}

impl FromStr for ResourceName {
    type Err = NameError;

    fn from_str(uri: &str) -> Result<ResourceName, NameError> {
        let (kind, name) =
            uri.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).ok_or(NameError::UnknownKind)?;
        match kind {
            "output" => Ok(ResourceName::Output(word(name)?)),
            "process" => Ok(ResourceName::Process(word(name)?)),
            "run" => number(name).map(ResourceName::Run).ok_or(NameError::InvalidNumber),
            "review" => number(name).map(ResourceName::Review).ok_or(NameError::InvalidNumber),
            _ => Err(NameError::UnknownKind),
        }
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResourceName::Output(name) => write!(formatter, "{SCHEME}output/{name}"),
            ResourceName::Process(name) => write!(formatter, "{SCHEME}process/{name}"),
            ResourceName::Run(number) => write!(formatter, "{SCHEME}run/{number}"),
            ResourceName::Review(number) => write!(formatter, "{SCHEME}review/{number}"),
        }
    }
}

fn word(name: &str) -> Result<String, NameError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let is_name = (1..=MOST_BYTES).contains(&name.len())
        && name.bytes().all(is_plain)
        && !name.starts_with('.')
        && !name.contains("..");
    is_name.then(|| name.to_owned()).ok_or(NameError::InvalidName)
}

/// Parses a number from 1 on in its canonical spelling, so that each resource has only one name.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_plain)
}
