//! The crates of the workspace and their dependencies.

use std::path::Path;

use serde_json::Value;

use crate::{Step, TaskError};

/// One package of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crate {
    /// The package's name.
    pub name: String,
    /// Its folder relative to the root, `crates/rel-path` for instance.
    pub folder: String,
    /// Its dependencies outside of its tests, features included; sorted.
    pub dependencies: Vec<String>,
    /// The names of its benchmarks.
    pub benches: Vec<String>,
}

/// The packages of a workspace, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrateList {
    /// The packages.
    pub crates: Vec<Crate>,
}

impl CrateList {
    /// Asks cargo.
    ///
    /// # Errors
    ///
    /// Those of the program, and [`TaskError::NotJson`].
    pub fn read(root: &Path) -> Result<CrateList, TaskError> {
        let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
        let output = Step::cargo("cargo metadata", &arguments).folder(root).output()?;
        let metadata = serde_json::from_slice(&output)
            .map_err(|source| TaskError::NotJson { what: "cargo metadata".to_owned(), source })?;
        Ok(CrateList::from_metadata(&metadata))
    }

    /// Reads what `cargo metadata --no-deps` prints.
    #[must_use]
    pub fn from_metadata(metadata: &Value) -> CrateList {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let root = text(&metadata["workspace_root"]);
        let read = |package: &Value| {
            let manifest = text(&package["manifest_path"]);
            let folder = manifest.strip_suffix("/Cargo.toml").unwrap_or(&manifest);
            let folder = folder.strip_prefix(&root).unwrap_or(folder).trim_start_matches('/');
            // `kind` is null for a normal dependency, `build` for a build script's and `dev` for the tests'.
            let normal = items(&package["dependencies"]).into_iter().filter(|one| one["kind"] != "dev");
            let mut dependencies: Vec<String> = normal.map(|one| text(&one["name"])).collect();
            dependencies.sort();
            dependencies.dedup();
            let targets = items(&package["targets"]);
            let is_bench = |target: &&Value| items(&target["kind"]).contains(&Value::from("bench"));
            Crate {
                name: text(&package["name"]),
                folder: folder.to_owned(),
                dependencies,
                benches: targets.iter().filter(is_bench).map(|target| text(&target["name"])).collect(),
            }
        };
        let mut crates: Vec<Crate> = items(&metadata["packages"]).iter().map(read).collect();
        crates.sort_by(|left, right| left.name.cmp(&right.name));
        CrateList { crates }
    }
}
