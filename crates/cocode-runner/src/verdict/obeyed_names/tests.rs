//! The work that symlinks of an agent cause is bounded, and where it ends early everything is refused.

use super::*;
use crate::verdict::search_limit::SearchLimit;

/// The looks of these tests: enough for honest trees of their size.
const LOOKS: u64 = 20_000;

type Links = Vec<(String, String)>;

fn link(path: impl Into<String>, target: impl Into<String>) -> (String, String) {
    (path.into(), target.into())
}

/// Judges changed paths of a tree with these symlinks. Returns whether the looks were enough, and whether each path was refused.
fn judge(links: &Links, changed: &[(String, EntryKind)]) -> (bool, Vec<bool>) {
    let names = ProtectedNames::default();
    let folder = tempfile::tempdir().expect("a folder");
    let root = std::fs::canonicalize(folder.path()).expect("it is there");
    let links = TreeLinks::of_targets(links, &root);
    let budget = LookBudget::new(LOOKS, SearchLimit::default());
    let judge = ObeyedNames::of(&names, links, Vec::new(), &root, budget);
    let is_refused = |(path, kind): &(String, EntryKind)| {
        let findings = judge.findings(path.as_bytes(), *kind);
        findings.iter().any(|(rule, _)| *rule == NameRule::Never)
    };
    let refused = changed.iter().map(is_refused).collect();
    (judge.has_all(), refused)
}

/// Makes `count` symlinks to a file in the folder `f`, and `folders` folders with a symlink to `f` that has the beginning of a
/// listed name.
fn gradle(count: usize, folders: usize) -> Links {
    let inner = (0..count).map(|index| link(format!("f/l{index}"), "a.txt"));
    inner.chain((0..folders).map(|index| link(format!("z{index}/gradle"), "../f"))).collect()
}

#[test]
fn symlinks_times_folders_of_a_listed_name_are_not_looked_at_without_end() {
    let changed = [("f/l0".to_owned(), EntryKind::Symlink), ("b.txt".to_owned(), EntryKind::File)];
    // The control: few of both.
    assert_eq!(judge(&gradle(50, 20), &changed), (true, vec![false, false]));
    assert_eq!(judge(&gradle(2000, 200), &changed), (false, vec![true, true]));
}

#[test]
fn long_targets_are_not_followed_without_end() {
    let target = "d/../".repeat(800) + "a.txt";
    let links =
        |count: usize| -> Links { (0..count).map(|index| link(format!("l{index}"), &target)).collect() };
    let changed = |count: usize| -> Vec<_> {
        (0..count).map(|index| (format!("l{index}"), EntryKind::Symlink)).collect()
    };
    assert_eq!(judge(&links(3), &changed(3)), (true, vec![false; 3]));
    let (has_all, refused) = judge(&links(300), &changed(300));
    assert!(!has_all && refused[299]);
    // Nor where they leave the repository and come back.
    let back = |count: usize| -> Links {
        (0..count).map(|index| link(format!("l{index}"), "/".to_owned() + &"usr/../".repeat(500))).collect()
    };
    assert!(judge(&back(3), &changed(3)).0 && !judge(&back(300), &changed(300)).0);
}

#[test]
fn changed_files_times_symlinks_to_their_folder_are_not_looked_at_without_end() {
    let links = |count: usize| -> Links {
        (0..count).map(|index| link(format!("p{index}/.vscode"), "../editor")).collect()
    };
    let changed = |count: usize| -> Vec<_> {
        (0..count).map(|index| (format!("editor/more{index}"), EntryKind::File)).collect()
    };
    assert_eq!(judge(&links(20), &changed(20)), (true, vec![false; 20]));
    let (has_all, refused) = judge(&links(1000), &changed(100));
    assert!(!has_all && refused[99]);
}

#[test]
fn symlinks_that_lead_from_folder_to_folder_are_not_followed_without_end() {
    let links = |count: usize| -> Links {
        let next = |index: usize| link(format!("d{index}/x"), format!("../d{}", index + 1));
        (0..count).map(next).chain([link(".vscode", "d0")]).collect()
    };
    let changed = [("d5/tasks.json".to_owned(), EntryKind::File), ("b.txt".to_owned(), EntryKind::File)];
    assert!(judge(&links(10), &changed).0);
    assert_eq!(judge(&links(10_000), &changed), (false, vec![true, true]));
}

#[test]
fn a_tree_with_many_symlinks_is_judged_whole() {
    let mut links: Links = (0..5000).map(|index| link(format!("pkg{index}/LICENSE"), "../LICENSE")).collect();
    links.extend((0..200).map(|index| link(format!("pkg{index}/CLAUDE.md"), "AGENTS.md")));
    links.push(link(".vscode", "editor"));
    let changed: Vec<_> =
        (0..1000).map(|index| (format!("pkg{index}/LICENSE"), EntryKind::Symlink)).collect();
    assert_eq!(judge(&links, &changed), (true, vec![false; 1000]));
}
