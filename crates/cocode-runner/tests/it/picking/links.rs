//! Work with symlinks: in place of what other programs obey, on the way to it, and out of the repository.

use std::process::Command;

use cocode_runner::RunnerError;

use super::obeyed::{COMMIT, paths};
use super::work;
use crate::fixture::Fixture;

/// The answer of `pick` for the work of a script: the paths that it refuses, or those that it names.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Refused(Vec<String>),
    Named(Vec<String>),
}

fn refused(paths: &[&str]) -> Said {
    Said::Refused(paths.iter().map(|path| (*path).to_owned()).collect())
}

fn named(paths: &[&str]) -> Said {
    Said::Named(paths.iter().map(|path| (*path).to_owned()).collect())
}

/// Picks the work of a script, in a repository in which the user has run the script `start`. `ROOT` stands for the folder of the
/// fixture.
fn pick(start: &str, script: &str) -> Said {
    let fixture = Fixture::new();
    let script = script.replace("ROOT", fixture.root.to_str().unwrap());
    let mut user = Command::new("sh");
    assert!(user.args(["-ec", start]).current_dir(fixture.repository()).status().unwrap().success());
    fixture.git(&["add", "-Af", "."]);
    fixture.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    let (runner, record) = work(&fixture, &format!("{script}; {COMMIT}"));
    let owned = |files| paths(files).into_iter().map(str::to_owned).collect();
    match runner.pick(&record, true) {
        Err(RunnerError::Obeyed { files, .. }) => Said::Refused(owned(&files)),
        picked => Said::Named(owned(&picked.unwrap().to_review)),
    }
}

#[test]
fn no_link_puts_another_folder_in_place_of_what_programs_obey() {
    let cases = [
        // The first cases are the controls.
        ("ln -s data elsewhere", named(&[])),
        ("ln -s a.txt CLAUDE.md", named(&["CLAUDE.md"])),
        ("ln -s data .vscode", refused(&[".vscode"])),
        ("ln -s data .claude", refused(&[".claude"])),
        ("mkdir pkg; ln -s ../data pkg/.VSCode", refused(&["pkg/.VSCode"])),
        ("ln -s data/tasks.json .mcp.json", refused(&[".mcp.json"])),
        ("ln -s data .vscode; echo y > data/tasks.json", refused(&[".vscode", "data/tasks.json"])),
    ];
    for (script, expected) in cases {
        assert_eq!(pick("mkdir data; echo x > data/tasks.json", script), expected, "{script}");
    }
}

#[test]
fn files_that_links_of_the_user_lead_to_are_judged_by_the_names_of_the_links() {
    let folder = "mkdir editor data; echo x | tee editor/settings.json data/settings.json editor/more";
    let steps = "mkdir two three; echo x | tee two/settings.json three/settings.json; ln -s two one; ln -s one .vscode";
    let inner =
        "mkdir editor shared; echo x > shared/t; ln -s ../shared/t editor/tasks.json; ln -s ./editor .vscode";
    let around = "mkdir editor; echo x > editor/settings.json; ln -s ../repository/editor .vscode";
    let cases = [
        // The controls: without a link, with a link of another name, and next to the link's target.
        (folder.to_owned(), "echo y > editor/settings.json", named(&[])),
        (format!("{folder}; ln -s editor other"), "echo y > editor/settings.json", named(&[])),
        (format!("{folder}; ln -s editor .vscode"), "echo y > data/settings.json", named(&[])),
        (
            format!("{folder}; ln -s editor .vscode"),
            "echo y > editor/settings.json",
            refused(&["editor/settings.json"]),
        ),
        (
            format!("{folder}; ln -s editor .vscode"),
            "rm editor/settings.json",
            refused(&["editor/settings.json"]),
        ),
        (format!("{folder}; ln -s editor .vscode"), "echo y > editor/more", named(&["editor/more"])),
        (format!("{folder}; ln -s editor .vscode"), "rm -r editor; ln -s data editor", refused(&["editor"])),
        (format!("{folder}; ln -s editor/more .mcp.json"), "echo y > editor/more", refused(&["editor/more"])),
        // A link that leads back does not end the search, and does not keep it from its end.
        (
            format!("{folder}; ln -s . editor/self; ln -s editor .vscode"),
            "echo y > editor/settings.json",
            refused(&["editor/settings.json"]),
        ),
        (steps.to_owned(), "echo y > two/settings.json", refused(&["two/settings.json"])),
        (steps.to_owned(), "ln -sfn three one", refused(&["one"])),
        (steps.to_owned(), "echo y > three/settings.json", named(&[])),
        (inner.to_owned(), "echo y > shared/t", refused(&["shared/t"])),
        (around.to_owned(), "echo y > editor/settings.json", refused(&["editor/settings.json"])),
    ];
    for (start, script, expected) in cases {
        assert_eq!(pick(&start, script), expected, "{start}: {script}");
    }
}

#[test]
fn no_link_leads_into_git_or_agentd_and_those_that_leave_the_repository_are_named() {
    let cases = [
        // The controls: links within the repository, an absolute one as well.
        (
            "ln -s ../a.txt docs/a; ln -s ROOT/repository/a.txt b; ln -s docs/../a.txt c; ln -s nothing d",
            named(&[]),
        ),
        ("ln -s ../.git/worktrees/7-a/x docs/x", refused(&["docs/x"])),
        ("ln -s ROOT/repository/.git/worktrees/7-a/x x", refused(&["x"])),
        ("ln -s ROOT/home/../repository/.git x", refused(&["x"])),
        ("ln -s third/.GIT/hooks x", refused(&["x"])),
        ("ln -s docs docs2; ln -s docs2/../.git x", refused(&["x"])),
        ("ln -s .agentd/cocode x", refused(&["x"])),
        ("ln -s ROOT/state/records x", refused(&["x"])),
        ("ln -s ../worktrees x", refused(&["x"])),
        ("ln -s ../home/notes x; ln -s /etc/hosts y; ln -s ROOT z", named(&["x", "y", "z"])),
        ("ln -s .. up; ln -s up/repository/.git/x x", refused(&["x"])),
        ("ln -s two one; ln -s one two", named(&["one", "two"])),
    ];
    for (script, expected) in cases {
        assert_eq!(pick("mkdir docs; touch docs/x.md", script), expected, "{script}");
    }
}
