//! JavaScript packages of a project: their names and exports.

use serde_json::Value;

use super::javascript::{index, module, plain};
use super::{Lead, Project, from_folder, inside, outward};

/// Export conditions, in the order of preference.
const CONDITIONS: [&str; 8] =
    ["source", "types", "import", "module", "browser", "node", "require", "default"];

/// The deepest nesting of conditions; deeper ones are ignored.
const DEEPEST: usize = 16;

/// The longest path of an export; a longer one is not a file.
const LONGEST_PATH_BYTES: usize = 4096;

/// Resolves a package name.
pub(super) fn resolve(project: &Project, folder: &str, target: &str) -> Lead {
    if target.starts_with('#') {
        let own = outward(folder).find_map(|around| Some((around, project.manifests.node.get(around)?)));
        let Some((around, package)) = own else { return Lead::Outside };
        let file = package.get("imports").and_then(|imports| exported(project, around, imports, target));
        return file.map_or(Lead::Nowhere, |file| Lead::To(vec![file]));
    }
    let parts: Vec<&str> = target.split('/').collect();
    let length = if target.starts_with('@') { 2 } else { 1 };
    if parts.len() < length {
        return Lead::Outside;
    }
    let (name, rest) = (parts[..length].join("/"), parts[length..].join("/"));
    let is_named = |package: &Value| package.get("name").and_then(Value::as_str) == Some(name.as_str());
    let Some((root, package)) = project.manifests.node.iter().find(|(_, package)| is_named(package)) else {
        return Lead::Outside;
    };
    let file = match package.get("exports") {
        Some(exports) => {
            let subpath = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
            exported(project, root, exports, &subpath)
        }
        None if rest.is_empty() => main(project, root, package),
        None => module(project, &inside(root, &rest))
            .or_else(|| module(project, &inside(root, &format!("src/{rest}")))),
    };
    file.map_or(Lead::Nowhere, |file| Lead::To(vec![file]))
}

/// Returns the entry file of a package.
pub(super) fn main(project: &Project, folder: &str, package: &Value) -> Option<usize> {
    let named = ["source", "types", "module", "main"].iter().filter_map(|key| package.get(key)?.as_str());
    let candidates = named.map(str::to_owned).chain(["index".to_owned(), "src/index".to_owned()]);
    candidates
        .filter_map(|path| from_folder(folder, &path))
        .find_map(|path| source_of(project, folder, &path))
}

/// Resolves a subpath with the `exports` or `imports` of a package.
fn exported(project: &Project, folder: &str, table: &Value, subpath: &str) -> Option<usize> {
    let is_table = table.as_object().is_some_and(|table| table.keys().any(|key| key.starts_with(['.', '#'])));
    if !is_table {
        return (subpath == ".").then(|| chosen(project, folder, table, "", 0))?;
    }
    let table = table.as_object()?;
    let mut matching: Vec<(&String, &Value, &str)> =
        table.iter().filter_map(|(pattern, to)| Some((pattern, to, star(pattern, subpath)?))).collect();
    matching.sort_by_key(|(pattern, ..)| std::cmp::Reverse(pattern.find('*').unwrap_or(usize::MAX)));
    let (_, to, rest) = matching.first()?;
    chosen(project, folder, to, rest, 0)
}

/// Follows conditions to a path, and that to a file. Recurses at most [`DEEPEST`] levels.
fn chosen(project: &Project, folder: &str, value: &Value, rest: &str, depth: usize) -> Option<usize> {
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::String(path) if path.len() > LONGEST_PATH_BYTES => None,
        Value::String(path) => source_of(project, folder, &from_folder(folder, &path.replace('*', rest))?),
        Value::Array(several) => several.iter().find_map(|one| chosen(project, folder, one, rest, depth + 1)),
        Value::Object(conditions) => {
            let mut taken = CONDITIONS.iter().filter_map(|condition| conditions.get(*condition));
            taken.find_map(|one| chosen(project, folder, one, rest, depth + 1))
        }
        _ => None,
    }
}

/// Returns the file of a path, or the source that it is built from: `src/a.ts` for `dist/a.js`.
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

/// Returns the text that the `*` of a pattern matches; empty if there is none and both are equal.
pub(super) fn star<'t>(pattern: &str, target: &'t str) -> Option<&'t str> {
    match pattern.split_once('*') {
        Some((before, after)) => {
            let rest = target.strip_prefix(before)?;
            rest.strip_suffix(after)
        }
        None => (pattern == target).then_some(""),
    }
}
