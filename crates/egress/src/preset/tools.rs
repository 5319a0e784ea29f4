//! Queries each tool, and parses its answer.

use serde_json::Value;

use super::answer::entries;
use super::cargo;
use super::tool::{ToolError, Tools};
use crate::allow::AllowEntry;

/// A query to a tool.
type Ask = fn(&Tools) -> Result<Vec<AllowEntry>, ToolError>;

/// The presets by their names.
pub(super) const TOOLS: [(&str, Ask); 7] = [
    ("npm", npm),
    ("pip", pip),
    ("uv", uv),
    ("cargo", cargo::ask),
    ("go", go),
    ("maven", maven),
    ("gradle", gradle),
];

/// Returns the registry, and those of scopes.
fn npm(tools: &Tools) -> Result<Vec<AllowEntry>, ToolError> {
    // The file keeps npm from looking for a project in the folders above.
    let output = tools.run("npm", &["config", "list", "--json"], &[], &[("package.json", "{}")])?;
    let settings: Value = serde_json::from_str(&output.stdout).map_err(|_| output.unreadable())?;
    let settings = settings.as_object().ok_or(ToolError::SaysNothing)?;
    let is_registry = |key: &str| key == "registry" || key.ends_with(":registry");
    entries(settings.iter().filter(|(key, _)| is_registry(key)).filter_map(|(_, value)| value.as_str()))
}

/// Returns the indexes of the settings, or the default in pip's help, and the address of one of their files: an index often
/// refers to files elsewhere.
fn pip(tools: &Tools) -> Result<Vec<AllowEntry>, ToolError> {
    let settings = tools.run("pip", &["config", "list"], &[], &[])?;
    let mut urls = pip_settings(&settings.stdout);
    if !urls.iter().any(|(key, _)| key == "index-url") {
        let help = tools.run("pip", &["install", "--help"], &[], &[])?;
        urls.extend(stated_default(&help.stdout, "--index-url").map(|url| ("index-url".to_owned(), url)));
    }
    // Reports where pip would install itself from, without installing.
    let report = tools.run(
        "pip",
        &["install", "--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--report", "-", "pip"],
        &[],
        &[],
    )?;
    let report: Value = serde_json::from_str(&report.stdout).unwrap_or_default();
    let file = report.pointer("/install/0/download_info/url").and_then(Value::as_str);
    entries(urls.iter().map(|(_, url)| url.as_str()).chain(file))
}

/// Reads the lines `:env:.index-url='https://…'` and `global.extra-index-url='…'` of pip's settings.
fn pip_settings(text: &str) -> Vec<(String, String)> {
    const KEYS: [&str; 3] = ["index-url", "extra-index-url", "find-links"];
    let mut urls = Vec::new();
    for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
        let key = key.rsplit('.').next().unwrap_or(key);
        if KEYS.contains(&key) {
            // The value is quoted as in Python; several are separated by line breaks.
            let value = value.trim().trim_matches(['\'', '"']).replace("\\n", " ");
            urls.extend(value.split_whitespace().map(|url| (key.to_owned(), url.to_owned())));
        }
    }
    urls
}

/// Finds the URL that a help text states as the default of an option: the first one after the option and `default`.
fn stated_default(help: &str, option: &str) -> Option<String> {
    let description = &help[help.find(&format!("{option} <"))?..];
    let default = &description[description.find("default")?..];
    let start = default.find("http")?;
    let url = default[start..].split(|char: char| char.is_whitespace() || ")]>,".contains(char)).next()?;
    Some(url.to_owned())
}

/// Returns the indexes and files that uv would lock for one package.
fn uv(tools: &Tools) -> Result<Vec<AllowEntry>, ToolError> {
    let arguments = ["pip", "compile", "--quiet", "--no-deps", "--format", "pylock.toml", "in.txt"];
    let output = tools.run("uv", &arguments, &[], &[("in.txt", "pip\n")])?;
    let lock: toml::Table = output.stdout.parse().map_err(|_| output.unreadable())?;
    let mut urls = Vec::new();
    collect_urls(&toml::Value::Table(lock), &mut urls);
    // The lock omits the default index.
    let arguments = ["pip", "compile", "--quiet", "--no-deps", "--emit-index-url", "in.txt"];
    let output = tools.run("uv", &arguments, &[], &[("in.txt", "pip\n")])?;
    let is_index = |option: &&str| matches!(*option, "--index-url" | "--extra-index-url");
    let options = output.stdout.lines().filter_map(|line| line.trim().split_once(' '));
    urls.extend(options.filter(|(option, _)| is_index(option)).map(|(_, url)| url.trim().to_owned()));
    entries(urls.iter().map(String::as_str))
}

/// Collects the values of `index` and `url` at any depth.
fn collect_urls(value: &toml::Value, urls: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                match value.as_str().filter(|_| matches!(key.as_str(), "index" | "url")) {
                    Some(url) => urls.push(url.to_owned()),
                    None => collect_urls(value, urls),
                }
            }
        }
        toml::Value::Array(values) => values.iter().for_each(|value| collect_urls(value, urls)),
        _ => {}
    }
}

/// Returns the module proxies and the checksum database.
fn go(tools: &Tools) -> Result<Vec<AllowEntry>, ToolError> {
    let output = tools.run("go", &["env", "-json", "GOPROXY", "GOSUMDB"], &[], &[])?;
    let settings: Value = serde_json::from_str(&output.stdout).map_err(|_| output.unreadable())?;
    let text = |key: &str| settings.get(key).and_then(Value::as_str).unwrap_or_default();
    let proxies = text("GOPROXY").split([',', '|']).map(str::to_owned);
    // `NAME`, `NAME+KEY`, or either followed by a URL.
    let mut words = text("GOSUMDB").split_whitespace();
    let name = words.next().and_then(|name| name.split('+').next()).filter(|name| *name != "off");
    let sums = words.next().map(str::to_owned).or_else(|| name.map(|name| format!("https://{name}")));
    let urls: Vec<String> = proxies.chain(sums).collect();
    entries(urls.iter().map(String::as_str))
}

/// Returns the repositories that Maven names when it cannot fetch a missing plugin offline.
fn maven(tools: &Tools) -> Result<Vec<AllowEntry>, ToolError> {
    let output = tools.run("mvn", &["-B", "-N", "-o", "preset.ask:absent:1:none"], &[], &[])?;
    let named = output.both.split("Cannot access ").skip(1).filter_map(|rest| {
        let url = rest.split_once('(')?.1.split_once(')')?.0;
        Some(url.trim())
    });
    entries(named)
}

/// Returns Gradle's named repositories, as changed by the user's init scripts.
fn gradle(tools: &Tools) -> Result<Vec<AllowEntry>, ToolError> {
    const ASK: &str = "gradle.allprojects { repositories { mavenCentral(); gradlePluginPortal() } }\n\
         gradle.projectsEvaluated {\n\
         gradle.rootProject.repositories.each { if (it.hasProperty('url')) println('fetches from ' + it.url) }\n\
         }\n";
    let files = [("settings.gradle", ""), ("build.gradle", ""), ("ask.gradle", ASK)];
    let arguments = ["--offline", "--quiet", "--no-daemon", "--init-script", "ask.gradle", "help"];
    let output = tools.run("gradle", &arguments, &[], &files)?;
    let urls: Vec<&str> =
        output.stdout.lines().filter_map(|line| line.trim().strip_prefix("fetches from ")).collect();
    if urls.is_empty() {
        return Err(output.unreadable());
    }
    entries(urls)
}
