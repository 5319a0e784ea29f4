//! Reading the text of a configuration file.

use std::any::TypeId;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::ValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use egress::{AllowError, Presets};
use toml_edit::{Document, Item, TableLike, Value};
use workspace_host::confinement;

use super::config_file::{Setting, conflict};
use super::fault::{Fault, FaultKind};
use super::settable::{TABLES, is_switch, option_of};
use crate::views::progress::one_line;

/// The least likeness of a name that is suggested for an unknown one, from 0 to 1.
const LIKENESS: f32 = 0.6;

/// The table that defines presets for `network`.
const PRESETS: &str = "presets";

/// The contents of a file.
#[derive(Debug)]
pub(super) struct Contents {
    /// The settings, in the order of the file.
    pub(super) settings: Vec<Setting>,
    /// The presets that it defines.
    pub(super) presets: Presets,
}

/// Reads a file, or all of its faults.
pub(super) fn parse(text: &str, path: &Path, definition: &Command) -> Result<Contents, Vec<Fault>> {
    let document = Document::parse(text).map_err(|error| {
        let line_number = line_number(text, error.span().map_or(0, |span| span.start));
        vec![Fault { line_number, kind: FaultKind::Syntax(error.message().replace('\n', " ")) }]
    })?;
    let folder = std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_owned));
    let mut reading = Reading {
        text,
        folder: folder.unwrap_or_default(),
        definition,
        settings: Vec::new(),
        presets: Presets::default(),
        faults: Vec::new(),
    };
    reading.table("", document.as_table());
    reading.conflicts();
    // Conflicts are found after everything else; a reader goes through the file by lines.
    reading.faults.sort_by_key(|fault| fault.line_number);
    let Reading { settings, presets, faults, .. } = reading;
    if faults.is_empty() { Ok(Contents { settings, presets }) } else { Err(faults) }
}

struct Reading<'a> {
    text: &'a str,
    /// Relative paths in the file begin here.
    folder: PathBuf,
    definition: &'a Command,
    settings: Vec<Setting>,
    presets: Presets,
    faults: Vec<Fault>,
}

impl Reading<'_> {
    fn table(&mut self, name: &str, table: &dyn TableLike) {
        for (key, _) in table.iter() {
            let Some((spanned, item)) = table.get_key_value(key) else { continue };
            let start = spanned.span().map_or(0, |span| span.start);
            let line_number = line_number(self.text, start);
            let inner = if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
            match item.as_table_like() {
                Some(table) if inner == PRESETS => self.define_presets(table),
                Some(table) if is_table(&inner) => self.table(&inner, table),
                Some(_) => self.fault(line_number, self.unknown_table(&inner)),
                None => match self.setting(name, key, line_number, item) {
                    Ok(setting) => self.settings.push(setting),
                    Err(kind) => self.fault(line_number, kind),
                },
            }
        }
    }

    /// Reads `NAME = ["registry.example", …]`. No tool is asked: a preset of the file is a list of names.
    fn define_presets(&mut self, table: &dyn TableLike) {
        for (name, item) in table.iter() {
            let start = table.key(name).and_then(|key| key.span()).map_or(0, |span| span.start);
            let line_number = line_number(self.text, start);
            let texts = match item.as_value() {
                Some(Value::Array(list)) => list.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
                Some(value) => value.as_str().map(|text| vec![text]),
                None => None,
            };
            let texts = texts.ok_or_else(|| "give a list of names".to_owned());
            let list = texts
                .and_then(|texts| texts.join(",").parse().map_err(|error: AllowError| error.to_string()));
            let defined = list.and_then(|list| {
                self.presets
                    .define(name, list)
                    .map_err(|_| "a preset's name is one word of letters, digits and hyphens".to_owned())
            });
            if let Err(why) = defined {
                self.fault(
                    line_number,
                    FaultKind::Value { key: format!("{PRESETS}.{}", one_line(name)), why },
                );
            }
        }
    }

    fn setting(&self, name: &str, key: &str, line_number: usize, item: &Item) -> Result<Setting, FaultKind> {
        let entry = TABLES.iter().filter(|table| table.name == name).find_map(|table| {
            let option = table.options.iter().find(|option| **option == key)?;
            Some((table, *option, table.find(self.definition, option)?))
        });
        let Some((table, option, arg)) = entry else { return Err(self.unknown_key(name, key)) };
        let refuse = |why: String| FaultKind::Value { key: key.to_owned(), why };
        let values = self.values(arg, item).map_err(refuse)?;
        values.iter().try_for_each(|value| accepts(arg, value)).map_err(refuse)?;
        let source = item.span().and_then(|span| self.text.get(span)).unwrap_or_default();
        Ok(Setting { table, option, line_number, values, text: one_line(source) })
    }

    /// The values as the command line would have them.
    fn values(&self, arg: &Arg, item: &Item) -> Result<Vec<OsString>, String> {
        let takes_many = matches!(arg.get_action(), ArgAction::Append);
        match item.as_value() {
            Some(Value::Array(list)) if takes_many => {
                list.iter().map(|value| self.value(arg, value)).collect()
            }
            Some(Value::Array(_)) => Err("give one value, not a list".to_owned()),
            Some(value) => Ok(vec![self.value(arg, value)?]),
            None => Err("give a value".to_owned()),
        }
    }

    fn value(&self, arg: &Arg, value: &Value) -> Result<OsString, String> {
        match value {
            Value::Boolean(on) if is_switch(arg) => Ok(if *on.value() { "on" } else { "off" }.into()),
            _ if is_switch(arg) => Err("give true or false".to_owned()),
            Value::String(text) if is_path(arg) => self.path(text.value()),
            Value::String(text) => Ok(text.value().into()),
            _ if is_path(arg) => Err("give a path".to_owned()),
            Value::Integer(number) => Ok(number.value().to_string().into()),
            _ => Err("give a text or a whole number".to_owned()),
        }
    }

    /// A path from the user's home folder, or from the folder of the file.
    fn path(&self, text: &str) -> Result<OsString, String> {
        if text.is_empty() {
            return Err("give a path".to_owned());
        }
        let Some(rest) = text.strip_prefix('~') else { return Ok(self.folder.join(text).into()) };
        let rest = rest.strip_prefix('/').or_else(|| rest.is_empty().then_some(rest));
        let rest = rest.ok_or("a path may begin with ~/, not with the name of a user")?;
        let home = confinement::home().ok_or("there is no home folder: HOME is not set")?;
        Ok(home.join(rest).into())
    }

    fn unknown_table(&self, name: &str) -> FaultKind {
        let nearest = nearest(name, TABLES.iter().map(|table| table.name).chain([PRESETS]));
        FaultKind::UnknownTable { name: name.to_owned(), nearest }
    }

    fn unknown_key(&self, table: &str, key: &str) -> FaultKind {
        if table.is_empty() && (is_table(key) || key == PRESETS) {
            let why = format!("it is a table: write [{key}]");
            return FaultKind::Value { key: key.to_owned(), why };
        }
        if let Some(other) = TABLES.iter().find(|other| other.options.contains(&key)) {
            return FaultKind::ElsewhereKey { key: key.to_owned(), table: other.name };
        }
        let mut built = self.definition.clone();
        built.build();
        if has_option(&built, key) {
            return FaultKind::CommandLineOnly(key.to_owned());
        }
        let options = TABLES.iter().filter(|one| one.name == table).flat_map(|one| one.options);
        let nearest = nearest(key, options.copied());
        FaultKind::UnknownKey { key: key.to_owned(), table: table.to_owned(), nearest }
    }

    /// Says which settings do not go together.
    fn conflicts(&mut self) {
        let mut faults = Vec::new();
        for (index, one) in self.settings.iter().enumerate() {
            for other in &self.settings[..index] {
                let (Some(arg), Some(other_arg)) = (
                    one.table.find(self.definition, one.option),
                    other.table.find(self.definition, other.option),
                ) else {
                    continue;
                };
                let command = one.table.command(self.definition);
                if one.table == other.table
                    && conflict(command, arg, other_arg)
                    && one.is_on()
                    && other.is_on()
                {
                    let kind = FaultKind::Conflict { key: one.option, other: other.option };
                    faults.push(Fault { line_number: one.line_number, kind });
                }
            }
        }
        self.faults.extend(faults);
    }

    fn fault(&mut self, line_number: usize, kind: FaultKind) {
        self.faults.push(Fault { line_number, kind });
    }
}

fn is_table(name: &str) -> bool {
    let prefix = format!("{name}.");
    TABLES.iter().any(|table| table.name == name || table.name.starts_with(&prefix))
}

fn is_path(arg: &Arg) -> bool {
    arg.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

fn has_option(command: &Command, long: &str) -> bool {
    option_of(command, long).is_some() || command.get_subcommands().any(|command| has_option(command, long))
}

fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.filter(|names| !names.is_empty()).collect();
    similar::get_close_matches(name, &names, 1, LIKENESS).first().map(|nearest| (*nearest).to_owned())
}

/// Asks an option's own parser about a value.
fn accepts(arg: &Arg, value: &OsString) -> Result<(), String> {
    let parser: ValueParser = arg.get_value_parser().clone();
    let alone =
        Arg::new("value").long("value").require_equals(true).allow_hyphen_values(true).value_parser(parser);
    let mut word = OsString::from("--value=");
    word.push(value);
    let parsed = Command::new("value").no_binary_name(true).arg(alone).try_get_matches_from([word]);
    parsed.map(drop).map_err(|error| why(&error))
}

fn why(error: &clap::Error) -> String {
    if let (ErrorKind::InvalidValue, Some(ContextValue::Strings(valid))) =
        (error.kind(), error.get(ContextKind::ValidValue))
        && !valid.is_empty()
    {
        return format!("give one of {}", valid.join(", "));
    }
    std::error::Error::source(error).map_or_else(|| "this value is not taken".to_owned(), ToString::to_string)
}

fn line_number(text: &str, start: usize) -> usize {
    1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::definition;
    use super::*;

    proptest! {
        #[test]
        fn every_fault_names_a_line_of_the_file(
            text in "(\\[|\\]|codali|serve|\\.|sandbox|network|timeout|=|'on'|true|7|\n|\"| ){0,24}",
        ) {
            if let Err(faults) = parse(&text, Path::new("/config.toml"), &definition()) {
                prop_assert!(!faults.is_empty());
                for fault in faults {
                    let lines = text.split('\n').count();
                    prop_assert!((1..=lines).contains(&fault.line_number), "{} of {}", fault, lines);
                    prop_assert!(!fault.to_string().contains('\n'), "{}", fault);
                }
            }
        }

        #[test]
        fn a_timeout_is_read_as_the_command_line_reads_it(seconds: i64) {
            let text = format!("timeout = {seconds}\n");
            let settings = parse(&text, Path::new("/config.toml"), &definition());
            prop_assert_eq!(settings.is_ok(), seconds > 0);
        }
    }
}
