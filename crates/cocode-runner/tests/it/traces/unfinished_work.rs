//! Work that an agent leaves unfinished in its git folder runs nothing when the user continues it.

use std::fs;

use cocode_env::AgentState;
use sandbox_exec::Level;

use crate::fixture::{Fixture, MARKED};

/// Leaves a rebase of the agent's own branch that stopped at its first commit.
const REBASE: &str = "git commit -q --allow-empty -m two; echo 1 > a.txt; git commit -qam three; echo 2 > a.txt; git commit -qam four; \
                      GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~2 2>/dev/null";

/// A script of an agent, where `TRAP` is a file, the entry that has another name afterwards, and the user's command.
const CASES: [(&str, &str, &str); 5] = [
    (
        "REBASE; echo exec touch TRAP >> $W/rebase-merge/git-rebase-todo",
        "rebase-merge",
        "git rebase --continue",
    ),
    (
        "REBASE; git commit -q --amend -m other; echo resolve > $W/rebase-merge/strategy; \
         echo --index-output=TRAP > $W/rebase-merge/strategy_opts",
        "rebase-merge",
        "git rebase --continue",
    ),
    (
        "mkdir $W/sequencer; git rev-parse HEAD > $W/sequencer/head; git commit -q --allow-empty -m two; echo 1 > new; \
         git add new; git commit -qm new; git log -1 --format='pick %H%npick %H' > $W/sequencer/todo; \
         git reset -q --hard HEAD~1; \
         printf '[options]\\n\\tstrategy = resolve\\n\\tstrategy-option = index-output=TRAP\\n' > $W/sequencer/opts",
        "sequencer",
        "git cherry-pick --continue",
    ),
    (
        "N=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; mkdir -p $W/rr-cache; printf \"$N\\tTRAP\\0\" > $W/MERGE_RR",
        "MERGE_RR",
        "mkdir -p $(git rev-parse --git-common-dir)/rr-cache/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; \
         cd $(git rev-parse --git-common-dir)/rr-cache/*; touch preimage; echo secret > SECRET; cd - >/dev/null; \
         git commit -q --allow-empty -m x; mv $(git rev-parse --git-common-dir)/rr-cache/*/postimage TRAP",
    ),
    (
        "git init -q --bare $W/modules/sub; git config -f $W/modules/sub/config core.bare false; \
         git config -f $W/modules/sub/config core.fsmonitor 'touch TRAP; false'",
        "modules",
        "git submodule update --init; git status",
    ),
];

#[test]
fn nothing_that_an_agent_leaves_unfinished_runs_a_program() {
    for level in [Level::Full, Level::Landlock] {
        for (script, name, trigger) in CASES {
            let fixture = Fixture::at_level(level);
            if name == "modules" {
                fixture.git_in(&fixture.root, &["clone", "-q", "repository", "lib"]);
                let lib = fixture.root.join("lib").display().to_string();
                fixture.git(&[
                    "-c",
                    "protocol.file.allow=always",
                    "submodule",
                    "--quiet",
                    "add",
                    &lib,
                    "sub",
                ]);
                fixture.git(&["commit", "-q", "-m", "sub"]);
            }
            let trap = fixture.root.join("trap");
            let secret = fixture.root.join("secret");
            let fill = |text: &str| {
                let trap = if text.contains("MERGE_RR") { &secret } else { &trap };
                let text = text.replace("REBASE", REBASE).replace("TRAP", trap.to_str().unwrap());
                text.replace("SECRET", secret.to_str().unwrap())
            };
            let record =
                fixture.run(&format!("W=$(git rev-parse --absolute-git-dir); {MARKED}; {}", fill(script)));
            let case = format!("{level} {script}: {record:?}");
            assert_eq!(record.exit_code, Some(0), "{case}");
            let renamed = format!("'{name}' in its git folder was renamed to end in '.refused'");
            assert!(record.warnings.iter().any(|warning| warning.contains(&renamed)), "{case}");
            let continued = |control: &str| {
                let mut shell = std::process::Command::new("sh");
                shell.args(["-c", &fill(trigger)]).current_dir(&record.worktree);
                let printed = shell.env("HOME", fixture.root.join("home")).output().unwrap();
                (trap.exists(), format!("{control}{case}: {printed:?}"))
            };
            let (is_trapped, printed) = continued("");
            assert!(!is_trapped, "{printed}");
            // The control: under its own name git obeys it.
            let git_folder = record.git_folder.clone().unwrap();
            let _ = fs::remove_dir_all(git_folder.join(name));
            fs::rename(git_folder.join(format!("{name}.refused")), git_folder.join(name)).unwrap();
            let head = git_folder.join(name).join("sub/HEAD");
            let _ = fs::rename(head.with_file_name("HEAD.agentd-refused"), head);
            let (is_trapped, printed) = continued("the control: ");
            assert!(is_trapped, "{printed}");
        }
    }
}

#[test]
fn repositories_of_submodules_keep_their_worktree() {
    let fixture = Fixture::new();
    let record =
        fixture.run(&format!("{MARKED}; git init -q --bare $(git rev-parse --absolute-git-dir)/modules/sub"));
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    fixture.runner().pick(&record, false).unwrap();
    let reports = fixture.runner().clean(false, true).unwrap();
    assert!(!reports[0].removed, "{reports:?}");
    assert!(format!("{reports:?}").contains("modules.refused"), "{reports:?}");
}
