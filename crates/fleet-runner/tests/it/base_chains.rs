//! The bundles of the commits that tasks start from.

use std::fs;

use cocode_runner::{BaseLimits, BaseRepository};
use fleet_runner::BaseChain;

use crate::fixture::Machine;

/// Returns the tips of the bundles that lead to a commit, after a host took them in that order.
fn tips(machine: &Machine, chain: &BaseChain, commit: &str) -> Vec<String> {
    let files = chain.leading_to(&machine.bundle_source(), commit).unwrap();
    let host = Machine::new();
    let bases = BaseRepository::open(&host.root.join("bases"), &host.host, BaseLimits::default()).unwrap();
    for file in &files {
        bases.add(&file.path, &file.base.tip).unwrap();
    }
    assert!(bases.has(commit).unwrap());
    files.into_iter().map(|file| file.base.tip).collect()
}

fn machine() -> (Machine, BaseChain) {
    let machine = Machine::new();
    let chain = BaseChain::open(machine.root.join("chain")).unwrap();
    (machine, chain)
}

#[test]
fn a_new_commit_takes_a_bundle_of_what_is_new_until_there_are_eight() {
    let (machine, chain) = machine();
    let commits: Vec<String> = (0..9).map(|number| machine.commit(&format!("f{number}"))).collect();
    for count in 1..=8 {
        assert_eq!(tips(&machine, &chain, &commits[count - 1]), commits[..count]);
    }
    assert_eq!(tips(&machine, &chain, &commits[8]), commits[8..]);
}

#[test]
fn an_earlier_commit_of_the_chain_needs_its_beginning_alone() {
    let (machine, chain) = machine();
    let commits: Vec<String> = (0..3).map(|number| machine.commit(&format!("f{number}"))).collect();
    for commit in &commits {
        tips(&machine, &chain, commit);
    }
    assert_eq!(tips(&machine, &chain, &commits[1]), commits[..2]);
    assert_eq!(tips(&machine, &chain, &commits[2]), commits);
}

#[test]
fn another_history_and_a_lost_bundle_begin_a_chain() {
    let (machine, chain) = machine();
    let first = machine.commit("first");
    assert_eq!(tips(&machine, &chain, &first), [first.as_str()]);
    machine.git(&["checkout", "-q", "--orphan", "other"]);
    let other = machine.commit("other");
    assert_eq!(tips(&machine, &chain, &other), [other.as_str()]);
    let last = machine.commit("last");
    assert_eq!(tips(&machine, &chain, &last), [other.as_str(), last.as_str()]);
    let files = chain.leading_to(&machine.bundle_source(), &last).unwrap();
    fs::remove_file(&files[0].path).unwrap();
    assert_eq!(tips(&machine, &chain, &last), [last.as_str()]);
}

#[test]
fn a_bundle_of_another_size_begins_a_chain() {
    for (at, length) in [(0, 0), (1, 0), (1, 1 << 20)] {
        let (machine, chain) = machine();
        let commits = ["first", "last"].map(|name| machine.commit(name));
        tips(&machine, &chain, &commits[0]);
        // The control: what is whole stays.
        assert_eq!(tips(&machine, &chain, &commits[1]), commits);
        assert_eq!(tips(&machine, &chain, &commits[1]), commits);
        let files = chain.leading_to(&machine.bundle_source(), &commits[1]).unwrap();
        fs::File::options().write(true).open(&files[at].path).unwrap().set_len(length).unwrap();
        // A host takes the bundle that is made now.
        assert_eq!(tips(&machine, &chain, &commits[1]), commits[1..]);
    }
}
