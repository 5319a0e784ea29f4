//! Cargo's settings without values that may be secret.

use toml::{Table, Value};

use crate::launcher::tool_settings::without_users_in_urls;

/// Tables that hold no secrets. All others are left out, such as `env` and `credential-alias`, which can hold anything.
const HARMLESS_TABLES: [&str; 19] = [
    "alias",
    "build",
    "cache",
    "cargo-new",
    "doc",
    "future-incompat-report",
    "http",
    "install",
    "net",
    "patch",
    "paths",
    "profile",
    "registries",
    "registry",
    "resolver",
    "source",
    "target",
    "term",
    "unstable",
];

/// The settings of a registry that are not about signing in to it.
const HARMLESS_IN_REGISTRY: [&str; 3] = ["default", "index", "protocol"];

/// Returns the settings without tokens, passwords, comments and unknown tables; `None` if they cannot be parsed.
pub(crate) fn without_secrets(text: &str) -> Option<String> {
    let mut settings: Table = text.parse().ok()?;
    settings.retain(|key, value| HARMLESS_TABLES.contains(&key) && !matches!(value, Value::String(_)));
    let keep_harmless = |registry: &mut Table| registry.retain(|key, _| HARMLESS_IN_REGISTRY.contains(&key));
    if let Some(registry) = settings.get_mut("registry").and_then(Value::as_table_mut) {
        keep_harmless(registry);
    }
    if let Some(registries) = settings.get_mut("registries").and_then(Value::as_table_mut) {
        registries.iter_mut().filter_map(|(_, registry)| registry.as_table_mut()).for_each(keep_harmless);
    }
    if let Some(http) = settings.get_mut("http").and_then(Value::as_table_mut) {
        // A proxy may be named without `http://`.
        http.retain(|key, value| key != "proxy" || value.as_str().is_some_and(|proxy| !proxy.contains('@')));
    }
    toml::to_string(&without_users(Value::Table(settings))).ok()
}

/// Strips the users from all URLs. A source needs its URL, so the rest stays.
fn without_users(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_users_in_urls(&text)),
        Value::Array(values) => Value::Array(values.into_iter().map(without_users).collect()),
        // A `patch` table is keyed by URL.
        Value::Table(table) => Value::Table(
            table
                .into_iter()
                .map(|(key, value)| (without_users_in_urls(&key), without_users(value)))
                .collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = r#"
# password = "SECRET"
[build]
jobs = 2 # SECRET
[env]
MY_KEY = "SECRET"
[http]
proxy = "me:SECRET@proxy.example:80"
timeout = 7
[net]
offline = true
[registry]
default = "mine"
token = "SECRET"
[registries.mine]
index = "sparse+https://mine.example/"
token = "SECRET"
secret-key = "SECRET"
[registries]
"other" = { index = "https://me:SECRET@other.example/", token = "SECRET" }
[source.crates-io]
replace-with = "vendored"
[source.vendored]
directory = "/vendor"
[source.leaky]
registry = "https://SECRET@leaky.example/"
[patch."https://me:SECRET@git.example/x"]
x = { path = "/x" }
[target.x86_64-unknown-linux-gnu]
linker = "clang"
rustflags = ["-C", "link-arg=https://SECRET@host"]
[credential-alias]
mine = ["tool", "SECRET"]
[new-in-2030]
key = "SECRET"
"#;

    #[test]
    fn what_builds_need_is_kept_and_no_secret_is() {
        assert!(SETTINGS.parse::<Table>().is_ok());
        let copy = without_secrets(SETTINGS).unwrap();
        assert!(!copy.contains("SECRET") && SETTINGS.matches("SECRET").count() == 14, "{copy}");
        let kept: Table = copy.parse().unwrap();
        let expected = r#"
build.jobs = 2
http.timeout = 7
net.offline = true
registry.default = "mine"
registries.mine.index = "sparse+https://mine.example/"
registries.other.index = "https://other.example/"
source.crates-io.replace-with = "vendored"
source.vendored.directory = "/vendor"
source.leaky.registry = "https://leaky.example/"
patch."https://git.example/x".x.path = "/x"
target.x86_64-unknown-linux-gnu.linker = "clang"
target.x86_64-unknown-linux-gnu.rustflags = ["-C", "link-arg=https://host"]
"#;
        assert_eq!(kept, expected.parse().unwrap());
    }

    #[test]
    fn what_cannot_be_parsed_is_not_shown() {
        assert_eq!(without_secrets("[registry\ntoken = 1"), None);
        assert_eq!(without_secrets("net = \"SECRET\"").as_deref(), Some(""));
    }
}
