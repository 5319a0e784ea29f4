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
}

use Values::{Boolean, Number};

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
];

/// Returns whether git accepts the value of a setting. Of settings that are not listed it accepts any, or it depends.
pub(super) fn is_sound(setting: &Setting) -> bool {
    let is_it = |(section, keys, _): &&(&str, &[&str], Values)| {
        !setting.is_named && setting.section == *section && keys.contains(&setting.key.as_str())
    };
    let Some((_, _, values)) = VALUES.iter().find(is_it) else { return true };
    let value = setting.value.as_deref().map(|value| unquoted(value).to_ascii_lowercase());
    let number = value.as_deref().and_then(|value| value.parse::<i32>().ok());
    match (values, value.as_deref()) {
        // Without a value it is a yes.
        (Boolean(_), None) => true,
        (Boolean(words), Some(value)) => {
            matches!(value, "" | "yes" | "on" | "true" | "no" | "off" | "false")
                || number.is_some()
                || words.contains(&value)
        }
        (Number(..), None) => false,
        (Number(least, most, words), Some(value)) => {
            words.contains(&value) || number.is_some_and(|number| (*least..=*most).contains(&number.into()))
        }
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
        ] {
            assert!(!is_harmless(section, line), "{line}");
        }
    }
}
