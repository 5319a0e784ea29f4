//! The settings, programs and folders that git takes from environment variables.

use std::ffi::OsString;
use std::path::PathBuf;

use super::settings_text::Setting;
use super::shell_words::{Token, tokens};
use super::started_programs::VARIABLES;

/// The most settings in variables.
const SETTING_LIMIT: u64 = 1000;

/// Variables that name a folder from which git runs files.
const FOLDERS: [&str; 2] = ["GIT_EXEC_PATH", "GIT_TEMPLATE_DIR"];

/// Variables that name a file of settings.
const FILES: [&str; 2] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];

/// The commands and files that variables name.
#[derive(Debug, Default)]
pub(super) struct GitVariables {
    pub settings: Vec<Setting>,
    /// Commands, each with its variable.
    pub commands: Vec<(&'static str, String)>,
    pub folders: Vec<(&'static str, PathBuf)>,
    /// Files of settings.
    pub files: Vec<(&'static str, PathBuf)>,
    /// False if there are more settings than the limit.
    pub is_complete: bool,
}

/// Reads the variables of the user's environment. Settings are pairs of `GIT_CONFIG_KEY_0` and `GIT_CONFIG_VALUE_0`,
/// counted by `GIT_CONFIG_COUNT`, and the words of `GIT_CONFIG_PARAMETERS`, which `git -c` passes to its children.
pub(super) fn read(variable: &dyn Fn(&str) -> Option<OsString>) -> GitVariables {
    let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
    let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let count =
        text("GIT_CONFIG_COUNT").and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or_default();
    let pair = |number: u64| {
        let name = text(&format!("GIT_CONFIG_KEY_{number}"))?;
        Setting::named(&name, &text(&format!("GIT_CONFIG_VALUE_{number}"))?)
    };
    let mut settings: Vec<Setting> = (0..count.min(SETTING_LIMIT)).filter_map(pair).collect();
    for token in tokens(&text("GIT_CONFIG_PARAMETERS").unwrap_or_default()) {
        let Token::Word(word) = token else { continue };
        // A subsection may hold the same character.
        let named = word.text.match_indices('=').take(8);
        settings.extend(named.filter_map(|(at, _)| Setting::named(&word.text[..at], &word.text[at + 1..])));
    }
    GitVariables {
        settings,
        commands: VARIABLES.iter().filter_map(|name| Some((*name, text(name)?))).collect(),
        folders: FOLDERS.iter().filter_map(|name| Some((*name, path(name)?))).collect(),
        files: FILES.iter().filter_map(|name| Some((*name, path(name)?))).collect(),
        is_complete: count <= SETTING_LIMIT,
    }
}
