//! No agent changes which repository and settings the user's git obeys in its worktree.

use std::fs;
use std::path::{Path, PathBuf};

use cocode_env::AgentState;
use cocode_runner::AgentDefinition;
use sandbox_exec::Level;

use crate::fixture::{Fixture, MARKED, agent};

/// Makes a repository at `$E` whose settings start a program that makes `trap`.
fn evil(fixture: &Fixture) -> String {
    let trap = fixture.root.join("trap");
    format!(
        "W=$(git rev-parse --absolute-git-dir); E=$PWD/evil; mkdir $E; cp -r {0}/HEAD {0}/objects {0}/refs $E; \
         printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = %s\\n\\tfsmonitor = touch {1}; false\\n' \
         $PWD > $E/config",
        fixture.repository().join(".git").display(),
        trap.display()
    )
}

/// A file that an agent leaves, the way in which it does, and whether git obeys it by itself.
const CHANGES: [(&str, &str, bool); 6] = [
    (".git", "echo gitdir: $E > .git", true),
    (".git", "rm .git; ln -s $E .git", true),
    (".git", "rm .git; mkdir .git; mv $E/* .git", true),
    ("commondir", "echo $E > $W/commondir", true),
    ("gitdir", "echo $E/.git > $W/gitdir", false),
    ("config.worktree", "cp $E/config $W/config.worktree", false),
];

#[test]
fn files_that_lead_git_elsewhere_are_made_again() {
    for level in [Level::Full, Level::Landlock, Level::Process] {
        for (name, change, is_obeyed) in CHANGES {
            let fixture = Fixture::at_level(level);
            let trap = fixture.root.join("trap");
            let evil = evil(&fixture);
            let record = fixture.run(&format!("{MARKED}; {evil}; {change}; rm -f {}; true", trap.display()));
            let case = format!("{level} {change}: {record:?}");
            assert_eq!(record.exit_code, Some(0), "{case}");
            // With a file tree of its own it could not change them.
            let warned = record.warnings.iter().any(|warning| warning.contains("made again"));
            assert_eq!(warned, level != Level::Full, "{case}");
            assert_eq!(record.state, AgentState::Ready, "{case}");
            let _ = fs::remove_file(&trap);
            fixture.git_in(&record.worktree, &["status", "--porcelain"]);
            assert!(!trap.exists(), "{case}");
            let branch = fixture.git_in(&record.worktree, &["symbolic-ref", "HEAD"]);
            assert_eq!(branch, "refs/heads/cocode/7-a", "{case}");
            assert!(fixture.git(&["worktree", "list"]).contains(record.worktree.to_str().unwrap()), "{case}");
            let git_folder = record.git_folder.clone().unwrap();
            assert_eq!(fs::read_to_string(git_folder.join("config.worktree")).unwrap(), "", "{case}");
            if is_obeyed && level != Level::Full && !change.contains("mkdir") {
                // The control: the same by the user's hand is obeyed.
                let evil = record.worktree.join("evil");
                fs::rename(evil.join("HEAD.agentd-refused"), evil.join("HEAD")).unwrap();
                let path = if name == ".git" { record.worktree.join(name) } else { git_folder.join(name) };
                let text = record.worktree.join("evil").display().to_string();
                let text = if name == ".git" { format!("gitdir: {text}\n") } else { format!("{text}\n") };
                fs::write(path, text).unwrap();
                let mut git = std::process::Command::new("git");
                git.arg("status").current_dir(&record.worktree).output().unwrap();
                assert!(trap.exists(), "the control: {case}");
            }
        }
    }
}

#[test]
fn what_a_check_changes_is_made_again_too() {
    let fixture = Fixture::shared();
    let check = Some("echo gitdir: $PWD/evil > .git".to_owned());
    let record = fixture.run_agent(AgentDefinition { check, ..agent("a", MARKED) });
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    let expected = format!("gitdir: {}\n", record.git_folder.as_ref().unwrap().display());
    assert_eq!(fs::read_to_string(record.worktree.join(".git")).unwrap(), expected, "{record:?}");
}

#[test]
fn no_second_name_of_these_files_is_left() {
    // Git writes the message of a commit in place.
    let fixture = Fixture::shared();
    let link =
        "W=$(git rev-parse --absolute-git-dir); rm -f $W/COMMIT_EDITMSG; ln $W/commondir $W/COMMIT_EDITMSG";
    let record = fixture.run(&format!("{MARKED}; {link}"));
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    let commondir = record.git_folder.clone().unwrap().join("commondir");
    fixture.git_in(&record.worktree, &["commit", "-q", "--allow-empty", "-m", "elsewhere"]);
    assert_eq!(fs::read_to_string(&commondir).unwrap(), "../..\n", "{record:?}");
    // The control.
    let message = record.git_folder.unwrap().join("COMMIT_EDITMSG");
    fs::remove_file(&message).unwrap();
    fs::hard_link(&commondir, &message).unwrap();
    let mut git = std::process::Command::new("git");
    git.env("HOME", fixture.root.join("home"))
        .args(["commit", "-q", "--allow-empty", "-m", "elsewhere"])
        .current_dir(&record.worktree)
        .output()
        .unwrap();
    assert_eq!(fs::read_to_string(commondir).unwrap(), "elsewhere\n");
}

#[test]
fn relative_names_of_git_stay() {
    // Git writes them so if `worktree.useRelativePaths` is set, in later versions.
    let fixture = Fixture::shared();
    let relative = |from: &Path, to: &Path| {
        let ups = from.strip_prefix(&fixture.root).unwrap().components().map(|_| "..");
        let down = to.strip_prefix(&fixture.root).unwrap();
        ups.collect::<PathBuf>().join(down).display().to_string()
    };
    let record = fixture.run(MARKED);
    let git_folder = record.git_folder.clone().unwrap();
    let link = record.worktree.join(".git");
    let texts = [
        (link.clone(), format!("gitdir: {}\n", relative(&record.worktree, &git_folder))),
        (git_folder.join("gitdir"), format!("{}\n", relative(&git_folder, &link))),
    ];
    let script: String =
        texts.iter().map(|(path, text)| format!("printf '{text}' > {}; ", path.display())).collect();
    assert!(fixture.runner().clean_by_force(&record, false).unwrap().removed);
    let record = fixture.run(&format!("{MARKED}; {script}"));
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    assert!(!record.warnings.iter().any(|warning| warning.contains("made again")), "{record:?}");
    for (path, text) in texts {
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
}

#[test]
fn settings_that_a_check_leaves_start_no_program_when_its_files_are_listed() {
    for level in [Level::Landlock, Level::Process] {
        let fixture = Fixture::at_level(level);
        fixture.git(&["config", "extensions.worktreeConfig", "true"]);
        let trap = fixture.root.join("trap");
        let settings = format!("[filter \"evil\"]\\n\\tclean = touch {}; cat\\n", trap.display());
        let plant = "G=$(git rev-parse --absolute-git-dir); mv $G/config.worktree $G/old; \
                     printf \"$SETTINGS\" > $G/new; mv $G/new $G/config.worktree";
        let check = Some(format!("SETTINGS='{settings}'; {plant}; echo left > left.txt; touch a.txt"));
        let script = format!("echo '*.txt filter=evil' > .gitattributes; git add .; {MARKED}");
        let record = fixture.run_agent(AgentDefinition { check, ..agent("a", &script) });
        assert_eq!(record.state, AgentState::Ready, "{level} {record:?}");
        assert!(!trap.exists(), "{level} {record:?}");
        assert!(record.warnings.iter().any(|warning| warning.contains("made again")), "{level} {record:?}");
        // What it has left is recorded all the same.
        assert_eq!(record.left_by_check.len(), 1, "{level} {record:?}");
        // The control: git obeys these settings.
        let folder = record.git_folder.clone().unwrap();
        fs::write(folder.join("config.worktree"), settings.replace("\\n", "\n").replace("\\t", "\t"))
            .unwrap();
        fixture.git_in(&record.worktree, &["add", "left.txt"]);
        assert!(trap.exists(), "the control: {level}");
    }
}
