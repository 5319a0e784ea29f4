//! Manifests: files that define packages, modules and path aliases.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The most values to keep from all JSON manifests; further ones are left out. A value takes a hundred times the memory of its
/// few bytes in a file.
const MOST_VALUES: usize = 500_000;

/// The keys of `package.json` that matter for imports.
const PACKAGE_KEYS: [&str; 7] = ["name", "source", "types", "module", "main", "exports", "imports"];
/// The keys of `tsconfig.json` that matter for imports, and those of its compiler options.
const CONFIGURATION_KEYS: [&str; 2] = ["extends", "compilerOptions"];
const COMPILER_KEYS: [&str; 3] = ["baseUrl", "paths", "rootDirs"];

/// Returns true for a manifest.
pub(crate) fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "Cargo.toml" | "go.mod" | "package.json" | "jsconfig.json")
        || (cfg!(feature = "more-languages") && name == "pubspec.yaml")
        || (name.starts_with("tsconfig") && name.ends_with(".json"))
}

/// The manifests of a project, by their folders; the root is the empty text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifests {
    pub(crate) cargo: BTreeMap<String, CargoPackage>,
    /// Names of Go modules.
    pub(crate) go: BTreeMap<String, GoModule>,
    pub(crate) node: BTreeMap<String, Value>,
    /// Keyed by path, because a configuration extends another by its path.
    pub(crate) typescript: BTreeMap<String, Value>,
    /// Names of Dart packages.
    #[cfg(feature = "more-languages")]
    pub(crate) dart: BTreeMap<String, String>,
    /// The number of values in `node` and `typescript`.
    values: usize,
}

/// A package of Rust.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CargoPackage {
    /// The name under which other packages import it.
    pub(crate) library: String,
    /// The library's file, relative to the manifest's folder.
    pub(crate) library_path: Option<String>,
    /// Explicit paths of programs, tests, benchmarks and examples.
    pub(crate) roots: Vec<String>,
    /// Renamed dependencies: the name in the code, and the library's own name.
    pub(crate) renamed: BTreeMap<String, String>,
}

/// A module of Go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GoModule {
    pub(crate) name: String,
    /// Modules replaced by a local folder: name and folder, relative to the manifest.
    pub(crate) replaced: Vec<(String, String)>,
}

impl Manifests {
    /// Adds a manifest; ignores one that cannot be parsed.
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
            #[cfg(feature = "more-languages")]
            "pubspec.yaml" => {
                // The only relevant line is a key of the outermost level, which does not need a YAML parser.
                let name = text.lines().find_map(|line| line.strip_prefix("name:"));
                if let Some(name) = name.map(|name| name.split('#').next().unwrap_or_default()) {
                    let name = name.trim().trim_matches(['\'', '"']);
                    self.dart.insert(folder.to_owned(), name.to_owned());
                }
            }
            "package.json" => {
                if let Some(value) = serde_json::from_str(text).ok().and_then(|value| self.package(value)) {
                    self.node.insert(folder.to_owned(), value);
                }
            }
            _ => {
                let value = jsonc_parser::parse_to_serde_value::<Value>(text, &Default::default());
                if let Some(value) = value.ok().and_then(|value| self.configuration(value)) {
                    self.typescript.insert(path.to_owned(), value);
                }
            }
        }
    }

    fn package(&mut self, value: Value) -> Option<Value> {
        self.counted(Value::Object(with_keys(value, &PACKAGE_KEYS)))
    }

    fn configuration(&mut self, value: Value) -> Option<Value> {
        let mut kept = with_keys(value, &CONFIGURATION_KEYS);
        if let Some(options) = kept.get_mut("compilerOptions") {
            *options = Value::Object(with_keys(options.take(), &COMPILER_KEYS));
        }
        self.counted(Value::Object(kept))
    }

    /// Counts the values of a manifest; `None` if the total is too large.
    fn counted(&mut self, value: Value) -> Option<Value> {
        let all = self.values + count(&value);
        (all <= MOST_VALUES).then(|| {
            self.values = all;
            value
        })
    }
}

/// Returns the members of an object with these keys; none of another value.
fn with_keys(value: Value, keys: &[&str]) -> Map<String, Value> {
    let Value::Object(members) = value else { return Map::new() };
    members.into_iter().filter(|(key, _)| keys.contains(&key.as_str())).collect()
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

// The three parsers limit nesting themselves, and the text is at most `IndexLimits::file_bytes` long.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_keys_for_imports_are_kept() {
        let mut manifests = Manifests::default();
        manifests
            .add("a/package.json", r#"{"name": "a", "scripts": {"x": [1, 2]}, "exports": {".": "./a.js"}}"#);
        manifests
            .add("tsconfig.json", r#"{"files": [1], "compilerOptions": {"baseUrl": ".", "lib": ["x"]}}"#);
        manifests.add("b/package.json", "[1, 2]");
        assert_eq!(manifests.node["a"], json!({ "name": "a", "exports": { ".": "./a.js" } }));
        assert_eq!(manifests.typescript["tsconfig.json"], json!({ "compilerOptions": { "baseUrl": "." } }));
        assert_eq!(manifests.node["b"], json!({}));
    }

    #[test]
    fn values_of_all_manifests_are_bounded() {
        let mut manifests = Manifests::default();
        let text = format!(r#"{{"name": "a", "exports": [{}0]}}"#, "[],".repeat(300_000));
        for number in 0..5 {
            manifests.add(&format!("{number}/package.json"), &text);
            manifests.add(&format!("{number}/tsconfig.json"), &text.replace("exports", "extends"));
        }
        assert_eq!((manifests.node.len(), manifests.typescript.len()), (1, 0));
        // The control: a small one is kept next to a large one.
        manifests.add("small/package.json", r#"{"name": "small"}"#);
        assert!(manifests.node.contains_key("small"));
    }
}
