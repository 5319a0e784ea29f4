//! The commands that `docs/loops.md` names for common programs.

use std::fs;
use std::path::Path;

use test_support::write_program;

use super::{DONE, EDIT, Script};
use crate::fixture::at_once::at_once;

const PAGE: &str = include_str!("../../../../../../docs/loops.md");

/// The programs of the page with the arguments with which each of them reads a prompt on standard input and prints nothing but
/// the answer on standard output.
const CONVENTIONS: [(&str, &[&str]); 6] = [
    ("ollama", &["run", "MODEL"]),
    ("llm", &["-m", "MODEL"]),
    ("claude", &["-p", "--tools", ""]),
    ("codex", &["exec", "--sandbox", "read-only", "-"]),
    ("gemini", &["-p", ""]),
    ("aichat", &["-m", "MODEL"]),
];

/// Returns the commands of the page's table.
fn recipes() -> Vec<&'static str> {
    let table = PAGE.split("| program | command |").nth(1).unwrap().split("\n\n").next().unwrap();
    let cells = table.lines().filter_map(|line| line.split(" | ").nth(1));
    cells.filter_map(|cell| cell.strip_prefix('`')?.split('`').next()).collect()
}

/// A program that takes these arguments and no others, as the one of that name does, says something on standard error, and
/// replies by the number of the message.
fn stand_in(arguments: &[&str], replies: &Path) -> String {
    let tests = arguments
        .iter()
        .enumerate()
        .map(|(index, argument)| format!("[ \"${}\" = '{argument}' ]", index + 1));
    let tests = tests.collect::<Vec<_>>().join(" && ");
    format!(
        "#!/bin/sh\n\
         [ $# = {} ] && {tests} || {{ echo \"usage: not $*\" >&2; exit 2; }}\n\
         cd '{}' || exit 1\n\
         cat > prompt\n\
         echo 'thinking...' >&2\n\
         number=$(sed -n 's/^Sequence: //p' prompt | head -n 1)\n\
         cat $number\n",
        arguments.len(),
        replies.display()
    )
}

#[test]
fn every_recipe_of_the_page_drives_a_session() {
    let recipes = recipes();
    let programs: Vec<&str> = recipes.iter().map(|recipe| recipe.split(' ').next().unwrap()).collect();
    assert_eq!(programs, CONVENTIONS.map(|(name, _)| name));
    let cases: Vec<_> = recipes.into_iter().zip(CONVENTIONS).collect();
    at_once(&cases, |(recipe, (name, arguments))| {
        let script = Script::new(&[EDIT, DONE]);
        let project = &script.project;
        let programs = project.folder().join("bin");
        fs::create_dir(&programs).unwrap();
        write_program(&programs.join(name), &stand_in(arguments, &script.folder()));
        let run = |recipe: &str| {
            let mut command = project.command(&["new", "fix it", "--model", recipe]);
            let path = std::env::var("PATH").unwrap();
            command.env("PATH", format!("{}:{path}", programs.display()));
            crate::fixture::project::Ran::of(command.output().unwrap())
        };
        let ran =
            run(recipe).ok().says("all is well").says("thinking...").says("2 rounds, 1 edit, 1 command");
        assert_eq!(project.read("a.txt"), "one\n");
        let id = ran.stderr.split("session ").nth(1).unwrap()[..8].to_owned();
        assert_eq!(fs::read_to_string(script.folder().join("prompt")).unwrap(), project.outbox(&id, 2));
        // The control: with another option, such a program only explains its use.
        run(&format!("{recipe} --what")).exits(1).says("usage: not");
    });
}
