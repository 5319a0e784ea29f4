//! Sources in cargo's cache and in packages that were installed for the bench.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Returns the folder with the unpacked crates.
pub(crate) fn registry() -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))?;
    let mut caches: Vec<PathBuf> =
        fs::read_dir(home.join("registry/src")).ok()?.flatten().map(|one| one.path()).collect();
    caches.sort();
    caches.into_iter().next()
}

/// Returns the folder of a source, `name-version`, if exactly that version is installed. `from` is its package manager:
/// `cargo`, or `python` and `node`, whose folders the variables `QUESTIONS_PYTHON` and `QUESTIONS_NODE` name.
pub(crate) fn folder(registry: &Path, from: &str, source: &str) -> Option<PathBuf> {
    let (name, version) = source.rsplit_once('-')?;
    let installed = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
    let (folder, is_right) = match from {
        "cargo" => (registry.join(source), true),
        "python" => {
            let libraries = fs::read_dir(installed("QUESTIONS_PYTHON")?.join("lib")).ok()?;
            let mut packages = libraries.flatten().map(|one| one.path().join("site-packages"));
            let packages = packages.find(|packages| packages.join(name).is_dir())?;
            (packages.join(name), packages.join(format!("{source}.dist-info")).is_dir())
        }
        _ => {
            let folder = installed("QUESTIONS_NODE")?.join("node_modules").join(name);
            let manifest: Value =
                serde_json::from_slice(&fs::read(folder.join("package.json")).ok()?).ok()?;
            (folder, manifest["version"] == version)
        }
    };
    (is_right && folder.is_dir()).then_some(folder)
}

/// Returns the text files below a folder that an index would contain, relative to it and sorted.
pub(crate) fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    collect(folder, "", &mut texts);
    texts.sort();
    texts
}

fn collect(folder: &Path, path: &str, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder.join(path)).unwrap().flatten() {
        let name = entry.file_name().to_str().unwrap_or(".").to_owned();
        let kind = entry.file_type().unwrap();
        let is_left_out =
            name.starts_with('.') || matches!(name.as_str(), "target" | "vendor" | "build" | "dist");
        if kind.is_dir() && !is_left_out {
            collect(folder, &format!("{path}{name}/"), texts);
        } else if kind.is_file() && !name.starts_with('.') {
            let size = entry.metadata().unwrap().len();
            let text = fs::read(entry.path()).ok().filter(|_| size <= 1 << 20).map(String::from_utf8);
            if let Some(Ok(text)) = text {
                texts.push((format!("{path}{name}"), text));
            }
        }
    }
}

/// Copies `wanted` source files of up to `longest_bytes` each into a folder; further rounds copy the same files again.
/// Returns the number of bytes.
pub(crate) fn copy_tree(registry: &Path, to: &Path, wanted: usize, longest_bytes: usize) -> u64 {
    let endings = [".rs", ".py", ".js", ".ts", ".go", ".java", ".c", ".h", ".cc", ".cs", ".md", ".toml"];
    let mut crates: Vec<PathBuf> = fs::read_dir(registry).unwrap().flatten().map(|one| one.path()).collect();
    crates.sort();
    let (mut count, mut bytes) = (0, 0);
    for round in 0.. {
        for one in &crates {
            let name = one.file_name().unwrap().to_str().unwrap();
            // Grammars are generated tables of many megabytes, bindings of an operating system are nearly so.
            if ["tree-sitter-", "windows", "linux-raw", "libsqlite"]
                .iter()
                .any(|start| name.starts_with(start))
            {
                continue;
            }
            for (path, text) in texts(one) {
                if !endings.iter().any(|ending| path.ends_with(ending)) || text.len() > longest_bytes {
                    continue;
                }
                let target = to.join(format!("round{round}/{name}/{path}"));
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                fs::write(target, &text).unwrap();
                (count, bytes) = (count + 1, bytes + text.len() as u64);
                if count == wanted {
                    return bytes;
                }
            }
        }
        assert!(count > 0, "there are no sources");
    }
    bytes
}
