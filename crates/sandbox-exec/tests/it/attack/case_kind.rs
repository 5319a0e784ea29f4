//! Chooses the way to run a case of the attack corpus, by its description.

use serde_json::Value;

/// The kind of run that a case needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// One command.
    Simple,
    /// The same command several times at once.
    AtOnce(u32),
    /// One of two commands is cancelled.
    CancelOne,
    /// The spawner dies after the command.
    Once,
    /// Both streams are flooded.
    Flood,
    /// The spawner has too few descriptors.
    Shortage,
    /// The documentation says something.
    Documented,
    /// A character is at the limit of the output.
    SplitAtCap,
    /// The default time limit applies.
    DefaultTimeout,
}

impl Kind {
    pub(crate) fn of(case: &Value) -> Kind {
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let (expect, check) = (text("expect"), text("check"));
        let says = |words: &str| check.contains(words);
        match expect {
            _ if expect.ends_with(" each") => Kind::AtOnce(number_of_sessions(text("why"))),
            "once" => Kind::Once,
            _ if says("the other is untouched") => Kind::CancelOne,
            _ if says("no deadlock") => Kind::Flood,
            _ if says("never degraded silently") => Kind::Shortage,
            _ if check == "documented" => Kind::Documented,
            _ if says("cap counted in characters") => Kind::SplitAtCap,
            "timeout" if says("timed_out=true") && case["args"]["timeout"].is_null() => Kind::DefaultTimeout,
            _ => Kind::Simple,
        }
    }

    /// Checks whether the case is about running commands and not about what they may do.
    pub(crate) fn is_only_for_full(self) -> bool {
        !matches!(self, Kind::Simple | Kind::Flood | Kind::SplitAtCap)
    }

    /// Checks whether the case needs the spawner's process.
    pub(crate) fn needs_spawner(self) -> bool {
        matches!(self, Kind::Once | Kind::Shortage)
    }
}

/// `32 sessions at once`.
fn number_of_sessions(why: &str) -> u32 {
    let number = why.split(' ').find_map(|word| word.parse().ok());
    number.unwrap_or(32).clamp(2, 64)
}

/// Reads `10 MB`, `1 MiB`, `300 bytes`.
pub(crate) fn size(text: &str) -> Option<usize> {
    let (number, unit) = text.split_once(' ')?;
    let number: usize = number.replace(',', "").parse().ok()?;
    let unit = match unit {
        "B" | "byte" | "bytes" => 1,
        "kB" | "KB" => 1_000,
        "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "MiB" => 1 << 20,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Expands a command's descriptions such as `<1 MiB of a>`.
pub(crate) fn written_out(command: &str) -> String {
    let described = command.find('<').and_then(|start| {
        let end = start + command[start..].find('>')?;
        let (amount, what) = command[start + 1..end].split_once(" of ")?;
        Some((start..end + 1, what.repeat(size(amount)? / what.len().max(1))))
    });
    match described {
        Some((range, text)) => {
            let mut command = command.to_owned();
            command.replace_range(range, &text);
            command
        }
        None => command.to_owned(),
    }
}
