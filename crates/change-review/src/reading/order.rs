//! The best order for reading the steps of a proposal.

use std::collections::{BTreeMap, BTreeSet};

use crate::reading::file_class::FileClass;
use crate::reading::new_names::NewNames;
use crate::step::{FileStep, ProposedStep, StepEffect};

/// The bytes of new lines that are searched for names; further files keep their positions.
const MOST_BYTES: usize = 4 << 20;

/// The maximum number of files that define a significant name: `new` and `main` are everywhere.
const MOST_DEFINING: usize = 2;

/// Returns the indexes of the steps in an order for readers: code, tests, commands, and last generated files. Within
/// code and within tests, a file whose new lines define a name comes before those whose new lines use it; independent
/// files, and files that depend on each other, stay in the order of the proposal. The steps of a file are adjacent.
#[must_use]
pub fn reading_order(steps: &[ProposedStep]) -> Vec<usize> {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    let mut items: Vec<Item<'_>> = Vec::new();
    let mut bytes_left = MOST_BYTES;
    for (index, step) in steps.iter().enumerate() {
        match &step.effect {
            StepEffect::Command(_) => items.push(Item { rank: 2, ..Item::of(index) }),
            StepEffect::File(file) => {
                let at = *files.entry(&file.path).or_insert_with(|| {
                    items.push(Item { rank: rank(file), ..Item::of(index) });
                    items.len() - 1
                });
                if items[at].steps.last() != Some(&index) {
                    items[at].steps.push(index);
                }
                for text in new_lines(file) {
                    if let Some(left) = bytes_left.checked_sub(text.len()) {
                        bytes_left = left;
                        items[at].names.add(text);
                    }
                }
            }
        }
    }
    let needs = needs(&items);
    (0..=3).flat_map(|rank| sorted(&items, &needs, rank)).flat_map(|item| items[item].steps.clone()).collect()
}

/// A file with its steps, or a command.
struct Item<'a> {
    rank: u8,
    steps: Vec<usize>,
    names: NewNames<'a>,
}

impl Item<'_> {
    fn of(step: usize) -> Self {
        Item { rank: 0, steps: vec![step], names: NewNames::default() }
    }
}

fn rank(file: &FileStep) -> u8 {
    let text = file.after.as_deref().or(file.before.as_deref()).unwrap_or_default();
    match FileClass::of(&file.path, text) {
        FileClass::Code => 0,
        FileClass::Test => 1,
        FileClass::LockFile | FileClass::Generated => 3,
    }
}

/// Returns the lines that a step adds: those of its hunks, or the whole new file.
fn new_lines(file: &FileStep) -> impl Iterator<Item = &str> {
    let whole = file.after.as_deref().filter(|_| file.hunks.is_empty() && file.before.is_none());
    file.hunks.iter().map(|hunk| &*hunk.new_text).chain(whole)
}

/// Returns the dependencies of each item: those that define the names it uses.
fn needs(items: &[Item<'_>]) -> Vec<BTreeSet<usize>> {
    let mut defined: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        item.names.defined.iter().for_each(|name| defined.entry(name).or_default().push(at));
    }
    defined.retain(|_, at| at.len() <= MOST_DEFINING);
    let needs_of = |(at, item): (usize, &Item<'_>)| {
        let others = item.names.words.iter().filter_map(|word| defined.get(word)).flatten().copied();
        // Names that the item itself defines are not dependencies.
        others.filter(|other| *other != at && items[*other].rank == item.rank).collect()
    };
    items.iter().enumerate().map(needs_of).collect()
}

/// Returns the items of a rank, each after its dependencies where possible.
fn sorted(items: &[Item<'_>], needs: &[BTreeSet<usize>], rank: u8) -> Vec<usize> {
    let mut waiting: BTreeMap<usize, usize> = BTreeMap::new();
    let mut needed_by: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in (0..items.len()).filter(|at| items[*at].rank == rank) {
        waiting.insert(at, needs[at].len());
        needs[at].iter().for_each(|other| needed_by.entry(*other).or_default().push(at));
    }
    let mut free: BTreeSet<usize> =
        waiting.iter().filter(|(_, count)| **count == 0).map(|(at, _)| *at).collect();
    let mut order = Vec::new();
    // In a cycle, the first item of the proposal goes first.
    while let Some(at) = free.pop_first().or_else(|| waiting.keys().next().copied()) {
        waiting.remove(&at);
        order.push(at);
        for user in needed_by.get(&at).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(user) {
                *count -= 1;
                if *count == 0 {
                    free.insert(*user);
                }
            }
        }
    }
    order
}
