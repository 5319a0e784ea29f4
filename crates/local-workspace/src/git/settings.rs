//! A conservative reader of git's settings files, to distinguish harmless settings from those that run programs or
//! lead elsewhere.
//!
//! It accepts less than git does: anything that it does not understand counts as harmful, so that no notation slips
//! through because two readers differ.

mod addresses;
mod directions;
mod format;
mod harmful_change;
mod text;
mod values;

use std::collections::BTreeSet;

use crate::git::linked_folders::NOT_PLAIN;
use crate::git::settings::addresses::{is_plain_address, remotes};
pub(crate) use crate::git::settings::directions::{changed_directions, changed_notice};
use crate::git::settings::format::has_extensions;
pub(crate) use crate::git::settings::format::{fetches_objects, keeps_format, object_format};
pub(crate) use crate::git::settings::harmful_change::HarmfulChange;
#[cfg(test)]
pub(crate) use crate::git::settings::text::FILES_READ;
use crate::git::settings::text::{Setting, settings};
use crate::git::settings::values::{is_single_tag, is_sound, keeps_own_references};

/// Settings that only affect appearance, names and addresses; `*` stands for the quoted name of a section.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "filemode",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "quotepath",
            "abbrev",
            "compression",
            "untrackedcache",
            "preloadindex",
            "trustctime",
            "checkstat",
            "whitespace",
            "sparsecheckout",
            "sparsecheckoutcone",
            "commentchar",
        ],
    ),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("branch.*", &["merge", "rebase", "description", "vscode-merge-base", "gh-merge-base"]),
    ("branch", &["autosetupmerge", "autosetuprebase", "sort"]),
    ("tag", &["sort"]),
    ("remote.*", &["fetch", "push", "prune", "tagopt", "gh-resolved"]),
    ("submodule.*", &["active", "branch", "ignore", "fetchrecursesubmodules"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    // Without `prunetags`: the next fetch would remove the user's own tags, for which git keeps no log.
    ("fetch", &["prune", "parallel", "writecommitgraph"]),
    ("merge", &["ff", "conflictstyle", "renames"]),
    ("rebase", &["autosquash", "autostash", "updaterefs"]),
    ("commit", &["cleanup", "verbose"]),
    ("diff", &["renames", "algorithm", "colormoved", "mnemonicprefix"]),
    ("log", &["date", "decorate", "abbrevcommit"]),
    ("status", &["short", "branch", "showuntrackedfiles"]),
    ("color", &["ui"]),
    ("gc", &["auto", "autodetach", "pruneexpire"]),
    ("maintenance", &["auto"]),
    ("rerere", &["enabled"]),
    ("index", &["version", "sparse"]),
    ("gitflow.branch", &["master", "main", "develop"]),
    ("gitflow.branch.*", &["base"]),
    ("gitflow.prefix", &["feature", "bugfix", "release", "hotfix", "support", "versiontag"]),
    ("lfs", &["repositoryformatversion"]),
];

/// Settings that name a location to fetch from or push to, harmless if they plainly name another machine.
const ADDRESSES: &[(&str, &[&str])] = &[("remote.*", &["url", "pushurl"]), ("submodule.*", &["url"])];

/// Settings that name a remote, or an address instead.
const REMOTES: &[(&str, &[&str])] = &[("branch.*", &["remote", "pushremote"]), ("remote", &["pushdefault"])];

/// The keys of a branch that git itself obeys.
const BRANCH_KEYS: [&str; 6] = ["remote", "pushremote", "merge", "rebase", "mergeoptions", "description"];

/// The answers about other files on which some settings depend.
pub(crate) struct Surroundings<'a> {
    /// Returns whether `core.worktree` may be set to a new value, or be removed (`None`), as git does for submodules.
    pub is_worktree: &'a dyn Fn(Option<&str>) -> bool,
    /// Returns whether git may begin to obey the `config.worktree` next to the file, as `git sparse-checkout` requests.
    pub has_harmless_sibling: &'a dyn Fn() -> bool,
}

/// Returns whether all of a settings file is harmless, by itself.
pub(crate) fn is_harmless(bytes: &[u8]) -> bool {
    let alone = Surroundings { is_worktree: &|_| false, has_harmless_sibling: &|| false };
    harmful(None, bytes, &alone).is_some_and(|change| change.is_empty())
}

/// The settings by which `after` could make git run a program or read other paths, and which `before` did not have in
/// the same order; `None` if one of them cannot be read.
pub(crate) fn harmful(
    before: Option<&[u8]>,
    after: &[u8],
    surroundings: &Surroundings<'_>,
) -> Option<HarmfulChange> {
    let after = settings(after)?;
    let is_new = before.is_none();
    // Settings of the user that are not understood would be lost.
    let before = before.map_or_else(|| Some(Vec::new()), settings)?;
    let is_worktree = surroundings.is_worktree;
    let (worktrees, worktrees_before) = (worktrees(&after), worktrees(&before));
    let has_sound_worktree = worktrees == worktrees_before
        || match worktrees[..] {
            [] => is_worktree(None),
            [Some(value)] => is_worktree(Some(value)),
            _ => false,
        };
    let has_sound_switch = {
        let (before, after) = (switches(&before), switches(&after));
        before == after
            || before.is_empty() && after == [Some("true")] && (surroundings.has_harmless_sibling)()
    };
    let harmful_of = |settings: &[Setting]| -> Vec<Setting> {
        let remotes = remotes(settings);
        let has_extensions = has_extensions(settings);
        let fetches_own = settings.iter().any(Setting::overwrites_own_references);
        let is_harmless = |setting: &Setting| {
            if setting.is_worktree() {
                has_sound_worktree
            } else if setting.is_switch() {
                // This extension predates format versions, and is in force without one.
                has_sound_switch
            } else {
                let is_of_clone = is_new || !setting.overwrites_own_references();
                (!setting.is_extension() || has_extensions)
                    && setting.is_harmless(&remotes)
                    && is_of_clone
                    && !(setting.prunes() && fetches_own)
            }
        };
        settings.iter().filter(|setting| !is_harmless(setting)).cloned().collect()
    };
    // Without a version git obeys no extension, so settings of the user would no longer apply.
    let has_version = |settings: &[Setting]| settings.iter().any(Setting::is_format_version);
    if has_version(&before) && !has_version(&after) {
        let is_version = |setting: &&Setting| setting.is_format_version();
        return Some(HarmfulChange::of([], before.iter().find(is_version)));
    }
    let sections: BTreeSet<&str> = after.iter().map(|setting| &*setting.section).collect();
    let goes = |setting: &Setting| setting.goes_with_its_section() && !sections.contains(&*setting.section);
    let (gone, before): (Vec<_>, Vec<_>) = harmful_of(&before).into_iter().partition(goes);
    let gone: BTreeSet<_> = gone.iter().filter_map(Setting::moving).collect();
    // There may be many thousands of them.
    let had: BTreeSet<_> = before.iter().collect();
    let is_moved = |setting: &Setting| {
        setting.moving().is_some_and(|moving| gone.contains(&moving)) && !had.contains(setting)
    };
    let after: Vec<_> = harmful_of(&after).into_iter().filter(|setting| !is_moved(setting)).collect();
    // Existing settings are the user's. In another order, or with one missing, different ones would apply.
    if before == after {
        return Some(HarmfulChange::default());
    }
    let has: BTreeSet<_> = after.iter().collect();
    let set = after.iter().filter(|setting| !had.contains(setting));
    let removed = before.iter().filter(|setting| !has.contains(setting));
    let change = HarmfulChange::of(set, removed);
    Some(if change.is_empty() { HarmfulChange::of(&after, []) } else { change })
}

/// Settings whose value git may read differently from how it is written, or that cannot be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnclearSettings;

/// Returns the value of `core.worktree` in a settings file.
pub(crate) fn worktree(bytes: &[u8]) -> Result<Option<String>, UnclearSettings> {
    let settings = settings(bytes).ok_or(UnclearSettings)?;
    match worktrees(&settings)[..] {
        [] => Ok(None),
        [Some(value)] if !value.contains(NOT_PLAIN) => Ok(Some(value.to_owned())),
        _ => Err(UnclearSettings),
    }
}

fn worktrees(settings: &[Setting]) -> Vec<Option<&str>> {
    settings
        .iter()
        .filter(|setting| setting.is_worktree())
        .map(|setting| setting.written.as_deref())
        .collect()
}

/// The values that make git obey a `config.worktree`.
fn switches(settings: &[Setting]) -> Vec<Option<&str>> {
    settings.iter().filter(|setting| setting.is_switch()).map(|setting| setting.written.as_deref()).collect()
}

impl Setting {
    fn is_worktree(&self) -> bool {
        !self.is_named && &*self.section == "core" && self.key == "worktree"
    }

    /// Returns whether it is meaningless once its branch, remote or submodule is gone with all settings.
    fn goes_with_its_section(&self) -> bool {
        ["branch", "remote", "submodule"].iter().any(|kind| self.name_in(kind).is_some())
    }

    /// Returns key and value of a setting that another program keeps for a branch, and that git moves when it renames the branch.
    fn moving(&self) -> Option<(&str, Option<&str>)> {
        let is_foreign = self.name_in("branch").is_some() && !BRANCH_KEYS.contains(&self.key.as_str());
        (is_foreign && !self.has_harmful_name()).then_some((&self.key, self.written.as_deref()))
    }

    /// Returns whether a fetch by it writes to branches or tags of this repository. Of the refspecs that git applies
    /// implicitly, only the tag of a new clone is harmless.
    fn overwrites_own_references(&self) -> bool {
        let is_fetch = self.name_in("remote").is_some() && self.key == "fetch";
        let value = self.value.as_deref().filter(|_| is_fetch);
        value.is_some_and(|value| !keeps_own_references(value) || is_single_tag(value))
    }

    /// Returns whether a fetch by it removes references that the remote does not have.
    fn prunes(&self) -> bool {
        let is_prune = self.key == "prune" && (&*self.section == "fetch" || self.name_in("remote").is_some());
        let is_off = |value: &str| matches!(&*value.to_ascii_lowercase(), "" | "no" | "off" | "false" | "0");
        is_prune && !self.value.as_deref().is_some_and(is_off)
    }

    fn is_harmless(&self, remotes: &BTreeSet<&str>) -> bool {
        if self.has_harmful_name() {
            return false;
        }
        let written = self.written.as_deref();
        match (&*self.section, self.key.as_str()) {
            ("core", "bare") => return written == Some("false"),
            ("advice", _) => return is_sound(self),
            _ if self.is_format_version() => return matches!(written, Some("0" | "1")),
            // Later versions accept a path after the name of the format.
            ("extensions", "refstorage") => return matches!(written, Some("files" | "reftable")),
            // An index is judged by the format, so only these spellings are allowed.
            _ if self.is_object_format() => return matches!(written, Some("sha1" | "sha256")),
            _ => {}
        }
        let value = self.value.as_deref();
        // `.` is this repository itself. Anything that does not name a remote is an address.
        let is_remote = |value: &str| value == "." || remotes.contains(value) || is_plain_address(value);
        self.is_in(HARMLESS) && is_sound(self)
            || self.is_in(ADDRESSES) && value.is_some_and(is_plain_address)
            || self.is_in(REMOTES) && value.is_some_and(is_remote)
    }

    /// Returns whether the quoted name could be taken for an option, or the name of a remote for a path. Git passes the
    /// names of remotes to its own programs: `fetch --all` would obey a remote called `--upload-pack=PROGRAM`.
    fn has_harmful_name(&self) -> bool {
        let name = self.section.split_once('.').map(|(_, name)| name).filter(|_| self.is_named);
        name.is_some_and(|name| name.starts_with('-'))
            || self.name_in("remote").is_some_and(|name| name.starts_with('/'))
    }

    fn is_in(&self, list: &[(&str, &[&str])]) -> bool {
        list.iter().any(|(section, keys)| {
            let is_section = match section.strip_suffix(".*") {
                Some(kind) => self.name_in(kind).is_some(),
                // A section with a dot has a quoted name.
                None => self.is_named == section.contains('.') && *self.section == **section,
            };
            is_section && keys.contains(&self.key.as_str())
        })
    }
}

#[cfg(test)]
mod tests;
