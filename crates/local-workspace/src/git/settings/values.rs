//! The values of harmless settings at which git does not fail.
//!
//! Git ends with an error in every command when a number or a choice in its settings is none that it knows.

use git_index::is_reference_name;

use crate::git::settings::text::Setting;

/// The values that git accepts.
enum Values {
    /// Yes or no, or one of these words.
    Boolean(&'static [&'static str]),
    /// A number in this range, or one of these words.
    Number(i64, i64, &'static [&'static str]),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any value that passes this check. Git fails where there is none.
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

/// The ways of writing a date, each also with `-local` behind it.
const DATE_FORMATS: [&str; 12] = [
    "relative",
    "iso8601-strict",
    "iso-strict",
    "iso8601",
    "iso",
    "rfc2822",
    "rfc",
    "short",
    "default",
    "human",
    "raw",
    "unix",
];

/// The keys by which git sorts branches, each with or without a minus.
const SORT_KEYS: [&str; 12] = [
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
    ("core", &["safecrlf"], Boolean(&["warn"])),
    ("core", &["checkstat"], Word(&["default", "minimal"])),
    ("core", &["eol"], Word(&["lf", "crlf", "native"])),
    ("core", &["whitespace"], Text(are_whitespace_rules)),
    ("user", &["name"], Text(is_name_of_person)),
    ("user", &["email"], Text(|_| true)),
    ("init", &["defaultbranch"], Text(is_branch)),
    ("branch", &["sort"], Text(is_sort_key)),
    ("branch.*", &["merge", "description"], Text(|_| true)),
    ("branch.*", &["rebase"], Boolean(&["merges", "m", "interactive", "i"])),
    ("remote.*", &["fetch"], Text(is_fetch_refspec)),
    ("remote.*", &["push"], Text(is_push_refspec)),
    ("remote.*", &["prune"], Boolean(&[])),
    ("remote.*", &["tagopt"], Word(&["--tags", "--no-tags"])),
    ("submodule.*", &["active"], Boolean(&[])),
    ("submodule.*", &["branch"], Text(|value| value == "." || is_branch(value))),
    ("submodule.*", &["ignore"], Word(&["none", "untracked", "dirty", "all"])),
    ("submodule.*", &["fetchrecursesubmodules"], Boolean(&["on-demand"])),
    // A name in SHA-1 has no more digits.
    ("core", &["abbrev"], Number(4, 40, &["auto", "no", "off", "false"])),
    ("core", &["compression"], Number(-1, 9, &[])),
    ("index", &["version"], Number(2, 4, &[])),
    ("index", &["sparse"], Boolean(&[])),
    ("gc", &["auto"], Number(-1, MOST, &[])),
    ("gc", &["autodetach"], Boolean(&[])),
    ("maintenance", &["auto"], Boolean(&[])),
    ("fetch", &["parallel"], Number(0, MOST, &[])),
    ("fetch", &["prune", "prunetags"], Boolean(&[])),
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
    ("rerere", &["enabled", "autoupdate"], Boolean(&[])),
    ("color", &["ui"], Boolean(&["always", "never", "auto"])),
    ("status", &["showuntrackedfiles"], Boolean(&["normal", "all"])),
    ("pull", &["rebase"], Boolean(&["merges", "m", "interactive", "i", "preserve", "p"])),
    ("branch", &["autosetupmerge"], Boolean(&["always", "inherit", "simple"])),
    ("branch", &["autosetuprebase"], Word(&["never", "local", "remote", "always"])),
    ("push", &["default"], Word(&["nothing", "matching", "simple", "upstream", "tracking", "current"])),
    ("merge", &["conflictstyle"], Word(&["merge", "diff3", "zdiff3"])),
    ("diff", &["algorithm"], Word(&["default", "myers", "minimal", "patience", "histogram"])),
    ("commit", &["cleanup"], Word(&["default", "verbatim", "whitespace", "strip", "scissors"])),
];

/// Settings without exception of these sections are a yes or no.
const BOOLEAN_SECTIONS: [&str; 1] = ["advice"];

/// Returns whether git accepts the value of a setting. One that is not listed needs a value, and may have any.
pub(super) fn is_sound(setting: &Setting) -> bool {
    let is_it = |(section, keys, _): &&(&'static str, &'static [&'static str], Values)| {
        setting.is_in(&[(*section, *keys)])
    };
    let listed = VALUES.iter().find(is_it).map(|(_, _, values)| values);
    let is_boolean = BOOLEAN_SECTIONS.contains(&&*setting.section);
    let values = listed.or(is_boolean.then_some(&Boolean(&[])));
    let Some(value) = setting.value.as_deref() else {
        // Without a value it is a yes.
        return matches!(values, Some(Boolean(_)));
    };
    let value = value.to_ascii_lowercase();
    let number = value.parse::<i32>().ok();
    match values {
        None => true,
        Some(Boolean(words)) => {
            matches!(value.as_str(), "" | "yes" | "on" | "true" | "no" | "off" | "false")
                || number.is_some()
                || words.contains(&value.as_str())
        }
        Some(Number(least, most, words)) => {
            words.contains(&value.as_str())
                || number.is_some_and(|number| (*least..=*most).contains(&number.into()))
        }
        Some(Word(words)) => words.contains(&value.as_str()),
        Some(Text(is_one)) => is_one(&value),
    }
}

/// Returns whether a name keeps a letter once git has cut off what it does not allow: without a name it makes no commit.
fn is_name_of_person(value: &str) -> bool {
    value.chars().any(char::is_alphanumeric)
}

fn is_branch(value: &str) -> bool {
    !value.starts_with('-') && is_reference_name(format!("refs/heads/{value}").as_bytes())
}

fn is_sort_key(value: &str) -> bool {
    SORT_KEYS.contains(&value.strip_prefix('-').unwrap_or(value))
}

fn is_date_format(value: &str) -> bool {
    let value = value.strip_prefix("auto:").unwrap_or(value);
    let has_own = ["format:", "format-local:"].iter().any(|start| value.starts_with(start));
    has_own || value == "local" || DATE_FORMATS.contains(&value.strip_suffix("-local").unwrap_or(value))
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

fn is_fetch_refspec(value: &str) -> bool {
    is_refspec(value, true)
}

fn is_push_refspec(value: &str) -> bool {
    is_refspec(value, false)
}

/// Returns whether a text is `FROM:TO`, `FROM` or `^FROM`, of names with at most one `*`. Git reads those of every remote to show
/// how far a branch is ahead.
fn is_refspec(value: &str, is_fetch: bool) -> bool {
    let is_name = |name: &str| {
        let name = name.replacen('*', "x", 1);
        name != "@" && is_reference_name(format!("refs/{name}").as_bytes())
    };
    let is_side = |side: &str| side.is_empty() || is_name(side);
    let has_star = |side: &str| side.contains('*');
    if let Some(excluded) = value.strip_prefix('^') {
        return is_name(excluded);
    }
    let value = value.strip_prefix('+').unwrap_or(value);
    match value.split_once(':') {
        Some((from, to)) => is_side(from) && is_side(to) && has_star(from) == has_star(to),
        None => is_name(value) && !(is_fetch && has_star(value)),
    }
}

#[cfg(test)]
mod tests {
    use crate::git::settings::is_harmless;

    #[test]
    fn values_at_which_git_fails_are_not_harmless() {
        let is_harmless =
            |section: &str, line: &str| is_harmless(format!("[{section}]\n\t{line}\n").as_bytes());
        for (section, line) in [
            ("index", "version = 4"),
            ("core", "compression = -1"),
            ("core", "abbrev = auto"),
            ("core", "abbrev = 12 ; digits"),
            ("core", "fileMode = false"),
            ("core", "fileMode"),
            ("core", "autocrlf = Input"),
            ("gc", "auto = 0"),
            ("fetch", "parallel = 8"),
            ("pull", "ff = only"),
            ("merge", "renames = 1"),
            ("push", "default = simple"),
            ("advice", "detachedHead"),
            ("advice", "detachedHead = false"),
            ("color", "ui = auto"),
            ("core", "checkStat = minimal"),
            ("core", "whitespace = tab-in-indent,-indent-with-non-tab,tabwidth=4"),
            ("core", "eol = lf"),
            ("user", "name = \"A; B\" # a \" in a remark"),
            ("user", "email = a@b.c"),
            ("diff", "colorMoved"),
            ("diff", "colorMoved = dimmed-zebra"),
            ("log", "date = iso-local"),
            ("log", "date = auto:format:%Y"),
            ("log", "decorate = short"),
            ("branch", "sort = -committerdate"),
            ("branch \"x\"", "merge = refs/heads/x"),
            ("branch \"x\"", "rebase"),
            ("remote \"o\"", "fetch = +refs/heads/*:refs/remotes/o/*"),
            ("remote \"o\"", "fetch = ^refs/heads/x-*"),
            ("remote \"o\"", "fetch = +refs/pull/*/head:refs/remotes/o/pull/*"),
            ("remote \"o\"", "fetch = HEAD"),
            ("remote \"o\"", "push = :"),
            ("remote \"o\"", "push = HEAD:refs/for/main"),
            ("remote \"o\"", "push = refs/heads/*"),
            ("remote \"o\"", "tagOpt = --no-tags"),
            ("submodule \"s\"", "ignore = dirty"),
            ("submodule \"s\"", "branch = ."),
        ] {
            assert!(is_harmless(section, line), "{line}");
        }
        for (section, line) in [
            ("index", "version = 99999999999999999999"),
            ("index", "version = 5"),
            ("index", "version"),
            ("core", "compression = 10"),
            ("core", "abbrev = 3"),
            ("core", "abbrev = 1000"),
            ("core", "fileMode = maybe"),
            ("core", "fileMode = 99999999999"),
            ("gc", "auto = 99999999999"),
            ("fetch", "parallel = -1"),
            ("pull", "ff = perhaps"),
            ("push", "default"),
            ("push", "default = all"),
            ("advice", "detachedHead = maybe"),
            ("color", "ui = blue"),
            ("diff", "algorithm = x"),
            ("user", "name"),
            ("user", "email"),
            ("user", "name = ,."),
            ("user", "name = \"A"),
            ("user", "name = a\\q"),
            ("init", "defaultBranch"),
            ("core", "checkStat"),
            ("core", "checkStat = some"),
            ("core", "whitespace"),
            ("core", "whitespace = tab-in-indent,indent-with-non-tab"),
            ("core", "whitespace = tabwidth=64"),
            ("core", "abbrev = 41"),
            ("diff", "colorMoved = junk"),
            ("log", "date = junk"),
            ("log", "date"),
            ("branch", "sort = junk"),
            ("branch", "sort"),
            ("branch \"x\"", "merge"),
            ("branch \"x\"", "description"),
            ("branch \"x\"", "rebase = junk"),
            ("remote \"o\"", "fetch"),
            ("remote \"o\"", "fetch = ::junk::"),
            ("remote \"o\"", "fetch = refs/heads/*:refs/remotes/o/x"),
            ("remote \"o\"", "fetch = refs/heads/*"),
            ("remote \"o\"", "fetch = refs/heads/**:refs/heads/**"),
            ("remote \"o\"", "fetch = a b"),
            ("remote \"o\"", "push = "),
            ("remote \"o\"", "push = x..y"),
            ("remote \"o\"", "tagOpt"),
            ("remote \"o\"", "prune = junk"),
            ("submodule \"s\"", "active = junk"),
            ("submodule \"s\"", "ignore = junk"),
            ("submodule \"s\"", "fetchRecurseSubmodules = junk"),
        ] {
            assert!(!is_harmless(section, line), "{line}");
        }
    }
}
