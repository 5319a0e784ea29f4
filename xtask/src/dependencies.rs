//! The check of every dependency's licence, source and name against `deny.toml`.
//!
//! It reads the keys that cargo-deny reads, so that people who have that program can run it on the same file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use spdx::{Expression, ParseMode};

use crate::{Step, TaskError};

/// The rules of `deny.toml` that are checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependencyRules {
    /// SPDX identifiers, with their exception if there is one: `Apache-2.0 WITH LLVM-exception`.
    pub allowed_licenses: BTreeSet<String>,
    /// Names of packages that may not come in, each with its reason.
    pub banned: Vec<(String, String)>,
}

impl DependencyRules {
    /// Reads the rules from the text of `deny.toml`.
    ///
    /// # Errors
    ///
    /// [`TaskError::NotToml`] if the text is not TOML or allows no licence at all.
    pub fn from_toml(text: &str) -> Result<DependencyRules, TaskError> {
        let not_toml = |why: String| TaskError::NotToml { file: "deny.toml".to_owned(), why };
        let file: toml::Table = toml::from_str(text).map_err(|error| not_toml(error.to_string()))?;
        let strings = |value: Option<&toml::Value>| -> Vec<String> {
            let items = value.and_then(toml::Value::as_array).into_iter().flatten();
            items.filter_map(toml::Value::as_str).map(str::to_owned).collect()
        };
        let allowed_licenses: BTreeSet<String> =
            strings(file.get("licenses").and_then(|table| table.get("allow"))).into_iter().collect();
        if allowed_licenses.is_empty() {
            return Err(not_toml("`licenses.allow` names no licence".to_owned()));
        }
        let denied = file.get("bans").and_then(|table| table.get("deny")).and_then(toml::Value::as_array);
        let text_of = |entry: &toml::Value, key: &str| {
            entry.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_owned()
        };
        let banned = denied.into_iter().flatten();
        let banned = banned.map(|entry| (text_of(entry, "crate"), text_of(entry, "reason"))).collect();
        Ok(DependencyRules { allowed_licenses, banned })
    }

    /// Returns one line for each rule that a package breaks; `metadata` is what `cargo metadata` prints.
    #[must_use]
    pub fn findings(&self, metadata: &Value) -> Vec<String> {
        let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut findings: Vec<String> = packages.iter().flat_map(|one| self.findings_of(one)).collect();
        let registries: BTreeSet<&str> =
            packages.iter().filter_map(|one| one["source"].as_str()).filter(|one| is_registry(one)).collect();
        if registries.len() > 1 {
            let list: Vec<&str> = registries.into_iter().collect();
            findings.push(format!("packages come from several registries: {}", list.join(", ")));
        }
        findings
    }

    fn findings_of(&self, package: &Value) -> Vec<String> {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(source) = package["source"].as_str() else { return wildcards(name, package) };
        let mut findings = Vec::new();
        if !is_registry(source) {
            findings.push(format!("{name} comes from {source}: take it from the registry"));
        }
        if let Some((_, reason)) = self.banned.iter().find(|(banned, _)| banned == name) {
            findings.push(format!("{name} is banned: {reason}"));
        }
        match package["license"].as_str() {
            None => findings.push(format!("{name} states no licence")),
            Some(license) => findings.extend(self.license_finding(name, license)),
        }
        findings
    }

    fn license_finding(&self, name: &str, license: &str) -> Option<String> {
        let Ok(expression) = Expression::parse_mode(license, ParseMode::LAX) else {
            return Some(format!("{name}: '{license}' is not a licence expression"));
        };
        let is_allowed = expression.evaluate(|requirement| {
            // `Apache-2.0+` and the like name the identifier that they begin with.
            let text = requirement.to_string();
            self.allowed_licenses.contains(text.trim_end_matches('+'))
        });
        let advice = "is not allowed by deny.toml: add it with the reason, or take another package";
        (!is_allowed).then(|| format!("{name}: licence '{license}' {advice}"))
    }
}

/// Returns the dependencies of a package of ours that any version would satisfy.
fn wildcards(name: &str, package: &Value) -> Vec<String> {
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has_any_version = |one: &&Value| one["req"] == "*" && one["path"].is_null();
    let report = |one: &Value| {
        format!("{name} takes any version of {}: state one", one["name"].as_str().unwrap_or_default())
    };
    dependencies.iter().filter(has_any_version).map(report).collect()
}

fn is_registry(source: &str) -> bool {
    source.starts_with("registry+") || source.starts_with("sparse+")
}

/// Checks every dependency of every feature and platform.
///
/// # Errors
///
/// [`TaskError::DependenciesRefused`] after printing what was found; those of cargo and of reading `deny.toml`.
pub(crate) fn check_dependencies(root: &Path) -> Result<(), TaskError> {
    let path = root.join("deny.toml");
    let text = fs::read_to_string(&path).map_err(|source| TaskError::Unreadable { path, source })?;
    let rules = DependencyRules::from_toml(&text)?;
    // Manifests of other platforms' dependencies are needed, too, and may not be there yet.
    Step::cargo("fetch", &["fetch"]).folder(root).run()?;
    let arguments = ["metadata", "--format-version", "1", "--all-features", "--offline"];
    let output = Step::cargo("cargo metadata", &arguments).folder(root).output()?;
    let metadata: Value = serde_json::from_slice(&output)
        .map_err(|source| TaskError::NotJson { what: "cargo metadata".to_owned(), source })?;
    let findings = rules.findings(&metadata);
    for finding in &findings {
        println!("dependencies: {finding}");
    }
    let packages = metadata["packages"].as_array().map_or(0, Vec::len);
    println!("== dependencies: {packages} packages, {} findings", findings.len());
    if findings.is_empty() {
        Ok(())
    } else {
        Err(TaskError::DependenciesRefused { findings: findings.len() })
    }
}
