//! Every page that a text refers to exists, and so does the heading.

use super::Finding;
use super::headings::anchors;
use crate::Tree;

const CHECK: &str = "link";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| !path.starts_with("fixtures/")) {
        for (index, line) in text.lines().enumerate() {
            let targets = match path.rsplit_once('.') {
                Some((_, "md")) => linked(path, line),
                Some((_, "rs")) => cited(line).into_iter().map(|page| (page, None)).collect(),
                _ => break,
            };
            let missing = targets.into_iter().filter_map(|(target, anchor)| missing(tree, target, anchor));
            findings.extend(
                missing.map(|target| Finding::at(CHECK, path, index, format!("there is no {target}"))),
            );
        }
    }
    findings
}

/// Returns the file that a link leads to, with its anchor, if one of the two does not exist.
fn missing(tree: &Tree, target: String, anchor: Option<String>) -> Option<String> {
    if !exists(tree, &target) {
        return Some(target);
    }
    let anchor = anchor.filter(|_| target.ends_with(".md"))?;
    let page = tree.text(&target)?;
    (!anchors(page).contains(&anchor)).then(|| format!("heading #{anchor} in {target}"))
}

/// The files that a line of a page links to, by path relative to the root, each with its anchor if the link has one; links to
/// other places are left out.
pub(super) fn linked(page: &str, line: &str) -> Vec<(String, Option<String>)> {
    let starts = line.match_indices("](").map(|(start, mark)| start + mark.len());
    let links = starts.filter_map(|start| line[start..].split(')').next());
    let inner = links.filter(|link| !link.contains(':'));
    let split = inner.map(|link| match link.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.to_owned())),
        None => (link, None),
    });
    let resolve = |path: &str| if path.is_empty() { page.to_owned() } else { beneath(page, path) };
    split.map(|(path, anchor)| (resolve(path), anchor)).collect()
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
