//! References that an agent leaves in its git folder do not lead git out of the repository.

use std::fs;

use cocode_env::AgentState;
use sandbox_exec::Level;

use crate::fixture::{Fixture, MARKED};

#[test]
fn a_reference_of_an_agent_leads_git_to_no_file_outside_of_the_repository() {
    let commit = ["commit", "-q", "--allow-empty", "-m", "the user's own"];
    // The file, and the command of git that would follow it.
    let cases: [(&str, &[&str]); 4] = [
        ("ORIG_HEAD", &["reset", "-q", "--hard"]),
        ("HEAD", &commit),
        ("refs/worktree/x", &["update-ref", "refs/worktree/x", "HEAD"]),
        ("AUTO_MERGE", &["update-ref", "AUTO_MERGE", "HEAD"]),
    ];
    for level in [Level::Full, Level::Process] {
        for (file, command) in cases {
            let fixture = Fixture::at_level(level);
            let planted = fixture.root.join("planted");
            let plant = format!(
                "{MARKED}; W=$(git rev-parse --absolute-git-dir); mkdir -p $(dirname $W/{file}); \
                 echo ref: refs/../../../planted > $W/{file}"
            );
            let record = fixture.run(&plant);
            let case = format!("{file} ({level:?}): {record:?}");
            assert_eq!(record.exit_code, Some(0), "{case}");
            let expected = format!(
                "references into its git folder, through which git would write elsewhere; they were removed: {file}"
            );
            assert!(record.warnings.iter().any(|warning| warning.contains(&expected)), "{case}");
            // It is on its branch, and its work counts.
            assert_eq!(record.state, AgentState::Ready, "{case}");
            let head = ["symbolic-ref", "HEAD"];
            assert_eq!(fixture.git_in(&record.worktree, &head), "refs/heads/cocode/7-a", "{case}");
            let _ = fixture.git_in(&record.worktree, command);
            assert!(!planted.exists(), "{case}");
            // The control: with the same reference the same command writes there.
            let path = record.git_folder.clone().unwrap().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "ref: refs/../../../planted\n").unwrap();
            let mut git = std::process::Command::new("git");
            git.args(command).current_dir(&record.worktree).env("HOME", fixture.root.join("home"));
            let printed = git.output().unwrap();
            assert!(planted.exists(), "the control: {printed:?}: {case}");
        }
    }
}

#[test]
fn what_an_agent_leaves_in_shared_folders_leads_git_nowhere() {
    // Without views of their own, agents write into the folders of branches and objects.
    let fixture = Fixture::shared();
    let planted = fixture.root.join("planted");
    let head = fixture.repository().join(".git/refs/heads/cocode/evil");
    let list = fixture.repository().join(".git/objects/pack/multi-pack-index");
    let script = format!(
        "{MARKED}; G=$(git rev-parse --path-format=absolute --git-common-dir); \
         echo ref: refs/heads/../../../../planted > $G/refs/heads/cocode/evil; \
         printf 'MIDX\\1\\1\\0\\0\\0\\0\\0\\1../../../other.idx\\0' > $G/objects/pack/multi-pack-index; \
         git update-ref refs/heads/cocode/plain HEAD",
    );
    let record = fixture.run(&script);
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    let expected =
        "led git elsewhere, and were removed: refs/heads/cocode/evil, objects/pack/multi-pack-index";
    assert!(record.warnings.iter().any(|warning| warning.contains(expected)), "{record:?}");
    assert!(!head.exists() && !list.exists(), "{record:?}");
    fixture.git(&["rev-parse", "--verify", "refs/heads/cocode/plain"]);
    let update = ["update-ref", "refs/heads/cocode/evil", "HEAD"];
    fixture.git(&update);
    assert!(!planted.exists());
    // The control: git follows it.
    fs::write(&head, "ref: refs/heads/../../../../planted\n").unwrap();
    let mut git = std::process::Command::new("git");
    git.args(update).current_dir(fixture.repository()).output().unwrap();
    assert!(planted.exists());
}

#[test]
fn what_cannot_be_removed_from_a_shared_folder_hides_nothing_else() {
    let fixture = Fixture::shared();
    let script = format!(
        "{MARKED}; G=$(git rev-parse --path-format=absolute --git-common-dir); \
         mkdir -p $G/objects/pack/multi-pack-index/x; \
         echo ref: refs/heads/../../../../planted > $G/refs/heads/cocode/evil",
    );
    let record = fixture.run(&script);
    assert_eq!(record.exit_code, Some(0), "{record:?}");
    let has = |text: &str| record.warnings.iter().any(|warning| warning.contains(text));
    assert!(has("'objects/pack/multi-pack-index' in the repository could not be checked"), "{record:?}");
    assert!(has("and were removed: refs/heads/cocode/evil"), "{record:?}");
    assert!(!fixture.repository().join(".git/refs/heads/cocode/evil").exists(), "{record:?}");
}
