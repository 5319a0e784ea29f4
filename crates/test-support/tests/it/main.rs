//! Tests of `test-support` itself.

use std::fs;

use proptest::prelude::*;
use test_support::{Caller, RefusingAddress, copy_folder, folder_of_child, is_alive, names_beneath};

#[test]
fn each_caller_has_a_run_of_its_own() {
    let (one, other) = (Caller::once(), Caller::once());
    assert_ne!(one.origin.run, other.origin.run);
    let numbered = Caller::numbered(3).at(2).durable();
    insta::assert_debug_snapshot!(numbered.origin);
}

#[test]
fn a_test_that_was_not_started_as_a_child_has_no_folder() {
    assert_eq!(folder_of_child(), None);
}

#[test]
fn this_process_is_alive_and_an_unknown_one_is_not() {
    let own = std::env::args().next().unwrap();
    assert!(is_alive(&own));
    assert!(!is_alive(&format!("no such {}", "command line")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn a_copy_has_the_same_names_and_contents(files in prop::collection::btree_map("[a-c]/[a-z]{1,3}", "[a-z]{0,9}", 0..6)) {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (name, text) in &files {
            let path = from.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        copy_folder(from.path(), to.path());
        prop_assert_eq!(names_beneath(from.path()), names_beneath(to.path()));
        for (name, text) in &files {
            prop_assert_eq!(&fs::read_to_string(to.path().join(name)).unwrap(), text);
        }
    }
}

#[test]
fn a_refusing_address_refuses_and_a_listener_on_it_would_not() {
    let refusing = RefusingAddress::bind();
    let refusal = std::net::TcpStream::connect(refusing.address).unwrap_err();
    assert_eq!(refusal.kind(), std::io::ErrorKind::ConnectionRefused);
    let address = refusing.address;
    drop(refusing);
    if let Ok(_listener) = std::net::TcpListener::bind(address) {
        std::net::TcpStream::connect(address).unwrap();
    }
}
