//! The rules for dependencies, on made-up metadata and on this repository.

use serde_json::{Value, json};
use xtask::{DependencyRules, root};

const RULES: &str = r#"
[licenses]
allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]

[bans]
deny = [{ crate = "left-pad", reason = "three lines of our own" }]
"#;

const REGISTRY: &str = "registry+https://registry.invalid/index";

fn package(name: &str, license: Value, source: Value) -> Value {
    json!({ "name": name, "license": license, "source": source, "dependencies": [] })
}

fn findings(packages: &[Value]) -> Vec<String> {
    let rules = DependencyRules::from_toml(RULES).unwrap();
    rules.findings(&json!({ "packages": packages }))
}

#[test]
fn allowed_licences_pass_in_every_form_of_an_expression() {
    let forms =
        ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "MIT AND Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
    let packages: Vec<Value> = forms.iter().map(|form| package(form, json!(form), json!(REGISTRY))).collect();
    assert_eq!(findings(&packages), Vec::<String>::new());
}

#[test]
fn licences_that_are_not_allowed_are_found() {
    let refused = [json!("GPL-3.0"), json!("MIT AND GPL-3.0"), json!("nonsense licence"), Value::Null];
    for license in refused {
        assert_eq!(findings(&[package("one", license.clone(), json!(REGISTRY))]).len(), 1, "{license}");
    }
}

#[test]
fn banned_names_other_sources_and_second_registries_are_found() {
    let banned = findings(&[package("left-pad", json!("MIT"), json!(REGISTRY))]);
    assert_eq!(banned, ["left-pad is banned: three lines of our own"]);
    let git = findings(&[package("one", json!("MIT"), json!("git+https://forge.invalid/one"))]);
    assert!(git[0].starts_with("one comes from git+"), "{git:?}");
    let second = package("two", json!("MIT"), json!("registry+https://other.invalid/index"));
    let several = findings(&[package("one", json!("MIT"), json!(REGISTRY)), second]);
    assert!(several[0].contains("several registries"), "{several:?}");
}

#[test]
fn a_version_of_our_own_that_fits_anything_is_found() {
    let depends = json!([
        { "name": "serde", "req": "*", "path": null },
        { "name": "rel-path", "req": "*", "path": "/w/crates/rel-path" },
        { "name": "regex", "req": "^1", "path": null }
    ]);
    let own = json!({ "name": "ours", "license": null, "source": null, "dependencies": depends });
    assert_eq!(findings(&[own]), ["ours takes any version of serde: state one"]);
}

#[test]
fn the_rules_of_this_repository_can_be_read() {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let rules = DependencyRules::from_toml(&text).unwrap();
    assert!(rules.allowed_licenses.contains("MIT") && rules.banned.len() >= 2, "{rules:?}");
}
