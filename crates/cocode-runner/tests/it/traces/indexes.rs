//! The index that an agent leaves in its worktree does not lead the user's git out of it.

use std::fs;

use cocode_env::AgentState;
use cocode_runner::AgentRecord;

use crate::fixture::*;

/// Writes an index with the entry `../escaped`.
const CRAFT: &str = "mkdir _.; echo out > _./escaped; git add _.; I=$(git rev-parse --git-dir)/index; \
                     LC_ALL=C sed 's#_\\./escaped#../escaped#' \"$I\" > crafted; cat crafted > \"$I\"; rm -r crafted _.";

fn check_that_nothing_escapes(fixture: &Fixture, record: &AgentRecord) {
    let warned = record.warnings.join("\n");
    assert!(warned.contains("an index with the entry '../escaped'"), "{warned}");
    let worktree = fixture.worktree();
    let escaped = worktree.parent().unwrap().join("escaped");
    fixture.git_in(&worktree, &["checkout", "."]);
    assert_eq!(fixture.git_in(&worktree, &["status", "--porcelain", "--untracked-files=no"]), "");
    assert!(!escaped.exists());
    // The control: git writes there with the index as the agent left it.
    let git_folder = fixture.git_in(&worktree, &["rev-parse", "--absolute-git-dir"]);
    let index = std::path::Path::new(git_folder.trim()).join("index");
    fs::copy(index.with_file_name("index.refused"), &index).unwrap();
    fixture.git_in(&worktree, &["checkout", "."]);
    assert!(escaped.exists());
}

#[test]
fn crafted_index_is_quarantined_when_its_agent_has_ended() {
    for fixture in [Fixture::new(), Fixture::shared()] {
        let record = fixture.run(&format!("{MARKED}; {CRAFT}"));
        assert_eq!(record.state, AgentState::Ready, "{record:?}");
        check_that_nothing_escapes(&fixture, &record);
    }
}

#[test]
fn crafted_index_is_quarantined_when_a_check_has_ended() {
    let fixture = Fixture::new();
    let mut definition = agent("a", MARKED);
    definition.check = Some(CRAFT.to_owned());
    let record = fixture.run_agent(definition);
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    check_that_nothing_escapes(&fixture, &record);
}

#[test]
fn index_that_git_wrote_stays() {
    let fixture = Fixture::new();
    let record =
        fixture.run(&format!("{MARKED}; git update-index --split-index; echo s > staged; git add staged"));
    assert_eq!((record.state, &record.warnings[..]), (AgentState::Ready, &[][..]), "{record:?}");
    let staged = fixture.git_in(&fixture.worktree(), &["diff", "--cached", "--name-only"]);
    assert_eq!(staged.trim(), "staged");
}
