//! The ways to run a script of a suite: plainly, and confined at a level.

use std::fmt;
use std::str::FromStr;

use sandbox_exec::Level;
use serde::{Deserialize, Serialize};

/// A way to run a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Way {
    /// Without any confinement.
    Plain,
    /// By a workspace whose commands are confined at exactly this level.
    Confined(Level),
}

impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Plain => formatter.write_str("plain"),
            Way::Confined(level) => level.fmt(formatter),
        }
    }
}

impl FromStr for Way {
    type Err = String;

    fn from_str(text: &str) -> Result<Way, String> {
        let levels = [Level::Full, Level::Namespaces, Level::Landlock, Level::Process, Level::None];
        let ways = levels.into_iter().map(Way::Confined).chain([Way::Plain]);
        let mut matching = ways.filter(|way| way.to_string() == text);
        matching
            .next()
            .ok_or_else(|| format!("there is no level '{text}': full, namespaces, landlock, process, none"))
    }
}

impl From<Way> for String {
    fn from(way: Way) -> String {
        way.to_string()
    }
}

impl TryFrom<String> for Way {
    type Error = String;

    fn try_from(text: String) -> Result<Way, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use sandbox_exec::Level;

    use super::Way;

    #[test]
    fn a_way_is_read_as_it_is_written() {
        for way in [Way::Plain, Way::Confined(Level::Full), Way::Confined(Level::Landlock)] {
            assert_eq!(way.to_string().parse(), Ok(way));
        }
        assert!("fuller".parse::<Way>().is_err());
    }
}
