//! The values of harmless settings at which git does not fail.
//!
//! Git ends with an error in every command when a number or a choice in its settings is none that it knows.

use crate::git::settings::text::Setting;
use crate::git::settings::unquoted;

/// The values that git accepts.
enum Values {
    /// Yes or no, or one of these words.
    Boolean(&'static [&'static str]),
    /// A number in this range, or one of these words.
    Number(i64, i64, &'static [&'static str]),
    /// One of these words.
    Word(&'static [&'static str]),
}

use Values::{Boolean, Number, Word};

const MOST: i64 = i32::MAX as i64;

/// Settings of which not every value is accepted.
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
    ("core", &["abbrev"], Number(4, 64, &["auto", "no", "off", "false"])),
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

/// Returns whether git accepts the value of a setting. Of settings that are not listed it accepts any, or it depends.
pub(super) fn is_sound(setting: &Setting) -> bool {
    let is_it = |(section, keys, _): &&(&str, &[&str], Values)| {
        !setting.is_named && setting.section == *section && keys.contains(&setting.key.as_str())
    };
    let listed = VALUES.iter().find(is_it).map(|(_, _, values)| values);
    let is_boolean = BOOLEAN_SECTIONS.contains(&setting.section.as_str());
    let values = listed.or(is_boolean.then_some(&Boolean(&[])));
    let value = setting.value.as_deref().map(|value| unquoted(value).to_ascii_lowercase());
    let Some(value) = value else {
        // Without a value it is a yes.
        return matches!(values, None | Some(Boolean(_)));
    };
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
        ] {
            assert!(!is_harmless(section, line), "{line}");
        }
    }
}
