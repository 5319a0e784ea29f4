//! The values of harmless settings at which git does not fail.
//!
//! Every git command fails if a number or a choice in its settings is invalid.

mod dates;
mod refspecs;

use git_index::is_reference_name;

use crate::git::settings::text::Setting;
use crate::git::settings::values::dates::{is_age_of_two_weeks, is_date_format};
use crate::git::settings::values::refspecs::{is_fetch_refspec, is_push_refspec};
pub(super) use crate::git::settings::values::refspecs::{is_single_tag, keeps_own_references};

/// The values that git accepts.
enum Values {
    /// Yes or no, or one of these words.
    Boolean(&'static [&'static str]),
    /// A number in this range, or one of these words.
    Number(i64, i64, &'static [&'static str]),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any value that passes this check. Git fails without one.
    Text(fn(&str) -> bool),
}

use Values::{Boolean, Number, Text, Word};

const MOST: i64 = i32::MAX as i64;

/// The rules of `core.whitespace`, each with or without a minus.
const WHITESPACE_RULES: [&str; 7] = [
    "trailing-space",
    "space-before-tab",
    "indent-with-non-tab",
    "cr-at-eol",
    "blank-at-eol",
    "blank-at-eof",
    "tab-in-indent",
];

/// The keys by which git sorts branches and tags, each with or without a minus.
const SORT_KEYS: [&str; 14] = [
    "refname",
    "version:refname",
    "v:refname",
    "objectname",
    "objecttype",
    "objectsize",
    "committerdate",
    "authordate",
    "creatordate",
    "committername",
    "authorname",
    "taggerdate",
    "taggername",
    "upstream",
];

/// Harmless settings, each with the values that are accepted.
const VALUES: &[(&str, &[&str], Values)] = &[
    (
        "core",
        &[
            "filemode",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "quotepath",
            "trustctime",
            "preloadindex",
            "sparsecheckout",
            "sparsecheckoutcone",
        ],
        Boolean(&[]),
    ),
    ("core", &["logallrefupdates"], Boolean(&["always"])),
    ("core", &["untrackedcache"], Boolean(&["keep"])),
    ("core", &["autocrlf"], Boolean(&["input"])),
    // Otherwise `git add` fails at line endings that `core.autocrlf` would change.
    ("core", &["safecrlf"], Word(&["warn", "false", "no", "off", "0"])),
    ("core", &["commentchar"], Text(is_comment_character)),
    ("core", &["checkstat"], Word(&["default", "minimal"])),
    ("core", &["eol"], Word(&["lf", "crlf", "native"])),
    ("core", &["whitespace"], Text(are_whitespace_rules)),
    ("user", &["name"], Text(is_name_of_person)),
    ("user", &["email"], Text(has_no_control)),
    ("init", &["defaultbranch"], Text(is_branch)),
    ("branch", &["sort"], Text(is_sort_key)),
    ("tag", &["sort"], Text(is_sort_key)),
    ("branch.*", &["description"], Text(|_| true)),
    ("branch.*", &["vscode-merge-base", "gh-merge-base"], Text(is_branch)),
    ("remote.*", &["gh-resolved"], Text(is_repository_of_forge)),
    ("gitflow.branch", &["master", "main", "develop"], Text(is_name_part)),
    ("gitflow.branch.*", &["base"], Text(is_name_part)),
    (
        "gitflow.prefix",
        &["feature", "bugfix", "release", "hotfix", "support", "versiontag"],
        Text(is_name_part),
    ),
    ("lfs", &["repositoryformatversion"], Word(&["0"])),
    ("branch.*", &["merge"], Text(|value| is_reference_name(value.as_bytes()))),
    ("branch.*", &["rebase"], Boolean(&["merges", "m", "interactive", "i"])),
    ("remote.*", &["fetch"], Text(is_fetch_refspec)),
    ("remote.*", &["push"], Text(is_push_refspec)),
    ("remote.*", &["prune"], Boolean(&[])),
    ("remote.*", &["tagopt"], Word(&["--tags", "--no-tags"])),
    ("submodule.*", &["active"], Boolean(&[])),
    ("submodule.*", &["branch"], Text(|value| value == "." || is_branch(value))),
    ("submodule.*", &["ignore"], Word(&["none", "untracked", "dirty", "all"])),
    ("submodule.*", &["fetchrecursesubmodules"], Boolean(&["on-demand"])),
    // A SHA-1 name has no more digits.
    ("core", &["abbrev"], Number(4, 40, &["auto", "no", "off", "false"])),
    ("core", &["compression"], Number(-1, 9, &[])),
    ("index", &["version"], Number(2, 4, &[])),
    ("index", &["sparse"], Boolean(&[])),
    ("gc", &["auto"], Number(-1, MOST, &[])),
    ("gc", &["autodetach"], Boolean(&[])),
    ("gc", &["pruneexpire"], Text(is_age_of_two_weeks)),
    ("maintenance", &["auto"], Boolean(&[])),
    // Git reserves memory for each.
    ("fetch", &["parallel"], Number(0, 64, &[])),
    ("fetch", &["prune", "writecommitgraph"], Boolean(&[])),
    ("push", &["autosetupremote", "followtags"], Boolean(&[])),
    ("pull", &["ff"], Boolean(&["only"])),
    ("merge", &["ff"], Boolean(&["only"])),
    ("merge", &["renames"], Boolean(&["copies", "copy"])),
    ("rebase", &["autosquash", "autostash", "updaterefs"], Boolean(&[])),
    ("commit", &["verbose"], Boolean(&[])),
    ("diff", &["renames"], Boolean(&["copies", "copy"])),
    ("diff", &["mnemonicprefix"], Boolean(&[])),
    (
        "diff",
        &["colormoved"],
        Boolean(&["default", "plain", "blocks", "zebra", "dimmed-zebra", "dimmed_zebra"]),
    ),
    ("log", &["date"], Text(is_date_format)),
    ("log", &["decorate"], Boolean(&["short", "full", "auto"])),
    ("log", &["abbrevcommit"], Boolean(&[])),
    ("status", &["short", "branch"], Boolean(&[])),
    ("rerere", &["enabled"], Boolean(&[])),
    ("color", &["ui"], Boolean(&["always", "never", "auto"])),
    ("status", &["showuntrackedfiles"], Boolean(&["normal", "all"])),
    ("pull", &["rebase"], Boolean(&["merges", "m", "interactive", "i"])),
    ("branch", &["autosetupmerge"], Boolean(&["always", "inherit", "simple"])),
    ("branch", &["autosetuprebase"], Word(&["never", "local", "remote", "always"])),
    ("push", &["default"], Word(&["nothing", "matching", "simple", "upstream", "tracking", "current"])),
    ("merge", &["conflictstyle"], Word(&["merge", "diff3", "zdiff3"])),
    ("diff", &["algorithm"], Word(&["default", "myers", "minimal", "patience", "histogram"])),
    ("commit", &["cleanup"], Word(&["default", "verbatim", "whitespace", "strip", "scissors"])),
];

/// Settings whose words git reads case-insensitively. Other words are case-sensitive, except yes and no.
const WITHOUT_CASE: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "logallrefupdates",
            "untrackedcache",
            "autocrlf",
            "safecrlf",
            "checkstat",
            "eol",
            "abbrev",
            "commentchar",
        ],
    ),
    ("diff", &["renames", "algorithm"]),
    ("merge", &["renames"]),
    ("color", &["ui"]),
];

/// All settings of these sections are a yes or no.
const BOOLEAN_SECTIONS: [&str; 1] = ["advice"];

/// Returns whether git accepts the value of a setting. An unlisted setting needs a value, which may be any.
pub(super) fn is_sound(setting: &Setting) -> bool {
    let is_it = |(section, keys, _): &&(&'static str, &'static [&'static str], Values)| {
        setting.is_in(&[(*section, *keys)])
    };
    let listed = VALUES.iter().find(is_it).map(|(_, _, values)| values);
    let is_boolean = BOOLEAN_SECTIONS.contains(&&*setting.section);
    let values = listed.or(is_boolean.then_some(&Boolean(&[])));
    let Some(value) = setting.value.as_deref() else {
        // Without a value it means yes.
        return matches!(values, Some(Boolean(_)));
    };
    // Others have a meaning to terminals, on which git prints some values.
    if value.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')) {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    let word = if setting.is_in(WITHOUT_CASE) { lower.as_str() } else { value };
    let number = number(value);
    match values {
        None => true,
        Some(Boolean(words)) => {
            matches!(lower.as_str(), "" | "yes" | "on" | "true" | "no" | "off" | "false")
                || number.is_some()
                || words.contains(&word)
        }
        Some(Number(least, most, words)) => {
            words.contains(&word) || number.is_some_and(|number| (*least..=*most).contains(&number.into()))
        }
        Some(Word(words)) => words.contains(&word),
        Some(Text(is_one)) => is_one(word),
    }
}

/// Returns a number as git reads it; `None` for numbers with a leading zero, which git reads as octal, and for the
/// minimum, at which it fails.
fn number(value: &str) -> Option<i32> {
    let digits = value.trim_start_matches(['-', '+']);
    let is_octal = digits.len() > 1 && digits.starts_with('0');
    value.parse().ok().filter(|number| !is_octal && *number != i32::MIN)
}

fn has_no_control(value: &str) -> bool {
    !value.chars().any(char::is_control)
}

/// Returns whether a text is `auto`, or one of the characters among which that chooses: lines of a message often begin
/// with others, and would be lost.
fn is_comment_character(value: &str) -> bool {
    matches!(value, "auto" | "#" | ";" | "@" | "!" | "$" | "%" | "^" | "&" | "|" | ":")
}

/// Returns whether a text is part of a branch name, without meaning to a shell.
fn is_name_part(value: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/');
    !value.starts_with('-') && value.bytes().all(is_plain)
}

/// Returns whether a text is `base`, or the name of a repository on a forge.
fn is_repository_of_forge(value: &str) -> bool {
    let parts = value.split('/').count();
    value == "base"
        || (2..=3).contains(&parts) && value.split('/').all(|part| !part.is_empty()) && is_name_part(value)
}

/// Returns whether a letter of a name remains once git has stripped disallowed characters: it refuses to commit without
/// a name.
fn is_name_of_person(value: &str) -> bool {
    value.chars().any(char::is_alphanumeric) && has_no_control(value)
}

fn is_branch(value: &str) -> bool {
    !value.starts_with('-') && is_reference_name(format!("refs/heads/{value}").as_bytes())
}

fn is_sort_key(value: &str) -> bool {
    SORT_KEYS.contains(&value.strip_prefix('-').unwrap_or(value))
}

/// Returns whether a text is a list of rules that do not contradict each other.
fn are_whitespace_rules(value: &str) -> bool {
    let rules: Vec<&str> = value.split(',').map(str::trim).filter(|rule| !rule.is_empty()).collect();
    let is_rule = |rule: &&str| match rule.strip_prefix("tabwidth=") {
        Some(width) => width.parse::<u8>().is_ok_and(|width| (1..64).contains(&width)),
        None => WHITESPACE_RULES.contains(&rule.strip_prefix('-').unwrap_or(rule)),
    };
    let contradicts = rules.contains(&"tab-in-indent") && rules.contains(&"indent-with-non-tab");
    rules.iter().all(is_rule) && !contradicts
}

#[cfg(test)]
mod tests;
