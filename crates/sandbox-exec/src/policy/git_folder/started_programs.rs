//! The files that commands in git's settings name: the programs that git starts, and their arguments.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::looks::Looks;
use super::path_values::resolved;
use super::program_search::ProgramSearch;
use super::settings_text::Setting;
use super::shell_words::{Start, Token, Word, tokens};

/// Keys whose values git runs, in any section.
const COMMANDS: [&str; 33] = [
    "alternaterefscommand",
    "askpass",
    "authorsprog",
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
    "httpd",
    "packobjectshook",
    "pager",
    "path",
    "process",
    "program",
    "receivepack",
    "recentobjectshook",
    "sendmailcmd",
    "smtpserver",
    "smudge",
    "sshcommand",
    "textconv",
    "tocmd",
    "tunnel",
    "uploadpack",
    "virtualfilesystem",
];

/// Sections that only git itself reads, in which the command marker `!` means nothing.
const OF_GIT: [&str; 19] = [
    "branch",
    "color",
    "commit",
    "core",
    "diff",
    "fetch",
    "gc",
    "index",
    "init",
    "log",
    "maintenance",
    "merge",
    "pull",
    "push",
    "rebase",
    "remote",
    "rerere",
    "status",
    "user",
];

/// Variables whose values git runs.
pub(super) const VARIABLES: [&str; 12] = [
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "PAGER",
    "SSH_ASKPASS",
    "VISUAL",
];

/// Programs whose first argument is a program as well. A version may follow the name.
const STARTERS: [&str; 37] = [
    ".", "bash", "bun", "command", "dash", "deno", "doas", "env", "exec", "eval", "fish", "ionice", "java",
    "ksh", "lua", "nice", "node", "nohup", "npx", "perl", "php", "pypy", "python", "rscript", "ruby",
    "setsid", "sh", "source", "stdbuf", "sudo", "tclsh", "time", "timeout", "ts-node", "tsx", "xargs", "zsh",
];

/// Shell keywords that precede a command.
const KEYWORDS: [&str; 12] =
    ["!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done"];

/// The nesting depth of commands in words of commands, as in `sh -c`.
const DEPTH: usize = 4;

/// The most folders in which a command may be. Each `cd` to a relative path doubles their number, since it may fail.
const FOLDER_LIMIT: usize = 32;

/// The way in which a command names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NamedAs {
    /// The command starts it.
    Program,
    /// The command passes it to a program, which may run it, or take settings from it.
    Argument,
}

/// Checks whether the value of a setting is a command.
pub(super) fn is_command(setting: &Setting) -> bool {
    let is_shell = setting.value.trim_start().starts_with('!');
    match setting.section.as_str() {
        "include" | "includeif" | "safe" => false,
        "pager" => true,
        // Without the marker these are git commands, or update modes of a submodule.
        "alias" => is_shell,
        "submodule" => is_shell && setting.key == "update",
        // Programs that keep their settings among git's use the same marker. In git's own sections commands may change
        // settings, and a text with the marker is not a command.
        section => is_shell && !OF_GIT.contains(&section) || COMMANDS.contains(&setting.key.as_str()),
    }
}

/// The context of a command.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// The folder in which the command begins.
    pub root: &'a Path,
    pub home: &'a Path,
    /// The user's environment.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The search for programs by name.
    pub search: &'a ProgramSearch,
    /// The remaining budget of all commands together.
    pub looks: &'a Looks,
}

impl Surroundings<'_> {
    /// Returns the files that a command names, each with its role.
    ///
    /// A program is a path as the first word of a shell command, or after a program that runs it, such as `sh`; it may be
    /// missing, since it could be made. A name without a slash is looked up as the shell does. Of arguments, existing files
    /// count. Files beyond the limits are left out, which `looks` then records.
    pub(super) fn files(&self, command: &str) -> Vec<(PathBuf, NamedAs)> {
        let command = command.trim_start().trim_start_matches('!').trim();
        let mut files = Vec::new();
        // Some commands are not passed to the shell, and may contain whitespace.
        let whole = if command.contains('/') { self.path(command, self.root) } else { None };
        files.extend(whole.filter(|path| path.is_file()).map(|path| (path, NamedAs::Program)));
        self.take(command, true, DEPTH, &mut files);
        files
    }

    fn take(&self, command: &str, may_be_missing: bool, depth: usize, files: &mut Vec<(PathBuf, NamedAs)>) {
        if !self.looks.allow(command.len()) {
            return;
        }
        let mut reading = CommandReader {
            around: self,
            folders: vec![self.root.to_owned()],
            position: Position::First,
            may_be_missing,
            depth,
            files,
        };
        for token in tokens(command) {
            match token {
                Token::End => reading.position = Position::First,
                Token::Word(word) => reading.position = reading.word(&word),
            }
        }
    }

    /// Returns the file that the shell starts by a name.
    fn by_name(&self, name: &str) -> Option<PathBuf> {
        self.search.find(name, self.root, self.looks)
    }

    /// Returns the path that a value stands for in a folder, unless the budget is used up.
    fn path(&self, value: &str, folder: &Path) -> Option<PathBuf> {
        if self.looks.allow_path(value, folder) { resolved(value, folder, self.home) } else { None }
    }
}

/// The next part of a simple command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    First,
    /// After a program that starts its argument; `is_command` if that is a command text.
    AfterStarter {
        is_command: bool,
    },
    Arguments,
    /// After `cd`.
    Folder,
}

struct CommandReader<'a, 'b> {
    around: &'a Surroundings<'b>,
    /// The folders in which the command may be at this point.
    folders: Vec<PathBuf>,
    position: Position,
    may_be_missing: bool,
    depth: usize,
    files: &'a mut Vec<(PathBuf, NamedAs)>,
}

impl CommandReader<'_, '_> {
    /// Takes the next word; returns the position after it.
    fn word(&mut self, word: &Word) -> Position {
        let text = word.text.as_str();
        let is_plain = word.start == Start::Plain;
        if is_plain && KEYWORDS.contains(&text) && self.position == Position::First {
            return Position::First;
        }
        if self.position == Position::Folder {
            self.enter(word);
            return Position::Arguments;
        }
        if is_plain && text.starts_with('-') {
            self.value_of_option(text);
            return match self.position {
                Position::AfterStarter { .. } => {
                    let is_command = !text.starts_with("--") && text.ends_with('c');
                    Position::AfterStarter { is_command }
                }
                position => position,
            };
        }
        // Assignments before a command.
        if is_plain && self.position != Position::Arguments && is_assignment(text) {
            self.value_of_option(text);
            return self.position;
        }
        match self.position {
            Position::First => self.program(word),
            Position::AfterStarter { is_command } => self.after_starter(word, is_command),
            position => {
                self.argument(word);
                position
            }
        }
    }

    /// Adds the folders to which `cd` may lead.
    fn enter(&mut self, word: &Word) {
        for folder in self.paths(word) {
            if self.folders.contains(&folder) {
                continue;
            }
            if self.folders.len() >= FOLDER_LIMIT {
                self.around.looks.leave_out();
                return;
            }
            self.folders.push(folder);
        }
    }

    fn program(&mut self, word: &Word) -> Position {
        let text = word.text.as_str();
        if word.start != Start::Plain || text.contains('/') {
            let paths = self.paths(word);
            let are_there = paths.iter().any(|path| path.exists());
            let may_be_missing = self.may_be_missing && !are_there;
            // A folder is no program.
            let programs = paths.into_iter().filter(|path| path.is_file() || may_be_missing);
            self.files.extend(programs.map(|path| (path, NamedAs::Program)));
        } else {
            self.files.extend(self.around.by_name(text).map(|path| (path, NamedAs::Program)));
        }
        match text.rsplit('/').next().unwrap_or(text) {
            "cd" => Position::Folder,
            name if is_starter(name) => Position::AfterStarter { is_command: name == "eval" },
            _ => Position::Arguments,
        }
    }

    fn after_starter(&mut self, word: &Word, is_command: bool) -> Position {
        let text = word.text.as_str();
        if is_command || text.contains(char::is_whitespace) {
            self.inner(text, is_command);
        }
        let paths = self.paths(word);
        let files: Vec<PathBuf> = paths.iter().filter(|path| path.is_file()).cloned().collect();
        if !files.is_empty() {
            self.files.extend(files.into_iter().map(|path| (path, NamedAs::Program)));
            return Position::Arguments;
        }
        if paths.iter().any(|path| path.is_dir()) {
            // As Python runs a folder.
            self.files
                .extend(paths.into_iter().filter(|path| path.is_dir()).map(|path| (path, NamedAs::Argument)));
            return Position::Arguments;
        }
        if word.start == Start::Plain && !text.contains('/') {
            self.files.extend(self.around.by_name(text).map(|path| (path, NamedAs::Program)));
            if is_starter(text) {
                return Position::AfterStarter { is_command: false };
            }
        }
        // It may be the value of an option, or a file that does not exist yet.
        if !is_command && text.contains(['/', '.']) && self.may_be_missing {
            self.files.extend(paths.into_iter().map(|path| (path, NamedAs::Argument)));
        }
        Position::AfterStarter { is_command: false }
    }

    fn argument(&mut self, word: &Word) {
        if word.text.contains(char::is_whitespace) {
            self.inner(&word.text, false);
        }
        let files = self.paths(word).into_iter().filter(|path| path.is_file());
        self.files.extend(files.map(|path| (path, NamedAs::Argument)));
    }

    /// Takes the value in `--option=value` or `NAME=value`.
    fn value_of_option(&mut self, text: &str) {
        if let Some(Token::Word(word)) =
            text.split_once('=').and_then(|(_, value)| tokens(value).into_iter().next())
        {
            self.argument(&word);
        }
    }

    /// Takes a command that is a word of another command.
    fn inner(&mut self, command: &str, may_be_missing: bool) {
        let Some(depth) = self.depth.checked_sub(1) else { return self.around.looks.leave_out() };
        for root in self.folders.clone() {
            let around = Surroundings { root: &root, ..*self.around };
            around.take(command, may_be_missing && self.may_be_missing, depth, self.files);
        }
    }

    /// Returns the paths that a word may stand for.
    fn paths(&self, word: &Word) -> Vec<PathBuf> {
        let (home, looks, text) = (self.around.home, self.around.looks, word.text.as_str());
        if word.start != Start::Plain && !looks.allow_path(text, self.around.root) {
            return Vec::new();
        }
        let relative = text.strip_prefix('/').map(|rest| rest.trim_start_matches('/'));
        match (&word.start, relative) {
            (Start::Plain, _) if text.is_empty() => Vec::new(),
            (Start::Plain, _) => {
                self.folders.iter().filter_map(|folder| self.around.path(text, folder)).collect()
            }
            (Start::Home, Some(rest)) => vec![home.join(rest)],
            // Such as the output of `git rev-parse --show-toplevel`.
            (Start::Output, Some(rest)) => vec![self.around.root.join(rest)],
            (Start::Variable(name), rest) => {
                let value = (self.around.variable)(name).filter(|value| !value.is_empty());
                let value = value.filter(|value| looks.allow(value.len()));
                let set = value.map(|value| self.around.root.join(joined(&value, text)));
                set.into_iter().chain(rest.map(|rest| self.around.root.join(rest))).collect()
            }
            (Start::Home | Start::Output, None) => Vec::new(),
        }
    }
}

fn joined(value: &OsStr, text: &str) -> PathBuf {
    let mut whole = value.to_owned();
    whole.push(text);
    whole.into()
}

fn is_assignment(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn is_starter(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let plain = name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    STARTERS.contains(&name.as_str()) || STARTERS.contains(&plain)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn files_in(root: &Path, command: &str) -> Vec<(String, NamedAs)> {
        let variable = |name: &str| match name {
            "PATH" => Some(root.join("bin").into_os_string()),
            "TOOLS" => Some(root.join("tools").into_os_string()),
            _ => None,
        };
        let looks = Looks::new();
        let search = ProgramSearch::new(variable("PATH"));
        let home = Path::new("/home");
        let around = Surroundings { root, home, variable: &variable, search: &search, looks: &looks };
        let mut files = around.files(command);
        files.sort();
        files.dedup();
        let inside = |path: PathBuf| {
            // Paths compare equal with and without a dot in the middle.
            let inside = path.strip_prefix(root).map_or(path.clone(), |inside| inside.components().collect());
            inside.to_str().unwrap().to_owned()
        };
        files.into_iter().map(|(path, named_as)| (inside(path), named_as)).collect()
    }

    #[test]
    fn what_a_command_starts_differs_from_what_it_gives_to_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for folder in ["tools/package", "bin"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["tools/run", "merge.sh", "data.txt", "bin/by-name", "tools/with blank"] {
            fs::write(root.join(file), "").unwrap();
        }
        use NamedAs::{Argument, Program};
        let rows: &[(&str, &[(&str, NamedAs)])] = &[
            ("tools/run %f data.txt", &[("data.txt", Argument), ("tools/run", Program)]),
            ("!./tools/run", &[("tools/run", Program)]),
            ("!cd tools && ./run", &[("tools/run", Program)]),
            ("!cd x && ./new", &[("new", Program), ("x/new", Program)]),
            ("sh merge.sh %O %A", &[("merge.sh", Program)]),
            ("sh new.sh", &[("new.sh", Argument)]),
            ("python3.12 -X dev tools/run", &[("tools/run", Program)]),
            ("node --require ./tools/run merge.sh", &[("merge.sh", Argument), ("tools/run", Program)]),
            ("python3 tools/package", &[("tools/package", Argument)]),
            ("timeout 5 nice -n 3 tools/run", &[("tools/run", Program)]),
            ("awk -f merge.sh --x=data.txt", &[("data.txt", Argument), ("merge.sh", Argument)]),
            ("merge.sh", &[]),
            ("by-name", &[("bin/by-name", Program)]),
            ("env A=1 sh -e tools/run", &[("tools/run", Program)]),
            ("A=./data.txt sh -e tools/run", &[("data.txt", Argument), ("tools/run", Program)]),
            ("sh -c 'tools/run; cat data.txt'", &[("data.txt", Argument), ("tools/run", Program)]),
            ("bash -ec './new'", &[("new", Program)]),
            ("!f() { ./tools/run \"$@\"; }; f", &[("tools/run", Program)]),
            ("!if true; then ./tools/run; fi", &[("tools/run", Program)]),
            ("\"$(git rev-parse --show-toplevel)\"/tools/run x", &[("tools/run", Program)]),
            ("\"$(git rev-parse --show-toplevel)/tools/run\" x", &[("tools/run", Program)]),
            ("$GIT_WORK_TREE/tools/run", &[("tools/run", Program)]),
            ("$TOOLS/run", &[("tools/run", Program)]),
            ("tools/with blank", &[("tools/with", Program), ("tools/with blank", Program)]),
            ("'tools/with blank' x", &[("tools/with blank", Program)]),
            ("cat data.txt", &[("data.txt", Argument)]),
            ("git-lfs clean -- %f", &[]),
            ("sed 's/a b/c d/'", &[]),
            ("less -R", &[]),
            ("true", &[]),
            ("tools", &[]),
        ];
        for (command, expected) in rows {
            let expected: Vec<_> =
                expected.iter().map(|(path, named_as)| ((*path).to_owned(), *named_as)).collect();
            assert_eq!(files_in(root, command), expected, "{command}");
        }
        for command in ["~/x", "$HOME/x", "\"${HOME}/x\"", "\"$HOME\"/x"] {
            assert_eq!(files_in(root, command), [("/home/x".to_owned(), Program)], "{command}");
        }
    }
    #[test]
    fn a_relative_folder_of_programs_is_relative_to_where_the_command_begins() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("own")).unwrap();
        fs::write(root.join("own/in-own"), "").unwrap();
        fs::write(root.join("in-root"), "").unwrap();
        let programs = |path: &str| {
            let (looks, search) = (Looks::new(), ProgramSearch::new(Some(path.into())));
            let home = Path::new("/home");
            let around = Surroundings { root, home, variable: &|_| None, search: &search, looks: &looks };
            [around.files("in-own"), around.files("in-root")].concat()
        };
        let program = |name: &str| (root.join(name), NamedAs::Program);
        assert_eq!(programs("/nonexistent:own"), [program("own/in-own")]);
        assert_eq!(programs("/nonexistent:"), [program("in-root")], "an empty one is that folder itself");
        assert_eq!(programs("/nonexistent"), [], "the control");
    }
}
