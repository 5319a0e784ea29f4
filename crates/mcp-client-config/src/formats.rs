//! The formats of configuration files, and putting one entry into a table of a text.

mod json;
mod toml;
mod yaml;

use serde_json::Value;

use crate::error::ConfigError;

/// The format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// JSON, with comments and trailing commas where the client allows them.
    Json,
    /// TOML 1.0.
    Toml,
    /// YAML, of which only the layout that clients write is changed.
    Yaml,
}

impl FileFormat {
    /// Returns the text with `table.name` being `entry`; `None` if it is so already.
    pub(crate) fn with_entry(
        self,
        text: &str,
        table: &str,
        name: &str,
        entry: &Value,
    ) -> Result<Option<String>, ConfigError> {
        let changed = match self {
            FileFormat::Json => json::with_entry(text, table, name, entry),
            FileFormat::Toml => toml::with_entry(text, table, name, entry),
            FileFormat::Yaml => yaml::with_entry(text, table, name, entry),
        };
        Ok(changed?.map(|changed| with_line_ends_of(text, &changed)))
    }
}

/// Returns the changed text with the line ends of the text before: each line that is in both has its own, and each new one that of
/// the first line. Editors of a format write `\n` throughout.
fn with_line_ends_of(before: &str, changed: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = changed.split_inclusive('\n').collect();
    let usual = if old.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let is_same = |(old, new): &(&&str, &&str)| content(old) == content(new);
    let start = old.iter().zip(&new).take_while(is_same).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(is_same).count();
    let mut text = String::with_capacity(changed.len() + before.len() / 16);
    for (at, line) in new.iter().enumerate() {
        let from_end = new.len() - at;
        let original = if at < start {
            Some(old[at])
        } else if from_end <= end {
            Some(old[old.len() - from_end])
        } else {
            None
        };
        match original.filter(|line| line.ends_with('\n')) {
            Some(original) => text.push_str(original),
            None => {
                text.push_str(content(line));
                text.push_str(usual);
            }
        }
    }
    text
}

/// Returns a line without its end.
fn content(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}
