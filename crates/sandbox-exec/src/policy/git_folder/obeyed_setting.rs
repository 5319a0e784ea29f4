//! The settings that name paths in a repository.

use std::path::PathBuf;

use super::settings_text::Setting;
use super::shell_words::{Token, tokens};
use super::started_programs::is_command;

/// A setting, or a variable, that makes git obey a path in each repository where it applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObeyedSetting {
    /// The name for a message.
    pub name: String,
    pub value: Value,
}

/// The value of such a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// The path of a folder of hooks, in the syntax of settings.
    Hooks(String),
    /// A folder from which git runs files, in the syntax of variables.
    Folder(PathBuf),
    /// The path of a file of attributes.
    Attributes(String),
    /// A command of the shell.
    Command(String),
    /// An argument of a git command with a slash, which may be a program, as in `rebase --exec ./check`, or a file to read.
    Argument(String),
}

impl ObeyedSetting {
    pub(super) fn new(name: &str, value: Value) -> ObeyedSetting {
        ObeyedSetting { name: name.to_owned(), value }
    }

    /// Returns what a setting makes git obey, except included files and the settings among an alias's options.
    pub(super) fn of(setting: &Setting) -> Vec<ObeyedSetting> {
        let (name, value) = (setting.name(), setting.value.as_str());
        let command = |command: String| Value::Command(command);
        let value = match (setting.section.as_str(), setting.key.as_str()) {
            _ if value.is_empty() => return Vec::new(),
            ("include" | "includeif", "path") => return Vec::new(),
            ("core", "hookspath") | ("init", "templatedir") | ("gitflow", "hooks") => {
                Value::Hooks(value.to_owned())
            }
            ("core", "attributesfile") => Value::Attributes(value.to_owned()),
            ("credential", "helper") if !value.starts_with(['!', '/', '~']) => {
                command(format!("git-credential-{value}"))
            }
            ("remote", "vcs") => command(format!("git-remote-{value}")),
            ("remote" | "submodule", "url" | "pushurl") => match value.strip_prefix("ext::") {
                Some(text) => command(text.to_owned()),
                None => return Vec::new(),
            },
            ("alias", _) if !is_command(setting) => {
                let words = Alias::read(value).arguments.into_iter().filter(|word| word.contains('/'));
                return words.map(|word| ObeyedSetting::new(&name, Value::Argument(word))).collect();
            }
            _ if is_command(setting) => command(value.to_owned()),
            _ => return Vec::new(),
        };
        vec![ObeyedSetting { name, value }]
    }
}

/// An alias of a command of git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Alias {
    /// Its arguments, without options that set something.
    arguments: Vec<String>,
    /// The settings among its options. An alias among them is left out.
    pub settings: Vec<Setting>,
}

impl Alias {
    pub(super) fn read(value: &str) -> Alias {
        let mut alias = Alias::default();
        let mut is_setting = false;
        for token in tokens(value) {
            let Token::Word(word) = token else { continue };
            let pair = word.text.split_once('=');
            if is_setting {
                let setting = pair.and_then(|(key, value)| Setting::named(key, value));
                alias.settings.extend(setting.filter(|setting| setting.section != "alias"));
            } else {
                let value = pair.filter(|_| word.text.starts_with('-')).map(|(_, value)| value);
                alias.arguments.push(value.unwrap_or(&word.text).to_owned());
            }
            is_setting = word.text == "-c";
        }
        alias
    }
}
