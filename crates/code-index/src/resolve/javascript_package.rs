//! The packages of a project in JavaScript: their names, and what they export.

use serde_json::Value;

use super::javascript::{index, module, plain};
use super::{Lead, Project, from_folder, inside, outward};

/// Conditions of exports, in the order in which they are taken.
const CONDITIONS: [&str; 8] =
    ["source", "types", "import", "module", "browser", "node", "require", "default"];

/// Conditions nested deeper are none that somebody has written.
const DEEPEST: usize = 16;

/// Where a name that is no path leads.
pub(super) fn resolve(project: &Project, folder: &str, target: &str) -> Lead {
    if target.starts_with('#') {
        let own = outward(folder).find_map(|around| Some((around, project.manifests.node.get(around)?)));
        let Some((around, package)) = own else { return Lead::Outside };
        let found = package.get("imports").and_then(|imports| exported(project, around, imports, target));
        return found.map_or(Lead::Nowhere, |found| Lead::To(vec![found]));
    }
    let parts: Vec<&str> = target.split('/').collect();
    let length = if target.starts_with('@') { 2 } else { 1 };
    if parts.len() < length {
        return Lead::Outside;
    }
    let (name, rest) = (parts[..length].join("/"), parts[length..].join("/"));
    let is_named = |package: &Value| package.get("name").and_then(Value::as_str) == Some(name.as_str());
    let Some((place, package)) = project.manifests.node.iter().find(|(_, package)| is_named(package)) else {
        return Lead::Outside;
    };
    let found = match package.get("exports") {
        Some(exports) => {
            let asked = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
            exported(project, place, exports, &asked)
        }
        None if rest.is_empty() => main(project, place, package),
        None => module(project, &inside(place, &rest))
            .or_else(|| module(project, &inside(place, &format!("src/{rest}")))),
    };
    found.map_or(Lead::Nowhere, |found| Lead::To(vec![found]))
}

/// The file that a package is when it is imported by its name.
pub(super) fn main(project: &Project, folder: &str, package: &Value) -> Option<usize> {
    let named = ["source", "types", "module", "main"].iter().filter_map(|key| package.get(key)?.as_str());
    let candidates = named.map(str::to_owned).chain(["index".to_owned(), "src/index".to_owned()]);
    candidates
        .filter_map(|path| from_folder(folder, &path))
        .find_map(|path| source_of(project, folder, &path))
}

/// The file behind an entry of `exports` or `imports`.
fn exported(project: &Project, folder: &str, table: &Value, asked: &str) -> Option<usize> {
    let is_table = table.as_object().is_some_and(|table| table.keys().any(|key| key.starts_with(['.', '#'])));
    if !is_table {
        return (asked == ".").then(|| chosen(project, folder, table, "", 0))?;
    }
    let table = table.as_object()?;
    let mut matching: Vec<(&String, &Value, &str)> =
        table.iter().filter_map(|(pattern, to)| Some((pattern, to, star(pattern, asked)?))).collect();
    matching.sort_by_key(|(pattern, ..)| std::cmp::Reverse(pattern.find('*').unwrap_or(usize::MAX)));
    let (_, to, rest) = matching.first()?;
    chosen(project, folder, to, rest, 0)
}

/// Goes through conditions to a path, and from there to a file.
fn chosen(project: &Project, folder: &str, value: &Value, rest: &str, depth: usize) -> Option<usize> {
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::String(path) => source_of(project, folder, &from_folder(folder, &path.replace('*', rest))?),
        Value::Array(several) => several.iter().find_map(|one| chosen(project, folder, one, rest, depth + 1)),
        Value::Object(conditions) => {
            let mut taken = CONDITIONS.iter().filter_map(|condition| conditions.get(*condition));
            taken.find_map(|one| chosen(project, folder, one, rest, depth + 1))
        }
        _ => None,
    }
}

/// The file of a path, or the source that it is built from: `dist/a.js` of `src/a.ts`.
fn source_of(project: &Project, folder: &str, path: &str) -> Option<usize> {
    let at = |path: &str| plain(project, path).or_else(|| index(project, path));
    at(path).or_else(|| {
        let inner = path.strip_prefix(folder)?.trim_start_matches('/');
        let (built, rest) = inner.split_once('/')?;
        let is_built = matches!(built, "dist" | "lib" | "build" | "out" | "esm" | "cjs");
        let base = rest
            .trim_end_matches(".js")
            .trim_end_matches(".mjs")
            .trim_end_matches(".cjs")
            .trim_end_matches(".d.ts");
        is_built.then(|| at(&inside(folder, &format!("src/{base}"))))?
    })
}

/// What a `*` in a pattern stands for; empty if there is none and both are the same.
pub(super) fn star<'t>(pattern: &str, target: &'t str) -> Option<&'t str> {
    match pattern.split_once('*') {
        Some((before, after)) => {
            let rest = target.strip_prefix(before)?;
            rest.strip_suffix(after)
        }
        None => (pattern == target).then_some(""),
    }
}
