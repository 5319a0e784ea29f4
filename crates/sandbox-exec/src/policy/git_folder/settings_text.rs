//! A parser of git's settings files.

use std::iter::Peekable;
use std::str::Chars;

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// In lower case.
    pub section: String,
    pub has_subsection: bool,
    /// In lower case.
    pub key: String,
    pub value: String,
}

impl Setting {
    /// Splits a full name, as in a variable. The subsection may hold dots.
    pub(super) fn named(name: &str, value: &str) -> Option<Setting> {
        let (section, rest) = name.split_once('.')?;
        let key = rest.rsplit('.').next()?;
        Some(Setting {
            section: section.to_ascii_lowercase(),
            has_subsection: key.len() < rest.len(),
            key: key.to_ascii_lowercase(),
            value: value.to_owned(),
        })
    }

    /// Returns the name for a message, without the subsection, which may hold a path.
    pub(super) fn name(&self) -> String {
        let key = match self.key.as_str() {
            "hookspath" => "hooksPath",
            "sshcommand" => "sshCommand",
            "attributesfile" => "attributesFile",
            "templatedir" => "templateDir",
            key => key,
        };
        let section = if self.section == "includeif" { "includeIf" } else { &self.section };
        if self.has_subsection { format!("{section}.*.{key}") } else { format!("{section}.{key}") }
    }
}

/// Iterates over the settings of a text that have a value. Text that git would refuse is skipped, so that the rest is
/// still found.
pub(super) fn settings(text: &str) -> impl Iterator<Item = Setting> {
    let mut characters = text.chars().peekable();
    let (mut section, mut has_subsection) = (String::new(), false);
    // Not collected, since a file may be long and few of its settings matter.
    std::iter::from_fn(move || {
        while let Some(first) = characters.next() {
            match first {
                '#' | ';' => skip_line(&mut characters),
                '[' => (section, has_subsection) = heading(&mut characters),
                _ if first.is_ascii_alphabetic() => {
                    let mut key = String::from(first.to_ascii_lowercase());
                    while let Some(next) =
                        characters.next_if(|next| next.is_ascii_alphanumeric() || *next == '-')
                    {
                        key.push(next.to_ascii_lowercase());
                    }
                    while characters.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
                    if characters.next_if_eq(&'=').is_some() {
                        let value = value(&mut characters);
                        return Some(Setting { section: section.clone(), has_subsection, key, value });
                    }
                }
                _ => {}
            }
        }
        None
    })
}

fn skip_line(characters: &mut Peekable<Chars<'_>>) {
    characters.by_ref().find(|character| *character == '\n');
}

/// Checks for git's whitespace; other whitespace belongs to a value.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

/// Reads the rest of a heading: the section in lower case, and whether there is a subsection.
fn heading(characters: &mut Peekable<Chars<'_>>) -> (String, bool) {
    let (mut section, mut has_subsection, mut is_quoted) = (String::new(), false, false);
    while let Some(next) = characters.next() {
        match next {
            '"' => {
                is_quoted = !is_quoted;
                has_subsection = true;
            }
            '\\' if is_quoted => drop(characters.next()),
            '\n' => break,
            ']' if !is_quoted => break,
            // The old form, `[section.sub]`.
            '.' if !is_quoted => has_subsection = true,
            _ if !has_subsection && !is_space(next) => section.push(next.to_ascii_lowercase()),
            _ => {}
        }
    }
    (section, has_subsection)
}

/// Reads a value up to the end of its line, which a backslash continues: without quote marks, which may enclose any part
/// of it, without whitespace around it, and without a trailing comment.
fn value(characters: &mut Peekable<Chars<'_>>) -> String {
    let (mut value, mut is_quoted) = (String::new(), false);
    // The length of the value without unquoted trailing whitespace.
    let mut length = 0;
    while let Some(next) = characters.next() {
        match next {
            '\n' => break,
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => {
                skip_line(characters);
                break;
            }
            '\\' => match characters.next() {
                Some('\n') => continue,
                Some('\r') if characters.next_if_eq(&'\n').is_some() => continue,
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('b') => value.push('\u{8}'),
                Some(other) => value.push(other),
                None => break,
            },
            space if is_space(space) && !is_quoted && value.is_empty() => continue,
            other => value.push(other),
        }
        if is_quoted || !is_space(next) {
            length = value.len();
        }
    }
    value.truncate(length);
    value
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    /// Returns the settings with a value that git itself reads in a text; `None` if it refuses the text.
    fn read_by_git(text: &str) -> Option<Vec<(String, String)>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut git = Command::new("git");
        git.args(["config", "--list", "--null", "--no-includes", "--file"]).arg(file.path()).env_clear();
        git.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let output = git.output().unwrap();
        let list = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        let pair = |entry: &str| {
            let (name, value) = entry.split_once('\n')?;
            let setting = Setting::named(name, value)?;
            Some((setting.name(), setting.value))
        };
        Some(list.split('\0').filter_map(pair).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

        #[test]
        fn git_reads_the_same_settings(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "[core]", "[Core \"a]b\"]", "[core.sub]", "[include]", "[includeIf \"gitdir:a=\\\"b\"]", "\n", "\r\n",
                    " ", "\t", "hooksPath", "path", "X-y", "=", "a/b", "~/c", "\"", "\\\"", "\\\\", "\\\n", "\\\r\n", "\\t", "#",
                    ";", "\u{feff}", "\r", "é", "hooksPath = a\n", "path=\"x;y\" # z\n", "[core]\n", "\u{b}", "\u{a0}", "\u{c}",
                ]),
                0..24,
            )
        ) {
            let text = parts.concat();
            if let Some(expected) = read_by_git(&text) {
                // Settings before the first heading mean nothing.
                let read = settings(&text).filter(|setting| !setting.section.is_empty()).map(|setting| (setting.name(), setting.value));
                prop_assert_eq!(read.collect::<Vec<_>>(), expected, "{:?}", text);
            }
        }
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "# [core] hooksPath = no \\\n[core] hooksPath = a\\\nb ; a remark\n\tbare\n\
                    [includeIf \"gitdir:a]\\\"b=\"]\npath = \"c #d\" # more\n[alias]\n  X = !./x \"a b\"\\n\r\n\
                    [filter.old]\nclean = \\\"c\\\"\n[Core]\nEditor=\n";
        let pairs: Vec<_> = settings(text).map(|setting| (setting.name(), setting.value)).collect();
        let expected = [
            ("core.hooksPath", "ab"),
            ("includeIf.*.path", "c #d"),
            ("alias.x", "!./x a b\n"),
            ("filter.*.clean", "\"c\""),
            ("core.editor", ""),
        ];
        assert_eq!(pairs, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let named = Setting::named("includeIf.gitdir:~/a.b/.PATH", "x").unwrap();
        assert_eq!(named.name(), "includeIf.*.path");
        assert_eq!(Setting::named("nothing", "x"), None);
    }
}
