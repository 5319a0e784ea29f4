//! Reads the fields of a need.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::yaml::node::{Content, Node};
use crate::{Warning, WarningCode};

/// The fields of one need. An unusable field is dropped with a warning; unknown fields remain for [`Fields::rest`].
pub(crate) struct Fields<'a> {
    entries: Vec<(String, Node)>,
    warnings: &'a mut Vec<Warning>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(entries: Vec<(String, Node)>, warnings: &'a mut Vec<Warning>) -> Fields<'a> {
        let mut fields = Fields { entries: Vec::with_capacity(entries.len()), warnings };
        for (key, node) in entries {
            match fields.entries.iter().position(|(other, _)| *other == key) {
                None => fields.entries.push((key, node)),
                Some(index) => {
                    fields.warn(
                        WarningCode::InvalidField,
                        format!("{key} is given twice; the last one counts"),
                    );
                    fields.entries[index].1 = node;
                }
            }
        }
        fields
    }

    fn warn(&mut self, code: WarningCode, detail: String) {
        self.warnings.push(Warning::with(code, detail));
    }

    /// Warns about numbers of lines in a need that reads a whole file.
    pub(crate) fn warn_of_lines(&mut self) {
        let names = ["start_line", "startLine", "end_line", "endLine", "head"];
        if self.entries.iter().any(|(key, _)| names.contains(&key.as_str())) {
            let detail = "file.read reads the whole file; for some lines of it use docdex.open".to_owned();
            self.warn(WarningCode::InvalidField, detail);
        }
    }

    /// Removes the fields with these names, and returns the one with the first name that exists, with that name.
    pub(crate) fn take<'n>(&mut self, names: &[&'n str]) -> Option<(&'n str, Node)> {
        let mut first = None;
        for name in names {
            let Some(index) = self.entries.iter().position(|(key, _)| key == name) else { continue };
            let (_, node) = self.entries.remove(index);
            match first {
                None => first = Some((*name, node)),
                // As an unknown field it would become the value when the request is written and read again.
                Some((counted, _)) => self.warn(
                    WarningCode::InvalidField,
                    format!("{name} is another name of {counted}, which counts"),
                ),
            }
        }
        first
    }

    /// Removes and returns a text; a blank text counts as absent.
    pub(crate) fn text(&mut self, names: &[&str]) -> Option<String> {
        let (name, node) = self.take(names).filter(|(_, node)| !node.is_null())?;
        match node.content {
            Content::Plain(text) | Content::Quoted(text) => Some(text).filter(|text| !text.trim().is_empty()),
            _ => {
                self.warn(WarningCode::InvalidField, format!("{name} is not a text"));
                None
            }
        }
    }

    /// Removes and returns a sentence. The word `null` counts as one, because an agent may search for it.
    pub(crate) fn sentence(&mut self, names: &[&str]) -> Option<String> {
        let word = names.iter().find_map(|name| {
            let index = self.entries.iter().position(|(key, _)| key == name)?;
            let word =
                self.entries[index].1.text().filter(|text| text.eq_ignore_ascii_case("null"))?.to_owned();
            self.entries.remove(index);
            Some(word)
        });
        word.or_else(|| self.text(names))
    }

    /// Removes and returns a whole number, clamped to its range.
    pub(crate) fn number(&mut self, names: &[&str], range: RangeInclusive<u64>) -> Option<u64> {
        let (name, node) = self.take(names).filter(|(_, node)| !node.is_null())?;
        let text = node.text().unwrap_or_default().trim();
        let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            self.warn(WarningCode::InvalidField, format!("{name} is not a whole number"));
            return None;
        }
        let number = match sign {
            // A negative number is below every range.
            "-" => None,
            _ => Some(digits.parse().unwrap_or(u64::MAX)),
        };
        let clamped = number.unwrap_or(0).clamp(*range.start(), *range.end());
        if number != Some(clamped) {
            let excerpt: String = text.chars().take(24).collect();
            self.warn(WarningCode::Clamped, format!("{name} {excerpt} to {clamped}"));
        }
        Some(clamped)
    }

    /// Removes and returns a small whole number.
    pub(crate) fn count(&mut self, names: &[&str], range: RangeInclusive<u32>) -> Option<u32> {
        let number = self.number(names, u64::from(*range.start())..=u64::from(*range.end()))?;
        Some(u32::try_from(number).expect("the range has 32 bits"))
    }

    /// Removes and returns a boolean; a field without a value is false.
    pub(crate) fn flag(&mut self, names: &[&str]) -> Option<bool> {
        let (name, node) = self.take(names)?;
        match node.text().map(|text| text.trim().to_ascii_lowercase()).as_deref() {
            Some("true" | "yes" | "on") => Some(true),
            Some("false" | "no" | "off") => Some(false),
            Some("") if matches!(node.content, Content::Plain(_)) => Some(false),
            _ if node.is_null() => None,
            _ => {
                self.warn(WarningCode::InvalidField, format!("{name} is neither true nor false"));
                None
            }
        }
    }

    /// Takes a list of texts; a single text is split at its commas.
    pub(crate) fn texts(&mut self, names: &[&str]) -> Vec<String> {
        let Some((name, node)) = self.take(names).filter(|(_, node)| !node.is_null()) else {
            return Vec::new();
        };
        let texts = texts(node);
        if texts.is_none() {
            self.warn(WarningCode::InvalidField, format!("{name} is not a list of texts"));
        }
        texts.unwrap_or_default()
    }

    /// Removes and returns one of several words; `Err` has any other text.
    pub(crate) fn word<T: Copy>(
        &mut self,
        names: &[&str],
        words: &[T],
        name_of: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>, String> {
        let Some(text) = self.text(names) else { return Ok(None) };
        let word = words.iter().copied().find(|word| name_of(*word) == text.trim());
        word.map(Some).ok_or(text)
    }

    /// Returns the remaining fields.
    pub(crate) fn rest(self) -> Map<String, Value> {
        self.entries.into_iter().map(|(key, node)| (key, node.into_value())).collect()
    }
}

/// Returns the texts of a list, or the comma-separated parts of a text; `None` if it contains lists or maps.
pub(crate) fn texts(node: Node) -> Option<Vec<String>> {
    let is_used = |text: &String| !text.trim().is_empty();
    match node.content {
        Content::Quoted(text) => Some(Some(text).filter(is_used).into_iter().collect()),
        Content::Plain(text) => {
            Some(text.split(',').map(|part| part.trim().to_owned()).filter(is_used).collect())
        }
        Content::List(items) => {
            let items = items.into_iter().filter(|item| !item.is_null()).map(line);
            items.collect::<Option<Vec<_>>>().map(|texts| texts.into_iter().filter(is_used).collect())
        }
        Content::Map(_) => None,
    }
}

/// Returns an item of a list as the intended text: YAML reads an unquoted `no: tabs` as a map.
fn line(item: Node) -> Option<String> {
    match item.content {
        Content::Plain(text) | Content::Quoted(text) => Some(text),
        Content::Map(entries) => match <[_; 1]>::try_from(entries) {
            Ok([(key, value)]) => value.text().map(|text| format!("{key}: {text}").trim_end().to_owned()),
            Err(_) => None,
        },
        Content::List(_) => None,
    }
}
