//! Cargo: its configuration, and the indexes that it has fetched.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::answer::entries;
use super::tool::{ToolError, Tools};
use crate::allow::AllowEntry;

/// The default source, which others may replace.
const CRATES_IO: &str = "crates-io";

/// The most replacements that are followed: more form a cycle.
const MOST_REPLACEMENTS: usize = 16;

/// The most bytes of an index's settings.
const MOST_INDEX_BYTES: u64 = 64 * 1024;

/// The most indexes that are read.
const MOST_INDEXES: usize = 32;

/// A package that makes cargo read the index: any would do.
const PACKAGE: &str = "[package]\nname = \"ask\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
                       [lib]\npath = \"lib.rs\"\n[dependencies]\ncfg-if = \"1\"\n";

/// Returns the registries of the configuration, or else every index that cargo has fetched, and the addresses of their crates.
///
/// Cargo states its default only in the data that it has fetched: each index names the address of its files. If it has
/// fetched none yet, as on a new machine, it is made to read one.
pub(super) fn ask(tools: &Tools) -> Result<Vec<AllowEntry>, ToolError> {
    // The command is not yet stable.
    let arguments = ["-Zunstable-options", "config", "get", "--format", "json"];
    let output = tools.run("cargo", &arguments, &[("RUSTC_BOOTSTRAP", "1")], &[])?;
    let settings: Value = serde_json::from_str(&output.stdout).map_err(|_| output.unreadable())?;
    let replaced = replacement(&settings);
    let registries = settings.get("registries").and_then(Value::as_object);
    let mut urls: Vec<String> = registries
        .into_iter()
        .flat_map(|registries| registries.values())
        .filter_map(|registry| registry.get("index")?.as_str().map(str::to_owned))
        .chain(replaced.clone())
        .collect();
    let hosts: BTreeSet<String> = urls.iter().filter_map(|url| host(url)).collect();
    let mut indexes = fetched(tools);
    let mut failure = ToolError::SaysNothing;
    if replaced.is_none() && indexes.is_empty() {
        let files = [("Cargo.toml", PACKAGE), ("lib.rs", "")];
        let output = tools.run("cargo", &["generate-lockfile", "--quiet"], &[], &files)?;
        if !output.is_success {
            failure = output.failure();
        }
        indexes = fetched(tools);
    }
    for index in indexes {
        // With a replacement, indexes fetched before it do not count.
        if replaced.is_none() || hosts.contains(&index.host) {
            urls.push(format!("https://{}", index.host));
            urls.extend(index.files);
        }
    }
    // Cargo's own error is more helpful than "no answer".
    entries(urls.iter().map(String::as_str))
        .map_err(|error| if error == ToolError::SaysNothing { failure } else { error })
}

/// Follows the replacements of the default source to the registry that is fetched from.
fn replacement(settings: &Value) -> Option<String> {
    let mut name = CRATES_IO;
    let mut registry = None;
    for _ in 0..MOST_REPLACEMENTS {
        let source = settings.get("source").and_then(|sources| sources.get(name));
        registry = source.and_then(|source| source.get("registry")).and_then(Value::as_str);
        match source.and_then(|source| source.get("replace-with")).and_then(Value::as_str) {
            Some(next) => name = next,
            None => break,
        }
    }
    registry.map(str::to_owned).or_else(|| {
        let named = settings.get("registries")?.get(name)?.get("index")?.as_str()?;
        (name != CRATES_IO).then(|| named.to_owned())
    })
}

/// An index that cargo has fetched.
struct Fetched {
    host: String,
    /// The addresses of its crates and of its interface for searching.
    files: Vec<String>,
}

fn fetched(tools: &Tools) -> Vec<Fetched> {
    let home = tools
        .variable("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(tools.variable("HOME")?).join(".cargo")));
    let Some(folder) = home.map(|home| home.join("registry/index")) else { return Vec::new() };
    // Files that a model may write must not decide what it may reach.
    if tools.is_writable(&folder) {
        return Vec::new();
    }
    let Ok(indexes) = fs::read_dir(folder) else { return Vec::new() };
    indexes.take(MOST_INDEXES).filter_map(|index| read_index(&index.ok()?.path())).collect()
}

/// Reads an index's folder, `HOST-HASH`, and its settings, `{"dl": …, "api": …}`.
fn read_index(folder: &Path) -> Option<Fetched> {
    let (host, _) = folder.file_name()?.to_str()?.rsplit_once('-')?;
    let mut text = String::new();
    File::open(folder.join("config.json")).ok()?.take(MOST_INDEX_BYTES).read_to_string(&mut text).ok()?;
    let settings: Value = serde_json::from_str(&text).ok()?;
    let files = ["dl", "api"].iter().filter_map(|key| settings.get(key)?.as_str().map(str::to_owned));
    Some(Fetched { host: host.to_owned(), files: files.collect() })
}

fn host(url: &str) -> Option<String> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(host.split(':').next()?.to_ascii_lowercase())
}
