//! The formats of configuration files: parsing the settings in a text, and merging others into it.

mod json;
mod toml;
mod yaml;

use serde_json::{Map, Value};

use crate::error::ConfigError;

/// The format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileFormat {
    /// JSON, with comments and trailing commas if the client allows them.
    Json,
    /// TOML 1.0.
    Toml,
    /// YAML; only the layout that clients write is edited.
    Yaml,
}

impl FileFormat {
    /// Returns the settings in a text. No key on the path to `wanted` occurs twice.
    pub(crate) fn parse(
        self,
        text: &str,
        wanted: &Map<String, Value>,
    ) -> Result<Map<String, Value>, ConfigError> {
        match self {
            FileFormat::Json => json::parse(text, wanted),
            // A repeated key is an error in these formats.
            FileFormat::Toml => toml::parse(text),
            FileFormat::Yaml => yaml::parse(text),
        }
    }

    /// Returns the text, whose settings are `before`, with `wanted` merged into them by key. The caller has to parse the result:
    /// not every layout has a position for every value.
    pub(crate) fn merge(
        self,
        text: &str,
        before: &Map<String, Value>,
        wanted: &Map<String, Value>,
    ) -> Result<String, ConfigError> {
        match self {
            FileFormat::Json => json::merge(text, wanted),
            FileFormat::Toml => Ok(with_line_ends_of(text, &toml::merge(text, wanted)?)),
            FileFormat::Yaml => Ok(with_line_ends_of(text, &yaml::merge(text, before, wanted))),
        }
    }

    /// Returns the noun, with its article, for an object in this format.
    pub(crate) fn object_noun(self) -> &'static str {
        match self {
            FileFormat::Json => "an object",
            FileFormat::Toml => "a table",
            FileFormat::Yaml => "a mapping",
        }
    }
}

/// Returns the changed text with the line endings of the text before: lines in both keep theirs, and new lines have that of the
/// first line. The format editors write `\n` throughout.
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

/// Returns a line without its ending.
fn content(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}
