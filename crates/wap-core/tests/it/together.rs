//! Changes that are made all or none.

use memory_workspace::MemoryWorkspace;
use wap_core::*;

use test_support::Caller;

fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn edit(workspace: &MemoryWorkspace, path: &str, exchanges: &[(usize, &[&str], &[&str])]) -> Reversible {
    let request = ReadFile { path: path.into(), ..ReadFile::default() };
    let version = workspace.read_file(&Caller::once().at(99).call(), &request).unwrap().version;
    let exchanges: Vec<_> = exchanges
        .iter()
        .map(|(at, old, new)| LineExchange { at: *at, old: lines(old), new: lines(new) })
        .collect();
    Reversible::edit(path, version, &exchanges)
}

#[test]
fn all_changes_are_made() {
    let workspace = MemoryWorkspace::with_files([("a", "1\n2\n3\n")]);
    let exchanges: [(usize, &[&str], &[&str]); 4] =
        [(0, &["1"], &["I", "I"]), (3, &["3"], &[]), (0, &[], &["0"]), (2, &[], &[])];
    let changes = [edit(&workspace, "a", &exchanges), Reversible::create("d/b", &lines(&["B", ""]))];
    let done = change_together(&workspace, &Caller::once().call(), &changes).unwrap();
    assert_eq!(done.len(), 2);
    assert_eq!(workspace.text("a").unwrap(), "0\nI\nI\n2\n");
    assert_eq!(workspace.text("d/b").unwrap(), "B\n\n");
}

#[test]
fn one_failure_reverts_the_others() {
    let workspace = MemoryWorkspace::with_files([("a", "1\r\n2\r\n3"), ("taken", "")]);
    let before = workspace.files();
    let exchanges: [(usize, &[&str], &[&str]); 3] =
        [(0, &["1"], &["I", "I"]), (2, &["2"], &[]), (2, &[], &["x"])];
    let failing = Reversible::create("taken", &lines(&["x"]));
    for position in 0..3 {
        let mut changes = vec![edit(&workspace, "a", &exchanges), Reversible::create("new", &lines(&["n"]))];
        changes.insert(position, failing.clone());
        let caller = Caller::once();
        let refused =
            change_together(&workspace, &caller.at(10 * position as u32).call(), &changes).unwrap_err();
        assert_eq!((refused.path.as_str(), refused.error.reason()), ("taken", Reason::FileExists));
        assert_eq!(refused.left, []);
        assert_eq!(workspace.files(), before, "the failing one at {position}");
    }
}

#[test]
fn lines_that_an_exchange_leaves_keep_their_endings() {
    let workspace = MemoryWorkspace::with_files([("a", "1\r\n2\n3\r\n4\n5\r\n6\n7\n")]);
    let exchanges: [(usize, &[&str], &[&str]); 2] =
        [(0, &["1", "2", "3", "4", "5"], &["1", "II", "3", "3.5", "5"]), (5, &["6"], &["6"])];
    let changes = [edit(&workspace, "a", &exchanges)];
    change_together(&workspace, &Caller::once().call(), &changes).unwrap();
    assert_eq!(workspace.text("a").unwrap(), "1\r\nII\n3\r\n3.5\n5\r\n6\n7\n");
}
