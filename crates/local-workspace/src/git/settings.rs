//! A conservative reader of git's settings files, to tell harmless settings from those that run programs or lead away.
//!
//! It reads less than git does: whatever it does not understand counts as harmful, so that no way of writing a setting
//! slips through because two readers differ.

mod text;

use std::collections::BTreeSet;

use git_index::ObjectFormat;

use crate::git::linked_folders::NOT_PLAIN;
use crate::git::settings::text::{BLANKS, Setting, settings};

/// Settings that decide nothing but looks, names and addresses, `*` standing for the name in a section's quotes.
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
        ],
    ),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("branch.*", &["merge", "rebase", "description"]),
    ("branch", &["autosetupmerge", "autosetuprebase", "sort"]),
    ("remote.*", &["fetch", "push", "prune", "tagopt"]),
    ("submodule.*", &["active", "branch", "ignore", "fetchrecursesubmodules"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("fetch", &["prune", "prunetags", "parallel"]),
    ("merge", &["ff", "conflictstyle", "renames"]),
    ("rebase", &["autosquash", "autostash", "updaterefs"]),
    ("commit", &["cleanup", "verbose"]),
    ("diff", &["renames", "algorithm", "colormoved", "mnemonicprefix"]),
    ("log", &["date", "decorate", "abbrevcommit"]),
    ("status", &["short", "branch", "showuntrackedfiles"]),
    ("color", &["ui"]),
    ("gc", &["auto", "autodetach"]),
    ("maintenance", &["auto"]),
    ("rerere", &["enabled", "autoupdate"]),
    ("index", &["version"]),
];

/// Settings that name where to fetch from or push to, harmless if they name another machine plainly.
const ADDRESSES: &[(&str, &[&str])] = &[("remote.*", &["url", "pushurl"]), ("submodule.*", &["url"])];

/// Settings that name a remote, or an address in place of one.
const REMOTES: &[(&str, &[&str])] = &[("branch.*", &["remote", "pushremote"]), ("remote", &["pushdefault"])];

/// Settings that decide what goes where when git fetches or pushes, which the user should see.
const DIRECTIONS: &[(&str, &[&str])] = &[
    ("remote.*", &["url", "pushurl", "fetch", "push"]),
    ("remote", &["pushdefault"]),
    ("branch.*", &["remote", "pushremote"]),
    ("push", &["default"]),
    ("submodule.*", &["url"]),
];

/// The longest value that is shown, in characters.
const SHOWN_CHARACTERS: usize = 100;

/// The settings by which `after` could make git run a program or look elsewhere, and which `before` did not have in the
/// same order; `None` if `after` cannot be read. `is_worktree` returns whether `core.worktree` may get a new value, or be
/// removed (`None`), as git does for submodules.
pub(crate) fn harmful(
    before: Option<&[u8]>,
    after: &[u8],
    is_worktree: &dyn Fn(Option<&str>) -> bool,
) -> Option<Vec<String>> {
    let after = settings(after)?;
    let before = before.and_then(settings).unwrap_or_default();
    let (worktrees, worktrees_before) = (worktrees(&after), worktrees(&before));
    let has_sound_worktree = worktrees == worktrees_before
        || match worktrees[..] {
            [] => is_worktree(None),
            [Some(value)] => is_worktree(Some(value)),
            _ => false,
        };
    let harmful_of = |settings: &[Setting]| -> Vec<Setting> {
        let remotes = remotes(settings);
        let has_extensions = has_extensions(settings);
        let is_harmless = |setting: &Setting| {
            let is_in_force = setting.section != "extensions" || has_extensions;
            is_in_force
                && if setting.is_worktree() { has_sound_worktree } else { setting.is_harmless(&remotes) }
        };
        settings.iter().filter(|setting| !is_harmless(setting)).cloned().collect()
    };
    // Without a version git obeys no extension, so that settings of the user would be out of force.
    let has_version = |settings: &[Setting]| settings.iter().any(Setting::is_format_version);
    if has_version(&before) && !has_version(&after) {
        return Some(vec!["core.repositoryformatversion".to_owned()]);
    }
    // Those that were there are the user's. In another order, or with one missing, others of them would be in force.
    let (before, after) = (harmful_of(&before), harmful_of(&after));
    if before == after {
        return Some(Vec::new());
    }
    let is_new = |setting: &&Setting| !before.contains(setting);
    let named: Vec<_> = after.iter().filter(is_new).map(Setting::to_string).collect();
    let is_gone = |setting: &&Setting| !after.contains(setting);
    let gone = before.iter().filter(is_gone).map(Setting::to_string);
    let all: Vec<_> = named.into_iter().chain(gone).collect();
    Some(if all.is_empty() { after.iter().map(Setting::to_string).collect() } else { all })
}

/// Settings whose value git may read in another way than it is written, or that cannot be read.
#[derive(Debug)]
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
    settings.iter().filter(|setting| setting.is_worktree()).map(|setting| setting.value.as_deref()).collect()
}

/// Returns the object format that a settings file decides. Git takes it from the last line that names it, and obeys it only
/// beside version 1 of the repository's format.
pub(crate) fn object_format(bytes: &[u8]) -> ObjectFormat {
    let all = settings(bytes).unwrap_or_default();
    let is_sha256 = last_value(&all, Setting::is_object_format).is_some_and(|value| value == "sha256");
    if is_sha256 && has_extensions(&all) { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 }
}

/// Returns whether git obeys extensions.
fn has_extensions(settings: &[Setting]) -> bool {
    last_value(settings, Setting::is_format_version).is_some_and(|version| version == "1")
}

/// Returns the value of the last of these settings, without quotes and comments.
fn last_value(settings: &[Setting], is_wanted: impl Fn(&Setting) -> bool) -> Option<String> {
    let last = settings.iter().rfind(|setting| is_wanted(setting))?;
    let value = last.value.as_deref().unwrap_or_default();
    let text = value.split(['#', ';']).next().unwrap_or_default().replace('"', "");
    Some(text.trim_matches(BLANKS).to_owned())
}

/// The names of the remotes that have an address.
fn remotes(settings: &[Setting]) -> BTreeSet<String> {
    let name = |setting: &Setting| {
        let is_address = setting.key == "url" && setting.is_named;
        setting.section.strip_prefix("remote.").filter(|_| is_address).map(str::to_owned)
    };
    settings.iter().filter_map(name).collect()
}

/// The settings of `after` that decide what goes where when git fetches or pushes, and that `before` did not have or had
/// otherwise, each with its value; those that are gone as well. Credentials are masked.
pub(crate) fn changed_directions(before: Option<&[u8]>, after: &[u8]) -> Vec<String> {
    let directions = |bytes: &[u8]| -> Vec<Setting> {
        let all = settings(bytes).unwrap_or_default();
        all.into_iter().filter(|setting| setting.is_in(DIRECTIONS)).collect()
    };
    let (before, after) = (before.map(directions).unwrap_or_default(), directions(after));
    let new = after.iter().filter(|setting| !before.contains(setting)).map(Setting::rendered);
    let has_key = |one: &Setting| after.iter().any(|other| other.to_string() == one.to_string());
    let gone = before.iter().filter(|setting| !has_key(setting)).map(|setting| format!("{setting} is gone"));
    new.chain(gone).map(|text| text.chars().map(printable).collect()).collect()
}

/// Replaces a character that a line for people may not hold.
fn printable(character: char) -> char {
    if character.is_control() { char::REPLACEMENT_CHARACTER } else { character }
}

impl Setting {
    /// Returns name and value for people.
    fn rendered(&self) -> String {
        let value = self.value.as_deref().unwrap_or("true");
        let masked = crate::git::credentials::mask(value.as_bytes());
        let masked = String::from_utf8_lossy(&masked);
        let short: String = masked.chars().take(SHOWN_CHARACTERS).collect();
        let rest = if short.len() < masked.len() { "…" } else { "" };
        format!("{self} = {short}{rest}")
    }

    fn is_worktree(&self) -> bool {
        !self.is_named && self.section == "core" && self.key == "worktree"
    }

    fn is_harmless(&self, remotes: &BTreeSet<String>) -> bool {
        let value = self.value.as_deref();
        if self.is_named_like_option() {
            return false;
        }
        match (self.section.as_str(), self.key.as_str()) {
            ("core", "bare") => return value == Some("false"),
            ("advice", _) => return true,
            _ if self.is_format_version() => return matches!(value, Some("0" | "1")),
            ("extensions", "relativeworktrees") => return true,
            // Later versions take a path behind the name of the format.
            ("extensions", "refstorage") => return matches!(value, Some("files" | "reftable")),
            // An index is judged by the format, so there is no other way of writing it.
            _ if self.is_object_format() => return matches!(value, Some("sha1" | "sha256")),
            _ => {}
        }
        // `.` is this repository itself. What names no remote is an address.
        let is_remote = |value: &str| value == "." || remotes.contains(value) || is_plain_address(value);
        self.is_in(HARMLESS)
            || self.is_in(ADDRESSES) && value.is_some_and(is_plain_address)
            || self.is_in(REMOTES) && value.is_some_and(is_remote)
    }

    /// Returns whether the name in quotes is one that a program would take for an option. Git passes the names of remotes
    /// to programs of its own: `fetch --all` would obey a remote called `--upload-pack=PROGRAM`.
    fn is_named_like_option(&self) -> bool {
        self.is_named && self.section.split_once('.').is_some_and(|(_, name)| name.starts_with('-'))
    }

    fn is_format_version(&self) -> bool {
        !self.is_named && self.section == "core" && self.key == "repositoryformatversion"
    }

    fn is_object_format(&self) -> bool {
        !self.is_named && self.section == "extensions" && self.key == "objectformat"
    }

    fn is_in(&self, list: &[(&str, &[&str])]) -> bool {
        list.iter().any(|(section, keys)| {
            let is_section = match section.strip_suffix(".*") {
                Some(section) => {
                    self.is_named
                        && self.section.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
                }
                None => !self.is_named && self.section == *section,
            };
            is_section && keys.contains(&self.key.as_str())
        })
    }
}

/// Checks whether an address names another machine and no helper program.
///
/// A folder of this machine is not one: git runs the hooks of what it pushes to, as the user, and one in the workspace
/// may lie where the user does not look.
fn is_plain_address(address: &str) -> bool {
    let has_plain_characters = address.chars().all(|character| {
        character.is_alphanumeric()
            || matches!(character, '.' | '/' | ':' | '@' | '-' | '_' | '~' | '+' | '%')
    });
    let starts_like_option = |part: &str| part.starts_with('-');
    let schemes = ["https://", "http://", "ssh://", "git://"];
    let names_machine = match address.split_once("://") {
        Some(_) => schemes.iter().any(|scheme| address.starts_with(scheme)),
        // `host:path`; with a slash in front of the colon it is a path.
        None => address.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/')),
    };
    // Two colons begin the name of a helper, `ext` for instance, which runs what follows.
    has_plain_characters
        && names_machine
        && !address.contains("::")
        && !address.is_empty()
        && !address.split(['/', '@', ':']).any(starts_like_option)
}

#[cfg(test)]
mod tests {
    use git_index::ObjectFormat;

    use super::{changed_directions, harmful, object_format, worktree};

    fn judged(before: &str, after: &str) -> Option<Vec<String>> {
        harmful(Some(before.as_bytes()), after.as_bytes(), &|value| value == Some("../../../sub"))
    }

    const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";

    #[test]
    fn what_git_writes_by_itself_is_harmless() {
        for more in [
            "",
            "[remote \"origin\"]\n\turl = https://example.org/a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            "[remote \"origin\"]\r\n\turl = git@example.org:a/b.git\r\n",
            "[remote \"o\"]\n\turl = h:other\n[branch \"main\"]\n\tremote = o\n\tmerge = refs/heads/main\n",
            "[branch \"main\"]\n\tremote = .\n[branch \"b\"]\n\tpushRemote = ssh://h/x\n",
            "# a note\n[user]\n\tname = A B\n\temail = a@b.c\n[pull] rebase = true\n[advice]\n\tdetachedHead\n",
            "[core]\n\tworktree = ../../../sub\n",
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n\tobjectFormat = sha256\n",
            "[maintenance]\n\tauto = false\n",
            "[submodule \"x\"]\n\tactive = true\n\turl = https://h/x.git\n",
        ] {
            assert_eq!(judged(PLAIN, &format!("{PLAIN}{more}")), Some(vec![]), "{more}");
        }
    }

    #[test]
    fn what_runs_programs_or_leads_away_is_named() {
        for (more, name) in [
            ("[core]\n\tfsmonitor = touch x\n", "core.fsmonitor"),
            ("[CORE] FsMonitor = touch x\n", "core.fsmonitor"),
            ("[core]\n\thooksPath = h\n", "core.hookspath"),
            ("[core]\n\tsshCommand = x\n\teditor = y\n", "core.sshcommand"),
            ("[core]\n\tbare = true\n", "core.bare"),
            ("[core]\n\tworktree = /home\n", "core.worktree"),
            ("[filter \"f\"]\n\tclean = x\n", "filter.f.clean"),
            ("[diff \"d\"]\n\tcommand = x\n", "diff.d.command"),
            ("[diff]\n\texternal = x\n", "diff.external"),
            ("[alias]\n\tst = !x\n", "alias.st"),
            ("[credential]\n\thelper = !x\n", "credential.helper"),
            ("[include]\n\tpath = x\n", "include.path"),
            ("[includeIf \"gitdir:/\"]\n\tpath = x\n", "includeif.gitdir:/.path"),
            ("[url \"ext::sh -c x\"]\n\tinsteadOf = https:\n", "url.ext::sh -c x.insteadof"),
            ("[remote \"o\"]\n\turl = ext::sh\n", "remote.o.url"),
            ("[remote \"o\"]\n\turl = ssh://-oProxyCommand=x/y\n", "remote.o.url"),
            ("[remote \"o\"]\n\turl = ./target/x.git\n", "remote.o.url"),
            ("[remote \"o\"]\n\tpushurl = /srv/x.git\n", "remote.o.pushurl"),
            ("[remote \"o\"]\n\turl = file:///srv/x.git\n", "remote.o.url"),
            ("[remote \"o\"]\n\turl = a/b:c\n", "remote.o.url"),
            ("[remote]\n\tpushDefault = target\n", "remote.pushdefault"),
            ("[branch \"m\"]\n\tremote = target/x\n", "branch.m.remote"),
            ("[branch \"m\"]\n\tpushRemote = target\n", "branch.m.pushremote"),
            ("[submodule \"s\"]\n\turl = ./x\n", "submodule.s.url"),
            ("[remote \"o\"]\n\turl = \"ext\"::sh\n", "remote.o.url"),
            ("[remote \"o\"]\n\tuploadpack = x\n", "remote.o.uploadpack"),
            ("[submodule \"s\"]\n\tupdate = !x\n", "submodule.s.update"),
            ("[extensions]\n\tworktreeConfig = true\n", "extensions.worktreeconfig"),
            ("[core]\n\trepositoryformatversion = --\n", "core.repositoryformatversion"),
            ("[extensions]\n\tobjectFormat = sha256\n", "extensions.objectformat"),
            ("[core]\n\tworktree = ../../../sub\u{2003}\n", "core.worktree"),
            ("[core]\n\tworktree = ../../../sub\u{b}\n", "core.worktree"),
            ("[protocol]\n\tallow = always\n", "protocol.allow"),
            (
                "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = files:///srv/x\n",
                "extensions.refstorage",
            ),
            ("[remote \"--upload-pack=x\"]\n\turl = https://h/x\n", "remote.--upload-pack=x.url"),
            ("[remote \"-x\"]\n\tprune = true\n", "remote.-x.prune"),
            ("[branch \"-x\"]\n\tmerge = refs/heads/x\n", "branch.-x.merge"),
            ("[submodule \"--x\"]\n\turl = https://h/x\n", "submodule.--x.url"),
            ("[user \"x\"]\n\tname = y\n", "user.x.name"),
            ("[gpg]\n\tprogram = x\n", "gpg.program"),
        ] {
            let named = judged(PLAIN, &format!("{PLAIN}{more}")).unwrap();
            assert_eq!(named.first().map(String::as_str), Some(name), "{more}");
        }
    }

    /// Without version 1 git ignores extensions or refuses the repository, and reads an index in SHA-1.
    #[test]
    fn object_format_counts_beside_version_1_only() {
        let format = |version: &str| {
            object_format(format!("[extensions]\n\tobjectFormat = sha256\n{version}").as_bytes())
        };
        assert_eq!(
            format("[core]\n\trepositoryFormatVersion = 1 ; as git writes it\n"),
            ObjectFormat::Sha256
        );
        for version in ["", "[core]\n\trepositoryformatversion = 1\n\trepositoryformatversion = 0\n"] {
            assert_eq!(format(version), ObjectFormat::Sha1, "{version}");
        }
        let sha256 = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n";
        for after in ["[extensions]\n\tobjectformat = sha256\n", &sha256.replace('1', "0")] {
            assert_ne!(judged(sha256, after), Some(vec![]), "{after}");
        }
        assert_eq!(
            judged("[core]\n\trepositoryformatversion = 0\n", "[core]\n\tbare = false\n"),
            Some(vec!["core.repositoryformatversion".to_owned()])
        );
    }

    #[test]
    fn worktree_of_a_submodule_is_read_as_git_reads_it() {
        let read = |text: &str| worktree(text.as_bytes()).ok();
        assert_eq!(read(PLAIN), Some(None));
        assert_eq!(read("[core]\n\tworktree = ../../../sub\n"), Some(Some("../../../sub".to_owned())));
        // The last of two counts, and what is quoted or behind a semicolon is read in another way.
        for value in ["a\n\tworktree = b", "\"a\"", "a;b", "a # b", "a\\tb"] {
            assert_eq!(read(&format!("[core]\n\tworktree = {value}\n")), None, "{value}");
        }
        let two = format!("{PLAIN}[core]\n\tworktree = ../../../sub\n\tworktree = ../../../sub\n");
        assert_eq!(judged(PLAIN, &two), Some(vec!["core.worktree".to_owned(), "core.worktree".to_owned()]));
        assert_eq!(judged(&two, &two), Some(vec![]));
    }

    #[test]
    fn directions_that_change_are_named_without_credentials() {
        let remote =
            |url: &str| format!("{PLAIN}[remote \"o\"]\n\turl = {url}\n[push]\n\tdefault = simple\n");
        let named = |before: &str, after: &str| changed_directions(Some(before.as_bytes()), after.as_bytes());
        assert_eq!(
            named(PLAIN, &remote("https://me:secret@h/x")),
            ["remote.o.url = https://***@h/x", "push.default = simple"]
        );
        assert_eq!(
            named(&remote("https://h/x"), &remote("https://other/x")),
            ["remote.o.url = https://other/x"]
        );
        assert_eq!(named(&remote("h:x"), PLAIN), ["remote.o.url is gone", "push.default is gone"]);
        assert_eq!(named(&remote("h:x"), &remote("h:x")), [""; 0]);
    }

    #[test]
    fn what_is_not_understood_is_not_read() {
        for more in [
            "[core]\n\tfs\\\nmonitor = x\n",
            "[core.fsmonitor]\n\tx = y\n",
            "[core][alias] x = y\n",
            "key = before any section\n",
            "[core\n",
            "[a \"b\\\"c\"]\n\tx = y\n",
            "\u{feff}[core]\n",
            "[core]\n\tname = a\u{0}b\n",
            "[core]\n\ta b = c\n",
        ] {
            assert_eq!(judged("", more), None, "{more}");
        }
        assert_eq!(harmful(None, b"[user]\n\tname = \xff\n", &|_| false), None);
    }

    #[test]
    fn what_the_user_has_set_stays_as_it_is() {
        let mine = format!("{PLAIN}[alias]\n\tst = status\n[core]\n\teditor = vi\n");
        let with_remote = format!("{mine}[remote \"o\"]\n\turl = h:srv/x\n");
        assert_eq!(judged(&mine, &with_remote), Some(vec![]));
        assert_eq!(judged(&mine, PLAIN), Some(vec!["alias.st".into(), "core.editor".into()]));
        let swapped = format!("{PLAIN}[core]\n\teditor = vi\n[alias]\n\tst = status\n");
        assert_eq!(judged(&mine, &swapped), Some(vec!["core.editor".into(), "alias.st".into()]));
    }
}
