//! The crates that cargo lists.

use serde_json::json;
use xtask::{Crate, CrateList, root};

#[test]
fn dependencies_of_tests_do_not_count_and_those_of_build_scripts_do() {
    let metadata = json!({
        "workspace_root": "/w",
        "packages": [{
            "name": "b",
            "manifest_path": "/w/crates/b/Cargo.toml",
            "dependencies": [
                { "name": "serde", "kind": null },
                { "name": "a", "kind": "build" },
                { "name": "insta", "kind": "dev" },
                { "name": "serde", "kind": null }
            ],
            "targets": [{ "name": "b", "kind": ["lib"] }, { "name": "speed", "kind": ["bench"] }]
        }, {
            "name": "a", "manifest_path": "/w/Cargo.toml", "dependencies": [], "targets": []
        }]
    });
    let expected = [
        Crate { name: "a".into(), folder: String::new(), dependencies: vec![], benches: vec![] },
        Crate {
            name: "b".into(),
            folder: "crates/b".into(),
            dependencies: vec!["a".into(), "serde".into()],
            benches: vec!["speed".into()],
        },
    ];
    assert_eq!(CrateList::from_metadata(&metadata).crates, expected);
}

#[test]
fn the_crates_of_this_repository_are_listed() {
    let list = CrateList::read(&root()).unwrap();
    let tagproto = list.crates.iter().find(|one| one.name == "tagproto").unwrap();
    assert_eq!(tagproto.folder, "crates/tagproto");
    assert!(tagproto.dependencies.contains(&"wap-core".to_owned()));
    assert!(!tagproto.dependencies.contains(&"insta".to_owned()), "it is for tests only");
}
