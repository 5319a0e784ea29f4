//! The licences of everything that is linked into the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{Step, TaskError};

/// The beginnings of the names under which packages keep their licences, in small letters.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// Returns a list of the packages that the program is built from, each with its licence, and the texts of these licences, each
/// once with the packages that have it.
///
/// # Errors
///
/// Those of cargo, and [`TaskError::NotJson`].
pub(super) fn notices(root: &Path) -> Result<String, TaskError> {
    let tree = ["tree", "--package", "agentd-workspace", "--edges", "normal,build", "--prefix", "none"];
    let tree = [&tree[..], &["--no-dedupe", "--format", "{p}", "--locked"]].concat();
    let tree = Step::cargo("tree", &tree).folder(root).output()?;
    let linked: BTreeSet<String> = String::from_utf8_lossy(&tree).lines().filter_map(key_of_line).collect();
    // The manifests of packages for other systems are read, too, and a machine that has only built this may not have them yet.
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let output = Step::cargo("cargo metadata", &arguments).folder(root).output()?;
    let metadata: Value = serde_json::from_slice(&output)
        .map_err(|source| TaskError::NotJson { what: "cargo metadata".to_owned(), source })?;

    let mut list = String::new();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    for package in packages.iter().filter(|one| !one["source"].is_null() && linked.contains(&key(one))) {
        let name = format!("{} {}", text(package, "name"), text(package, "version"));
        let _ = writeln!(list, "{name}: {}", text(package, "license"));
        let manifest = text(package, "manifest_path");
        for text in Path::new(manifest).parent().map(licence_texts).unwrap_or_default() {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let mut notices = format!("agentd is built from these packages:\n\n{list}");
    for (text, packages) in texts {
        let _ = write!(notices, "\n{}\n{}\n\n{text}\n", "-".repeat(72), packages.join(", "));
    }
    Ok(notices)
}

/// `serde v1.0.228 (proc-macro)` as name and version.
fn key_of_line(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next()?.trim_start_matches('v')))
}

fn key(package: &Value) -> String {
    format!("{} {}", text(package, "name"), text(package, "version"))
}

fn text<'a>(package: &'a Value, field: &str) -> &'a str {
    package[field].as_str().unwrap_or_default()
}

/// The texts of the licences in a package's folder.
fn licence_texts(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.filter(|entry| is_licence(&entry.file_name().to_string_lossy())).collect();
    files.sort_by_key(fs::DirEntry::file_name);
    let read = |entry: &fs::DirEntry| fs::read_to_string(entry.path()).ok();
    files.iter().filter_map(read).map(|text| text.trim().to_owned()).collect()
}

fn is_licence(name: &str) -> bool {
    let name = name.to_lowercase();
    NAMES.iter().any(|start| name.starts_with(start))
}
