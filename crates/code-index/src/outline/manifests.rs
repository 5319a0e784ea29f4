//! Files that say what the folders of a project are: packages, modules, and names for paths.

use std::collections::BTreeMap;

use serde_json::Value;

/// Whether a file says where imports lead.
pub(crate) fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "Cargo.toml" | "go.mod" | "package.json" | "jsconfig.json")
        || (name.starts_with("tsconfig") && name.ends_with(".json"))
}

/// The manifests of a project, by the folder that each is in; the root is the empty text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifests {
    pub(crate) cargo: BTreeMap<String, CargoPackage>,
    /// Names of Go modules.
    pub(crate) go: BTreeMap<String, GoModule>,
    pub(crate) node: BTreeMap<String, Value>,
    /// By path, because one extends another by its name.
    pub(crate) typescript: BTreeMap<String, Value>,
}

/// A package of Rust.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CargoPackage {
    /// The name by which others import it.
    pub(crate) library: String,
    /// The library's file, relative to the manifest's folder.
    pub(crate) library_path: Option<String>,
    /// Files of programs, tests, benchmarks and examples that are named.
    pub(crate) roots: Vec<String>,
    /// Other names for dependencies: what the code says, and the library's own name.
    pub(crate) renamed: BTreeMap<String, String>,
}

/// A module of Go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GoModule {
    pub(crate) name: String,
    /// Modules that lie in a folder beside: name and folder, relative to the manifest.
    pub(crate) replaced: Vec<(String, String)>,
}

impl Manifests {
    /// Takes in a manifest. One that cannot be read says nothing.
    pub(crate) fn add(&mut self, path: &str, text: &str) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        match name {
            "Cargo.toml" => {
                if let Some(package) = cargo_package(text) {
                    self.cargo.insert(folder.to_owned(), package);
                }
            }
            "go.mod" => {
                if let Some(module) = go_module(text) {
                    self.go.insert(folder.to_owned(), module);
                }
            }
            "package.json" => {
                if let Ok(value) = serde_json::from_str(text) {
                    self.node.insert(folder.to_owned(), value);
                }
            }
            _ => {
                if let Ok(value) = jsonc_parser::parse_to_serde_value::<Value>(text, &Default::default()) {
                    self.typescript.insert(path.to_owned(), value);
                }
            }
        }
    }
}

fn cargo_package(text: &str) -> Option<CargoPackage> {
    let table: toml::Table = text.parse().ok()?;
    let name = table.get("package")?.get("name")?.as_str()?;
    let text_at =
        |value: &toml::Value, key: &str| value.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let library = table.get("lib");
    let library_name = library.and_then(|library| text_at(library, "name"));
    let mut package = CargoPackage {
        library: library_name.unwrap_or_else(|| name.replace('-', "_")),
        library_path: library.and_then(|library| text_at(library, "path")),
        ..CargoPackage::default()
    };
    for kind in ["bin", "test", "bench", "example"] {
        let targets = table.get(kind).and_then(toml::Value::as_array);
        package.roots.extend(targets.into_iter().flatten().filter_map(|target| text_at(target, "path")));
    }
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for (key, value) in table.get(kind).and_then(toml::Value::as_table).into_iter().flatten() {
            if let Some(name) = text_at(value, "package") {
                package.renamed.insert(key.replace('-', "_"), name.replace('-', "_"));
            }
        }
    }
    Some(package)
}

fn go_module(text: &str) -> Option<GoModule> {
    let mut module = GoModule::default();
    let mut in_replace = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if let Some(name) = line.strip_prefix("module ") {
            module.name = name.trim().trim_matches('"').to_owned();
        }
        let replaced = match line.strip_prefix("replace ") {
            Some("(") => {
                in_replace = true;
                None
            }
            Some(rest) => Some(rest),
            None if in_replace => Some(line),
            None => None,
        };
        in_replace &= line != ")";
        if let Some((from, to)) = replaced.and_then(|rest| rest.split_once("=>"))
            && let (Some(name), Some(folder)) = (from.split_whitespace().next(), to.split_whitespace().next())
            && folder.starts_with('.')
        {
            module.replaced.push((name.to_owned(), folder.to_owned()));
        }
    }
    (!module.name.is_empty()).then_some(module)
}
