//! The links of a built book.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

use crate::TaskError;

/// The text of a built page, and the names that links may lead to.
struct BuiltPage {
    text: String,
    ids: BTreeSet<String>,
}

/// Returns one line for each link of a page to a file or an anchor that the book does not have. Links to other hosts are not
/// followed.
///
/// # Errors
///
/// [`TaskError::Unreadable`].
pub(super) fn broken(folder: &Path) -> Result<Vec<String>, TaskError> {
    let mut pages = BTreeMap::new();
    read_pages(folder, &mut pages)?;
    let link = Regex::new(r#"(?:href|src)="([^"]*)""#).expect("the expression is constant");
    let mut broken = Vec::new();
    // The page for printing is all others in one, and the one for errors has no fixed address.
    let checked =
        pages.iter().filter(|(path, _)| !path.ends_with("print.html") && !path.ends_with("404.html"));
    for (path, page) in checked {
        for target in link.captures_iter(&page.text).filter_map(|captures| captures.get(1)) {
            let target = target.as_str();
            let is_outer =
                target.contains("://") || target.starts_with("mailto:") || target.starts_with("data:");
            if !is_outer && !exists(&pages, path, target) {
                let name = path.strip_prefix(folder).unwrap_or(path).display();
                broken.push(format!("{name}: {target} does not exist"));
            }
        }
    }
    Ok(broken)
}

fn exists(pages: &BTreeMap<PathBuf, BuiltPage>, from: &Path, target: &str) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = path.split('?').next().unwrap_or_default();
    let file = if path.is_empty() { from.to_owned() } else { beside(from, path) };
    match pages.get(&file) {
        Some(page) => anchor.is_empty() || page.ids.contains(anchor),
        None => file.exists(),
    }
}

/// Resolves a link of a page on paper.
fn beside(page: &Path, link: &str) -> PathBuf {
    let mut resolved = page.parent().unwrap_or(page).to_owned();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            other => resolved.push(other),
        }
    }
    resolved
}

fn read_pages(folder: &Path, pages: &mut BTreeMap<PathBuf, BuiltPage>) -> Result<(), TaskError> {
    let unreadable = |path: &Path, source| TaskError::Unreadable { path: path.to_owned(), source };
    let id = Regex::new(r#" id="([^"]*)""#).expect("the expression is constant");
    for entry in fs::read_dir(folder).map_err(|source| unreadable(folder, source))? {
        let path = entry.map_err(|source| unreadable(folder, source))?.path();
        if path.is_dir() {
            read_pages(&path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let text = fs::read_to_string(&path).map_err(|source| unreadable(&path, source))?;
            let ids = id.captures_iter(&text).map(|captures| captures[1].to_owned()).collect();
            pages.insert(path, BuiltPage { text, ids });
        }
    }
    Ok(())
}
