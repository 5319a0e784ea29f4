//! Every order is carried out step by step, and after each step git must find each reference with its old or new value.

use std::collections::{BTreeMap, BTreeSet};

use crate::adopt::adoption::in_order;
use crate::change::present::Present;
use crate::command::effect::{Effect, EffectSide};

use super::*;

/// The files below `.git`, and folders with this content.
type Files = BTreeMap<&'static str, &'static str>;

const FOLDER: &str = "/";

/// Pairs of repository states: a command leads from one to the other, and an undo back.
fn cases() -> Vec<(&'static str, Files, Files)> {
    let files = |list: &[(&'static str, &'static str)]| list.iter().copied().collect::<Files>();
    let head = ("HEAD", "ref: refs/heads/main");
    vec![
        (
            "git pack-refs",
            files(&[head, ("refs/heads/main", "1"), ("refs/heads/b", "2"), ("refs/tags/v", "1")]),
            files(&[head, ("packed-refs", "1 refs/heads/main\n2 refs/heads/b\n1 refs/tags/v")]),
        ),
        (
            "git gc beside an older list, and a commit after it",
            files(&[
                head,
                ("packed-refs", "0 refs/heads/main\n0 refs/heads/b"),
                ("refs/heads/main", "1"),
                ("refs/heads/b", "2"),
                ("refs/heads/d", FOLDER),
                ("refs/heads/d/e", "3"),
            ]),
            files(&[
                head,
                ("packed-refs", "1 refs/heads/main\n2 refs/heads/b\n3 refs/heads/d/e"),
                ("refs/heads/main", "4"),
            ]),
        ),
        (
            "git branch -m trunk",
            files(&[head, ("refs/heads/main", "1"), ("logs/refs/heads/main", "1")]),
            files(&[
                ("HEAD", "ref: refs/heads/trunk"),
                ("refs/heads/trunk", "1"),
                ("logs/refs/heads/trunk", "1"),
            ]),
        ),
        (
            "a packed branch is removed that has a file as well",
            files(&[
                head,
                ("packed-refs", "0 refs/heads/b\n1 refs/heads/main"),
                ("refs/heads/b", "2"),
                ("config", "b"),
            ]),
            files(&[head, ("packed-refs", "1 refs/heads/main"), ("config", "")]),
        ),
        (
            "a new branch is checked out and packed, in a working tree as well",
            files(&[
                head,
                ("refs/heads/main", "1"),
                ("worktrees/w/HEAD", "ref: refs/heads/w"),
                ("refs/heads/w", "1"),
            ]),
            files(&[
                ("HEAD", "ref: refs/heads/new"),
                ("worktrees/w/HEAD", "ref: refs/heads/other"),
                ("packed-refs", "1 refs/heads/main\n1 refs/heads/new\n1 refs/heads/w\n1 refs/heads/other"),
            ]),
        ),
        (
            "a branch becomes a folder of branches",
            files(&[head, ("refs/heads/main", "1"), ("refs/heads/a", "1")]),
            files(&[head, ("refs/heads/main", "1"), ("refs/heads/a", FOLDER), ("refs/heads/a/b", "1")]),
        ),
    ]
}

fn path(name: &str) -> RelPath {
    RelPath::parse(&format!(".git/{name}")).unwrap()
}

fn kind(content: Option<&&str>) -> Option<EntryKind> {
    content.map(|content| if *content == FOLDER { EntryKind::Folder } else { EntryKind::File })
}

fn changed(before: &Files, after: &Files) -> Vec<&'static str> {
    let names: BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
    names.into_iter().filter(|name| before.get(name) != after.get(name)).collect()
}

fn restoring(before: &Files, after: &Files) -> Vec<&'static str> {
    let paths: Vec<_> = changed(before, after).into_iter().map(|name| (name, path(name))).collect();
    let mut items: Vec<_> = paths.iter().map(|(name, path)| (*name, path, kind(after.get(name)))).collect();
    sort_for_restoring(&mut items, |(_, path, kind)| (path, *kind));
    items.into_iter().map(|(name, _, _)| name).collect()
}

fn adopting(before: &Files, after: &Files) -> Vec<&'static str> {
    let side = |content: Option<&&str>| {
        let kind = kind(content)?;
        let bytes = content.filter(|_| kind == EntryKind::File).map_or("", |content| *content);
        Some(EffectSide::Kept(Present::recorded(kind, bytes.into(), None)))
    };
    let names = changed(before, after);
    let effect = |name: &&'static str| Effect {
        path: path(name),
        before: side(before.get(name)),
        after: side(after.get(name)),
    };
    let effects: Vec<_> = names.iter().map(effect).collect();
    in_order(&effects).into_iter().map(|index| names[index]).collect()
}

fn value<'a>(files: &Files, name: &'a str) -> Option<&'a str>
where
    'static: 'a,
{
    let listed = || {
        let lines = files.get("packed-refs")?.lines();
        lines
            .filter_map(|line| line.split_once(' '))
            .find(|(_, listed)| *listed == name)
            .map(|(value, _)| value)
    };
    files.get(name).copied().filter(|content| *content != FOLDER).or_else(listed)
}

/// Returns the checked-out branches, by the `HEAD`s.
fn checked_out(files: &Files) -> Vec<&'static str> {
    let heads = ["HEAD", "worktrees/w/HEAD"].into_iter().filter_map(|head| files.get(head));
    heads.filter_map(|head| head.strip_prefix("ref: ")).collect()
}

fn check(case: &str, before: &Files, after: &Files, order: &[&'static str]) {
    let mut now = before.clone();
    let listed = |files: &Files| -> Vec<&'static str> {
        let lines = files.get("packed-refs").map_or("", |list| *list).lines();
        lines.filter_map(|line| Some(line.split_once(' ')?.1)).collect()
    };
    let single = before.keys().chain(after.keys()).filter(|name| name.starts_with("refs/")).copied();
    let references: BTreeSet<_> = single.chain(listed(before)).chain(listed(after)).collect();
    for step in order {
        let within = format!("{step}/");
        let is_empty = || !now.keys().any(|name| name.starts_with(&within));
        assert!(
            after.get(step).is_some_and(|content| *content == FOLDER) || is_empty(),
            "{case}: {step} {order:?}"
        );
        let around = step.match_indices('/').map(|(at, _)| &step[..at]);
        let is_blocked = around.filter_map(|folder| now.get(folder)).any(|content| *content != FOLDER);
        assert!(!is_blocked, "{case}: {step} {order:?}");
        match after.get(step) {
            Some(content) => now.insert(step, content),
            None => now.remove(step),
        };
        for name in &references {
            let (then, is) = (value(before, name), value(&now, name));
            assert!(
                is == then || is == value(after, name),
                "{case}: {name} is {is:?} after {step} {order:?}"
            );
        }
        for name in checked_out(&now) {
            assert!(value(&now, name).is_some(), "{case}: {name} after {step} {order:?}");
        }
    }
    assert_eq!(&now, after, "{case}");
}

#[test]
fn each_reference_is_there_at_any_time() {
    for (case, before, after) in cases() {
        for (before, after) in [(&before, &after), (&after, &before)] {
            check(case, before, after, &restoring(before, after));
            check(case, before, after, &adopting(before, after));
        }
    }
}

#[test]
fn a_list_of_tables_names_only_tables_that_are_there() {
    let one = Files::from([("reftable/0x1.ref", "1"), ("reftable/tables.list", "0x1.ref")]);
    let two = Files::from([("reftable/0x2.ref", "2"), ("reftable/tables.list", "0x2.ref")]);
    for (before, after, new, old) in [
        (&one, &two, "reftable/0x2.ref", "reftable/0x1.ref"),
        (&two, &one, "reftable/0x1.ref", "reftable/0x2.ref"),
    ] {
        let expected = [new, "reftable/tables.list", old];
        assert_eq!(restoring(before, after), expected);
        assert_eq!(adopting(before, after), expected);
    }
}

#[test]
fn what_is_in_the_way_goes_first() {
    let before = Files::from([("refs/heads/A", "1"), ("refs/heads/c", FOLDER), ("refs/heads/c/d", "1")]);
    let after = Files::from([("refs/heads/a", "1"), ("refs/heads/c", "1")]);
    for order in [restoring(&before, &after), adopting(&before, &after)] {
        let at = |name: &str| order.iter().position(|step| *step == name).unwrap();
        assert!(at("refs/heads/A") < at("refs/heads/a"), "{order:?}");
        assert!(at("refs/heads/c/d") < at("refs/heads/c"), "{order:?}");
    }
}

#[test]
fn a_repository_that_is_removed_has_no_order_of_its_own() {
    let before =
        Files::from([("HEAD", "ref: refs/heads/main"), ("packed-refs", ""), ("refs/heads/main", "1")]);
    assert_eq!(restoring(&before, &Files::new()), ["refs/heads/main", "packed-refs", "HEAD"]);
    assert_eq!(restoring(&Files::new(), &before), ["refs/heads/main", "packed-refs", "HEAD"]);
}
