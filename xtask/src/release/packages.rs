//! The packages of the crates, as a registry would get them.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::{Step, TaskError};

/// A crate that is published, with the features that it has.
struct Package {
    name: String,
    features: Vec<String>,
}

/// Files that every package has, and folders that none has.
const REQUIRED: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"];
const LEFT_OUT: [&str; 3] = ["tests/", "benches/", "proptest-regressions/"];

/// Fields of a manifest that a registry shows.
const FIELDS: [&str; 5] = ["description", "license", "readme", "rust_version", "version"];
const LISTS: [&str; 2] = ["keywords", "categories"];

/// Makes the package of every crate that is published, and checks what is in it. With `alone`, every crate is also built with
/// its smallest set of features, and with each feature by itself.
///
/// # Errors
///
/// [`TaskError::BadPackages`] after printing what is wrong, and those of cargo.
pub fn packages(root: &Path, alone: bool) -> Result<(), TaskError> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let output = Step::cargo("cargo metadata", &arguments).folder(root).output()?;
    let metadata: Value = serde_json::from_slice(&output)
        .map_err(|source| TaskError::NotJson { what: "cargo metadata".to_owned(), source })?;
    let members = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (published, private): (Vec<&Value>, Vec<&Value>) = members.iter().partition(|one| is_published(one));

    let mut findings: Vec<String> = published.iter().flat_map(|one| manifest_findings(one)).collect();
    let published: Vec<Package> = published.into_iter().map(Package::of).collect();
    for package in &published {
        findings.extend(list_findings(root, &package.name)?);
    }
    for finding in &findings {
        println!("packages: {finding}");
    }
    if !findings.is_empty() {
        return Err(TaskError::BadPackages { findings: findings.len() });
    }

    let mut arguments = vec!["package", "--workspace", "--no-verify", "--allow-dirty", "--quiet"];
    for package in &private {
        arguments.extend(["--exclude", package["name"].as_str().unwrap_or_default()]);
    }
    Step::cargo("packages", &arguments).folder(root).run()?;
    println!("== packages: {} of {} crates", published.len(), members.len());
    if alone { build_alone(root, &published) } else { Ok(()) }
}

impl Package {
    fn of(metadata: &Value) -> Package {
        let features = metadata["features"].as_object();
        let names = features.into_iter().flat_map(|features| features.keys());
        Package {
            name: metadata["name"].as_str().unwrap_or_default().to_owned(),
            features: names.filter(|name| *name != "default").cloned().collect(),
        }
    }
}

/// `publish` is null where any registry is allowed, and an empty list where none is.
fn is_published(package: &Value) -> bool {
    package["publish"].as_array().is_none_or(|registries| !registries.is_empty())
}

fn manifest_findings(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let is_empty = |field: &&&str| package[**field].as_str().is_none_or(str::is_empty);
    let is_empty_list = |field: &&&str| package[**field].as_array().is_none_or(Vec::is_empty);
    let missing = FIELDS.iter().filter(is_empty).chain(LISTS.iter().filter(is_empty_list));
    missing.map(|field| format!("{name} has no {field}")).collect()
}

/// Compares the files of a package with those that it must and must not have.
fn list_findings(root: &Path, name: &str) -> Result<Vec<String>, TaskError> {
    let arguments = ["package", "--list", "--allow-dirty", "--package", name];
    let output = Step::cargo("list", &arguments).folder(root).output()?;
    let text = String::from_utf8_lossy(&output);
    let files: BTreeSet<&str> = text.lines().collect();
    let missing = REQUIRED.iter().filter(|file| !files.contains(**file));
    let extra = files.iter().filter(|file| LEFT_OUT.iter().any(|folder| file.starts_with(folder)));
    Ok(missing
        .map(|file| format!("the package of {name} lacks {file}"))
        .chain(extra.map(|file| format!("the package of {name} has {file}")))
        .collect())
}

/// Checks each crate as a user builds it who takes nothing else of this workspace: features that another crate would switch on
/// are off.
fn build_alone(root: &Path, packages: &[Package]) -> Result<(), TaskError> {
    for Package { name, features } in packages {
        let base = ["check", "--quiet", "--package", name, "--no-default-features"];
        Step::cargo(name, &base).folder(root).run()?;
        for feature in features {
            let arguments = [&base[..], &["--features", feature]].concat();
            Step::cargo(&format!("{name} with {feature}"), &arguments).folder(root).run()?;
        }
    }
    Ok(())
}
