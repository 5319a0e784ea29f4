//! JavaScript and TypeScript: relative paths, paths of `tsconfig.json`, and packages of the project.

use serde_json::Value;

use super::javascript_package::{self, star};
use super::{Lead, Project, from_folder, inside, outward, parent};

/// The extensions that an import may omit, in the order in which they are tried.
const ENDINGS: [&str; 10] = [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];

/// The most folders of `rootDirs`: all pairs are combined.
const MOST_ROOTS: usize = 16;

/// The most configurations in a chain of `extends`.
const LONGEST_CHAIN: usize = 16;

pub(super) fn resolve(project: &Project, file: usize, target: &str) -> Lead {
    let folder = parent(project.path(file));
    let target = target.split(['?', '!']).next().unwrap_or(target);
    if target == "." || target == ".." || target.starts_with("./") || target.starts_with("../") {
        let resolved = from_folder(folder, target)
            .and_then(|path| module(project, &path).or_else(|| in_other_root(project, folder, &path)));
        return resolved.map_or(Lead::Nowhere, |file| Lead::To(vec![file]));
    }
    match mapped(project, folder, target) {
        Lead::Outside => javascript_package::resolve(project, folder, target),
        other => other,
    }
}

/// Returns the file of a path without an extension, or of a package folder.
pub(super) fn module(project: &Project, path: &str) -> Option<usize> {
    let package = || {
        let package = project.manifests.node.get(path)?;
        javascript_package::main(project, path, package)
    };
    // The index of a folder comes last: a package's own manifest has priority.
    plain(project, path).or_else(package).or_else(|| index(project, path))
}

/// Returns the file of a path, with or without its extension. Reads no manifest, so it cannot recurse.
pub(super) fn plain(project: &Project, path: &str) -> Option<usize> {
    let exact = project.file(path);
    // TypeScript imports a `.ts` file by the name of its compiled `.js`.
    let written = || {
        let pairs: [(&str, &[&str]); 4] =
            [(".js", &[".ts", ".tsx"]), (".jsx", &[".tsx"]), (".mjs", &[".mts"]), (".cjs", &[".cts"])];
        pairs.iter().find_map(|(compiled, sources)| {
            let base = path.strip_suffix(compiled)?;
            sources.iter().find_map(|ending| project.file(&format!("{base}{ending}")))
        })
    };
    exact
        .or_else(written)
        .or_else(|| ENDINGS.iter().find_map(|ending| project.file(&format!("{path}{ending}"))))
}

/// Returns the index file of a folder.
pub(super) fn index(project: &Project, path: &str) -> Option<usize> {
    plain(project, &inside(path, "index"))
}

/// Returns the nearest `tsconfig.json` of a folder and those that it extends, the nearest first.
fn configurations<'p>(project: &'p Project, folder: &str) -> Vec<(String, &'p Value)> {
    let nearest = outward(folder).find_map(|around| {
        ["tsconfig.json", "jsconfig.json"]
            .iter()
            .map(|name| inside(around, name))
            .find(|path| project.manifests.typescript.contains_key(path))
    });
    nearest.map_or_else(Vec::new, |nearest| chain(project, nearest))
}

/// Resolves a path by `rootDirs`: folders that count as one.
fn in_other_root(project: &Project, folder: &str, path: &str) -> Option<usize> {
    let chain = configurations(project, folder);
    let roots: Vec<String> = chain.iter().find_map(|(configuration, value)| {
        let roots = value.pointer("/compilerOptions/rootDirs")?.as_array()?.iter().take(MOST_ROOTS);
        Some(roots.filter_map(|root| from_folder(parent(configuration), root.as_str()?)).collect())
    })?;
    let mut rests = roots.iter().filter_map(|root| match root.as_str() {
        "" => Some(path),
        root => path.strip_prefix(root)?.strip_prefix('/'),
    });
    rests.find_map(|rest| roots.iter().find_map(|root| module(project, &inside(root, rest))))
}

/// Resolves a name with the path aliases of the nearest `tsconfig.json`.
fn mapped(project: &Project, folder: &str, target: &str) -> Lead {
    let chain = configurations(project, folder);
    let base = chain.iter().find_map(|(path, value)| {
        let url = value.pointer("/compilerOptions/baseUrl")?.as_str()?;
        from_folder(parent(path), url)
    });
    let paths = chain.iter().find_map(|(path, value)| {
        let paths = value.pointer("/compilerOptions/paths")?.as_object()?;
        Some((base.clone().unwrap_or_else(|| parent(path).to_owned()), paths))
    });
    if let Some((base, paths)) = paths {
        let mut matching: Vec<(&String, &Value, &str)> =
            paths.iter().filter_map(|(pattern, to)| Some((pattern, to, star(pattern, target)?))).collect();
        // The most specific pattern comes first.
        matching.sort_by_key(|(pattern, ..)| std::cmp::Reverse(pattern.find('*').unwrap_or(usize::MAX)));
        if let Some((_, to, rest)) = matching.first() {
            let substitutes = to.as_array().into_iter().flatten().filter_map(Value::as_str);
            let mut files = substitutes.filter_map(|substitute| {
                from_folder(&base, &substitute.replacen('*', rest, 1)).and_then(|path| module(project, &path))
            });
            if let Some(file) = files.next() {
                return Lead::To(vec![file]);
            }
            // A bare `*` also matches libraries.
            return if *matching[0].0 == "*" { Lead::Outside } else { Lead::Nowhere };
        }
    }
    let from_base = base.and_then(|base| from_folder(&base, target)).and_then(|path| module(project, &path));
    from_base.map_or(Lead::Outside, |file| Lead::To(vec![file]))
}

/// Returns a configuration and those that it extends, the nearest first.
fn chain(project: &Project, first: String) -> Vec<(String, &Value)> {
    let mut chain: Vec<(String, &Value)> = Vec::new();
    let mut open = vec![first];
    while let Some(path) = open.pop() {
        let Some(value) = project.manifests.typescript.get(&path) else { continue };
        if chain.len() >= LONGEST_CHAIN || chain.iter().any(|(other, _)| *other == path) {
            break;
        }
        let extended: Vec<&str> = match value.get("extends") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        for one in extended.iter().filter(|one| one.starts_with('.')) {
            let Some(at) = from_folder(parent(&path), one) else { continue };
            let with_ending = format!("{at}.json");
            open.push(if project.manifests.typescript.contains_key(&at) { at } else { with_ending });
        }
        chain.push((path, value));
    }
    chain
}
