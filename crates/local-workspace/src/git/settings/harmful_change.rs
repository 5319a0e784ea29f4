//! The harmful part of a change of settings, as described by a refusal.

use std::collections::BTreeSet;
use std::fmt;

use crate::git::settings::ADDRESSES;
use crate::git::settings::text::Setting;

/// The number of settings that are named.
const NAMED: usize = 5;

/// Settings by which git fetches objects on demand.
const PARTIAL_CLONE: &[(&str, &[&str])] =
    &[("extensions", &["partialclone"]), ("remote.*", &["promisor", "partialclonefilter"])];

/// Settings that are set or removed and are not known to be harmless.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HarmfulChange {
    set: Vec<String>,
    removed: Vec<String>,
    advice: Vec<&'static str>,
}

impl HarmfulChange {
    pub(super) fn of<'a>(
        set: impl IntoIterator<Item = &'a Setting>,
        removed: impl IntoIterator<Item = &'a Setting>,
    ) -> HarmfulChange {
        let mut change = HarmfulChange::default();
        let mut advice = BTreeSet::new();
        for setting in set {
            change.set.push(setting.display_name());
            advice.insert(advice_about(setting));
        }
        let keys: BTreeSet<_> = change.set.iter().cloned().collect();
        // A changed value counts as set.
        change.removed =
            removed.into_iter().map(Setting::display_name).filter(|name| !keys.contains(name)).collect();
        if !change.removed.is_empty() {
            advice.insert(BY_THE_USER);
        }
        change.advice = advice.into_iter().collect();
        change
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.removed.is_empty()
    }

    /// Returns whether it sets this and nothing else.
    pub(crate) fn sets_only(&self, name: &str) -> bool {
        self.removed.is_empty() && self.set.iter().all(|set| set == name)
    }
}

const BY_THE_USER: &str = "if that is wanted, ask the user to do it with `git config`";

/// Returns what a model can do instead of a setting.
fn advice_about(setting: &Setting) -> &'static str {
    if setting.is_in(ADDRESSES) && setting.name_in("submodule").is_some() {
        "the files of the submodule are kept; ask the user to run `git submodule update --init` there"
    } else if setting.is_in(ADDRESSES) {
        "an address has to name another machine: in the command, remove the remote (`git remote remove`) or unset the setting, or ask \
         the user to set it"
    } else if setting.is_in(&[("commit", &["gpgsign"])]) {
        "to commit without a signature, use `git -c commit.gpgsign=false commit`"
    } else if setting.is_in(PARTIAL_CLONE) {
        "clone without `--filter`"
    } else {
        BY_THE_USER
    }
}

impl fmt::Display for HarmfulChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verbs = [("sets", &self.set), ("removes", &self.removed)];
        let parts = verbs.into_iter().filter(|(_, names)| !names.is_empty()).map(|(verb, names)| {
            let first = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            match names.len().saturating_sub(NAMED) {
                0 => format!("{verb} {first}"),
                more => format!("{verb} {first} and {more} more"),
            }
        });
        let parts: Vec<_> = parts.collect();
        write!(out, "{}; {}", parts.join(" and "), self.advice.join("; "))
    }
}
