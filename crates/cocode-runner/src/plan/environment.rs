//! The environment of an agent: an allow-list of the user's variables, the definition's, and the five.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use cocode_env::{AgentContext, Variable};

use crate::plan::definition::AgentDefinition;
use crate::plan::host::Host;

/// Variables of the user that an agent receives. The confinement sets `HOME`, `PATH` and `TMPDIR`.
const KEPT: [&str; 10] =
    ["LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME", "TERM", "TERMINFO", "USER", "USERNAME", "TZ"];

/// Prefixes of such variables.
const KEPT_PREFIXES: [&str; 5] = ["COCODE_", "CLAUDE_", "ANTHROPIC_", "CODEX_", "OPENAI_"];

/// Git settings of every agent: no garbage collection, which needs more than the agent's own folders; a log of `HEAD`,
/// which the verdict reads; no signatures, since the agent has no keys.
const GIT_SETTINGS: [(&str, &str); 5] = [
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("core.logAllRefUpdates", "true"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
];

/// A git setting of agents that share the repository's objects: no packs of big files, because packs are read-only there.
const SHARED_SETTING: (&str, &str) = ("core.bigFileThreshold", "4g");

/// Returns the variables of an agent besides `HOME`, `PATH` and `TMPDIR`.
///
/// The five variables of the contract come from `context`, whatever the user's environment and the definition hold.
pub fn agent_environment(
    host: &Host,
    definition: &AgentDefinition,
    context: &AgentContext,
) -> BTreeMap<OsString, OsString> {
    let mut variables: BTreeMap<OsString, OsString> = host
        .variables
        .iter()
        .filter(|(name, _)| is_kept(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    variables.insert("GIT_CONFIG_COUNT".into(), GIT_SETTINGS.len().to_string().into());
    for (index, setting) in GIT_SETTINGS.into_iter().enumerate() {
        add_setting(&mut variables, index, setting);
    }
    // The definition comes after the user's variables and the git settings, which it may replace; the five come last.
    let own = definition.environment.iter().filter(|(name, _)| Variable::from_name(name).is_none());
    variables.extend(own.map(|(name, value)| (name.into(), value.into())));
    variables.extend(context.variables().map(|(variable, value)| (variable.name().into(), value)));
    variables
}

/// Adds the setting for agents that share the repository's objects, unless the definition has git settings of its own.
pub(crate) fn add_shared_settings(variables: &mut BTreeMap<OsString, OsString>) {
    let count = |number: usize| OsString::from(number.to_string());
    let index = GIT_SETTINGS.len();
    if variables.get(OsStr::new("GIT_CONFIG_COUNT")) == Some(&count(index)) {
        variables.insert("GIT_CONFIG_COUNT".into(), count(index + 1));
        add_setting(variables, index, SHARED_SETTING);
    }
}

fn add_setting(variables: &mut BTreeMap<OsString, OsString>, index: usize, (name, value): (&str, &str)) {
    variables.insert(format!("GIT_CONFIG_KEY_{index}").into(), name.into());
    variables.insert(format!("GIT_CONFIG_VALUE_{index}").into(), value.into());
}

fn is_kept(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
