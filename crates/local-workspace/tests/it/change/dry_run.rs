//! A dry run answers like the workspace and leaves everything unchanged.

use change_journal::RunFilter;
use local_workspace::{DryWorkspace, EngineConfig, LocalWorkspace, PlannedChange};
use wap_core::*;

use crate::fixture::workspace::*;

/// Batches that build on each other, with failures among them.
fn batches(version: &Option<FileVersion>) -> Vec<Vec<FileChange>> {
    vec![
        vec![
            write("new/a", "1\n2\n3\n"),
            replace("old", (2, 2), "two\nand more", version.clone()),
            delete("nope"),
            delete("gone"),
        ],
        vec![
            replace("new/a", (3, 3), "three", None),
            replace("old", (3, 3), "three", version.clone()),
            replace("old", (2, 2), "x", version.clone()),
            write(".git/x", "x"),
            write("gone", "back\n"),
        ],
        vec![delete("new/a"), replace("gone", (1, 1), "back again", None), write("d", "x")],
    ]
}

fn files(fixture: &Fixture) {
    fixture.put("old", "1\n2\n3\n");
    fixture.put("gone", "x\n");
    fixture.put("d/e", "x\n");
}

fn carry_out(workspace: &impl Workspace) -> Vec<Vec<Result<FileChanged, WapError>>> {
    let version = current_version(workspace, "old");
    batches(&version)
        .iter()
        .map(|changes| workspace.change_files(&Caller::once().call(), changes).unwrap())
        .collect()
}

#[test]
fn dry_run_answers_as_the_workspace_does() {
    let (dry_fixture, fixture) = (Fixture::new(), Fixture::new());
    files(&dry_fixture);
    files(&fixture);
    let workspace = dry_fixture.open();
    let dry = DryWorkspace::new(&workspace);
    assert_eq!(carry_out(&dry), carry_out(&fixture.open()));
}

#[test]
fn dry_run_leaves_no_trace_in_the_workspace_or_the_journal() {
    let fixture = Fixture::new();
    files(&fixture);
    let before = fixture.all_names();
    let journal = fixture.open_journal();
    let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
    let dry = DryWorkspace::new(&workspace);
    let request = ReadFile { path: "old".into(), ..ReadFile::default() };
    let version = dry.read_file(&Caller::numbered(1).durable().call(), &request).unwrap().version.unwrap();
    carry_out(&dry);
    let error = dry.execute_command(&Caller::numbered(1).call(), &command("touch ran"), &mut Unobserved);
    let error = error.unwrap_err();
    assert_eq!((error.reason(), error.message()), (Reason::Cancelled, "not run: this is a dry run"));
    journal.flush().unwrap();
    assert_eq!(journal.reader().runs(&RunFilter::default(), 10).unwrap(), []);
    assert!(!journal.reader().holds_content(&version.0.parse().unwrap()).unwrap());
    assert_eq!(fixture.all_names(), before);
    assert_eq!(fixture.text("old").unwrap(), "1\n2\n3\n");
    // The steps are still to be carried out.
    drop(dry);
    let caller = Caller::numbered(1);
    workspace.change_files(&caller.call(), &[write("old", "new\n")]).unwrap().remove(0).unwrap();
    assert_eq!(fixture.text("old").unwrap(), "new\n");
}

fn planned(workspace: &LocalWorkspace, batches: &[Vec<FileChange>]) -> Vec<PlannedChange> {
    let dry = DryWorkspace::new(workspace);
    for changes in batches {
        dry.change_files(&Caller::once().call(), changes).unwrap();
    }
    dry.into_planned()
}

#[test]
fn planned_changes_are_reported_in_their_order_each_on_top_of_the_others() {
    let fixture = Fixture::new();
    files(&fixture);
    fixture.put("binary", b"\xff\0");
    let workspace = fixture.open();
    let mut batches = batches(&current_version(&workspace, "old"));
    batches.push(vec![delete("binary"), write("d/e", "x\n")]);
    let planned = planned(&workspace, &batches);
    let reported: Vec<_> =
        planned.iter().map(|change| (&*change.path, change.lines_added, change.lines_removed)).collect();
    let expected = [
        ("new/a", 3, 0),
        ("old", 2, 1),
        ("gone", 0, 1),
        ("new/a", 1, 1),
        ("old", 1, 1),
        ("gone", 1, 0),
        ("new/a", 0, 3),
        ("gone", 1, 1),
        ("binary", 0, 0),
        ("d/e", 0, 0),
    ];
    assert_eq!(reported, expected);
    insta::assert_snapshot!(planned[4].diff, @r"
    --- a/old
    +++ b/old
    @@ -1,4 +1,4 @@
     1
     two
     and more
    -3
    +three
    ");
    insta::assert_snapshot!(planned[6].diff, @r"
    --- a/new/a
    +++ /dev/null
    @@ -1,3 +0,0 @@
    -1
    -2
    -three
    ");
    assert_eq!((&*planned[8].diff, &*planned[9].diff), ("binary is not a text\n", ""));
}

#[test]
fn reading_sees_what_is_planned() {
    let fixture = Fixture::new();
    files(&fixture);
    std::os::unix::fs::symlink("old", fixture.root().join("link")).unwrap();
    let workspace = fixture.open();
    let dry = DryWorkspace::new(&workspace);
    let version = current_version(&dry, "old");
    let outcome = change(&dry, replace("old", (1, 1), "one\nmore", version.clone())).unwrap();
    let FileChanged::Modified(modified) = outcome else { panic!("an edit") };
    change(&dry, write("new/a", "n\n")).unwrap();
    change(&dry, delete("gone")).unwrap();
    for path in ["old", "./d/../old", "link"] {
        let response = read(&dry, path).unwrap();
        assert_eq!((&*response.content, &*response.metadata.path), ("one\nmore\n2\n3\n", "old"));
        assert_eq!(response.version, modified.version);
    }
    assert_eq!(read(&dry, "new/a").unwrap().content, "n\n");
    assert_eq!(read(&dry, "gone").unwrap_err().reason(), Reason::FileNotFound);
    assert_eq!(read(&dry, "d/e").unwrap().content, "x\n");
    // Line numbers of what was planned, and of what it was planned from.
    change(&dry, replace("old", (4, 4), "three", modified.version)).unwrap();
    change(&dry, replace("old", (2, 2), "two", version)).unwrap();
    assert_eq!(read(&dry, "old").unwrap().content, "one\nmore\ntwo\nthree\n");
}

#[test]
fn dry_run_of_a_read_only_workspace_refuses_like_it() {
    let fixture = Fixture::new();
    let config = EngineConfig { read_only: true, ..fixture.config() };
    let workspace = fixture.open_with(fixture.open_journal(), config).0;
    let dry = DryWorkspace::new(&workspace);
    assert_eq!(change(&dry, write("a", "x")).unwrap_err().reason(), Reason::ReadOnly);
    assert_eq!(dry.into_planned(), []);
}
