//! Completion scripts and manual pages.

use crate::fixture::project::Project;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let project = Project::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = project.run(&["completions", shell]).ok();
        ran.prints("sessions").prints("cocode").prints("read-only");
    }
    project.run(&["completions", "sh"]).exits(2).says("possible values");
    assert!(!project.base().exists(), "a state folder was made");
}

#[test]
fn bash_takes_the_script_and_completes_by_it() {
    let project = Project::new();
    let script = "source <(\"$0\" completions bash)
        COMP_WORDS=(agentd cocode st) COMP_CWORD=2
        _agentd agentd st cocode
        echo \"${COMPREPLY[@]}\"";
    let bash = std::process::Command::new("bash")
        .args(["-c", script])
        .arg(crate::fixture::project::program())
        .current_dir(project.workspace())
        .output();
    let Ok(output) = bash else {
        return test_support::skip("bash_takes_the_script_and_completes_by_it", "there is no bash");
    };
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "status\n");
}

#[test]
fn the_program_and_each_command_have_a_manual_page() {
    let project = Project::new();
    project.run(&["man"]).ok().prints(".TH agentd 1").prints("agentd\\-apply(1)");
    project.run(&["man", "apply"]).ok().prints(".TH agentd-apply 1").prints("copy\\-on\\-write layer");
    project.run(&["man", "cocode", "run"]).ok().prints(".TH agentd-cocode-run 1").prints("worktree");
    project.run(&["man", "cocode", "walk"]).exits(2).says("there is no command 'cocode walk'");
    assert!(!project.base().exists(), "a state folder was made");
}

#[test]
fn help_is_asked_for_by_a_command_or_by_an_option() {
    let project = Project::new();
    for (words, option) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "log"], &["log", "--help"]),
        (&["help", "cocode", "run"], &["cocode", "run", "--help"]),
    ] {
        let [by_command, by_option] = [words, option].map(|line| project.run(line).ok().stdout);
        assert!(by_option.contains("Usage: agentd"), "{by_option}");
        assert_eq!(by_command, by_option, "{words:?}");
    }
    project.run(&["help", "me", "with this"]).exits(2).says("there is no command 'help'");
    assert!(!project.base().exists(), "a state folder was made");
}

#[test]
fn the_options_of_a_command_stand_apart_from_those_of_every_command() {
    let project = Project::new();
    let help = project.run(&["apply", "--help"]).ok().stdout;
    let (own, common) = help.split_once("\nWorkspace and state:\n").expect("it has the heading");
    for (option, is_own) in
        [("--dry-run", true), ("--again", true), ("--base", false), ("--sandbox", false), ("--json", false)]
    {
        assert_eq!((own.contains(option), common.contains(option)), (is_own, !is_own), "{option}: {help}");
    }
    let headings: Vec<&str> = common.lines().filter(|line| line.ends_with(':')).collect();
    for heading in ["Output:", "Commands that are run:", "Protection:"] {
        assert!(headings.contains(&heading), "{heading}: {help}");
    }
}

#[test]
fn all_manual_pages_are_written_at_once() {
    let project = Project::new();
    let folder = project.folder().join("pages/man1");
    project.run(&["man", "--write", folder.to_str().unwrap()]).ok();
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(page("agentd-cocode-run.1"), project.run(&["man", "cocode", "run"]).ok().stdout);
    assert_eq!(page("agentd.1"), project.run(&["man"]).ok().stdout);
    assert!(!folder.join("agentd-carry-out.1").exists(), "a hidden command has a page");
    project.run(&["man", "apply", "--write", folder.to_str().unwrap()]).exits(2).says("cannot be used with");
    project.run(&["man", "--markdown"]).exits(2).says("--write");
}

#[test]
fn the_reference_in_the_book_is_that_of_this_program() {
    let project = Project::new();
    let folder = project.folder().join("reference");
    project.run(&["man", "--markdown", "--write", folder.to_str().unwrap()]).ok();
    let book = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let names = |folder: &std::path::Path| test_support::names_beneath(folder);
    assert_eq!(names(&book), names(&folder));
    for name in names(&folder) {
        let read = |folder: &std::path::Path| std::fs::read_to_string(folder.join(&name)).unwrap();
        assert!(read(&book) == read(&folder), "{name} is out of date: run `cargo xtask book --reference`");
    }
}
