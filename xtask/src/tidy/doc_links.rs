//! Every page that a text refers to exists.

use super::Finding;
use crate::Tree;

const CHECK: &str = "link";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| !path.starts_with("fixtures/")) {
        for (index, line) in text.lines().enumerate() {
            let targets = match path.rsplit_once('.') {
                Some((_, "md")) => linked(path, line),
                Some((_, "rs")) => cited(line),
                _ => break,
            };
            let missing = targets.into_iter().filter(|target| !exists(tree, target));
            findings.extend(
                missing.map(|target| Finding::at(CHECK, path, index, format!("there is no {target}"))),
            );
        }
    }
    findings
}

/// The files that a line of a page links to, by path relative to the root; links to other places are left out.
fn linked(page: &str, line: &str) -> Vec<String> {
    let starts = line.match_indices("](").map(|(start, mark)| start + mark.len());
    let links = starts.filter_map(|start| line[start..].split(')').next());
    let inner = links.filter(|link| !link.contains(':') && !link.starts_with('#'));
    inner.map(|link| beneath(page, link.split('#').next().unwrap_or_default())).collect()
}

/// The pages under `docs/` that a line of documentation in a source cites.
fn cited(line: &str) -> Vec<String> {
    let line = line.trim_start();
    if !line.starts_with("///") && !line.starts_with("//!") {
        return Vec::new();
    }
    let words = line.split(|character: char| {
        character.is_whitespace() || matches!(character, ',' | ';' | '(' | ')' | '`' | '<' | '>' | '"')
    });
    let pages = words.map(|word| word.trim_end_matches(['.', ':']));
    pages.filter(|word| word.starts_with("docs/") && word.ends_with(".md")).map(str::to_owned).collect()
}

/// Resolves a link of a page on paper.
fn beneath(page: &str, link: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Checks whether a path is a file, or a folder with files in it.
fn exists(tree: &Tree, target: &str) -> bool {
    let folder = format!("{target}/");
    tree.paths().any(|path| path == target || path.starts_with(&folder))
}
