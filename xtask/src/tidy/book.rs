//! The pages under `docs/` are a book: every page is in its table of contents, and none needs a file outside of it.

use super::Finding;
use super::doc_links::linked;
use crate::Tree;

const CHECK: &str = "book";
const CONTENTS: &str = "docs/SUMMARY.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(contents) = tree.text(CONTENTS) else { return Vec::new() };
    let listed: Vec<String> =
        contents.lines().flat_map(|line| linked(CONTENTS, line)).map(|(page, _)| page).collect();
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| is_page(path)) {
        if path != CONTENTS && !listed.iter().any(|page| page == path) {
            findings.push(Finding::new(CHECK, path, format!("is not listed in {CONTENTS}")));
        }
        for (index, line) in text.lines().enumerate() {
            let outer = linked(path, line).into_iter().filter(|(target, _)| !target.starts_with("docs/"));
            findings.extend(outer.map(|(target, _)| {
                let text = format!("links to {target}, which is not in the book: name it without a link");
                Finding::at(CHECK, path, index, text)
            }));
        }
    }
    findings
}

fn is_page(path: &str) -> bool {
    path.starts_with("docs/") && path.ends_with(".md")
}
