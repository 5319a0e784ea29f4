//! The programs that git starts, as commands in its settings name them.

use std::path::{Path, PathBuf};

use super::settings_text::Setting;

/// Keys whose values git runs, in any section.
const COMMANDS: [&str; 29] = [
    "alternaterefscommand",
    "askpass",
    "cccmd",
    "clean",
    "cmd",
    "command",
    "defaultkeycommand",
    "difffilter",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "headercmd",
    "helper",
    "packobjectshook",
    "pager",
    "path",
    "process",
    "program",
    "receivepack",
    "recentobjectshook",
    "sendmailcmd",
    "smudge",
    "sshcommand",
    "textconv",
    "tocmd",
    "tunnel",
    "uploadpack",
];

/// Programs whose first argument is a program as well.
const STARTERS: [&str; 17] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "env", "exec", "command", "nice", "time", "python",
    "python3", "node", "perl", "ruby", "php",
];

/// Checks whether the value of a setting is a command.
pub(super) fn is_command(setting: &Setting) -> bool {
    let is_shell = setting.value.trim_start().starts_with('!');
    match setting.section.as_str() {
        // Without the mark these are commands of git itself, and a way to update a submodule.
        "alias" | "submodule" => is_shell,
        "include" | "includeif" | "safe" => false,
        "pager" => true,
        _ => COMMANDS.contains(&setting.key.as_str()),
    }
}

/// Returns the files that a command starts, beginning in the folder `root`; a missing one too, unless it could be something else.
///
/// Only what is certain is returned: a path as the first word of a command of the shell, or behind a program that runs it, such as
/// `sh`. A name without a slash is one that is looked for elsewhere.
pub(super) fn programs(command: &str, root: &Path, home: &Path) -> Vec<PathBuf> {
    let mut programs = Vec::new();
    let mut is_behind_substitution = false;
    let is_end = |character: char| matches!(character, ';' | '&' | '|' | '(' | ')' | '{' | '}' | '`' | '\n');
    for part in command.trim_start().trim_start_matches('!').split_inclusive(is_end) {
        let simple = part.trim_end_matches(is_end);
        let mut is_argument = false;
        for word in simple.split_whitespace() {
            let word = word.trim_matches(['"', '\'']);
            // Options, and assignments in front of a command.
            if word.is_empty()
                || word.starts_with('-')
                || (word.contains('=') && !word.starts_with(['/', '.', '~']))
            {
                continue;
            }
            // `$(git rev-parse --show-toplevel)/x` and `$GIT_WORK_TREE/x`.
            let behind_variable = if is_behind_substitution {
                word.strip_prefix('/')
            } else if word.starts_with("$HOME/") {
                None
            } else {
                word.strip_prefix('$').and_then(|word| Some(word.split_once('/')?.1))
            };
            let path =
                match (behind_variable, word.strip_prefix("~/").or_else(|| word.strip_prefix("$HOME/"))) {
                    (Some(rest), _) => root.join(rest),
                    (None, Some(rest)) => home.join(rest),
                    (None, None) => root.join(word),
                };
            let is_missing = path.symlink_metadata().is_err();
            // A folder is no program; a name alone is a file here only as an argument.
            if path.is_file() && (is_argument || word.contains('/'))
                || is_missing && !is_argument && word.contains('/')
            {
                programs.push(path);
            }
            let name = word.rsplit('/').next().unwrap_or(word);
            if !STARTERS.contains(&name) {
                break;
            }
            is_argument = true;
        }
        is_behind_substitution = part.ends_with([')', '}', '`']);
    }
    programs
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_what_a_command_certainly_starts_is_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("tools")).unwrap();
        for file in ["tools/run", "merge.sh", "data.txt"] {
            fs::write(root.join(file), "").unwrap();
        }
        let rows: [(&str, &[&str]); 14] = [
            ("tools/run %f data.txt", &["tools/run"]),
            ("!./tools/run", &["tools/run"]),
            ("!cd x && ./new", &["new"]),
            ("sh merge.sh %O %A", &["merge.sh"]),
            ("merge.sh", &[]),
            ("env A=1 sh -e tools/run", &["tools/run"]),
            ("A=1 sh -e tools/run", &["tools/run"]),
            ("!f() { ./tools/run \"$@\"; }; f", &["tools/run"]),
            ("\"$(git rev-parse --show-toplevel)\"/tools/run x", &["tools/run"]),
            ("$GIT_WORK_TREE/tools/run", &["tools/run"]),
            ("git-lfs clean -- %f", &[]),
            ("less -R", &[]),
            ("true", &[]),
            ("tools", &[]),
        ];
        for (command, expected) in rows {
            let expected: Vec<_> = expected.iter().map(|path| root.join(path)).collect();
            // Paths are equal whether or not they have a dot in the middle.
            assert_eq!(programs(command, root, Path::new("/home")), expected, "{command}");
        }
        assert_eq!(programs("~/x", root, Path::new("/home")), [Path::new("/home/x")]);
        assert_eq!(programs("$HOME/x", root, Path::new("/home")), [Path::new("/home/x")]);
    }
}
