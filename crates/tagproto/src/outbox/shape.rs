//! The shape of a folder that is too large to be listed: its folders with counts, breadth first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wap_core::{Call, ExploreFiles, ExploredFile, WapError, Workspace};

use super::ListedEntry;
use super::line_text::escape_name;

/// The maximum number of folder listings for one shape.
const MOST_LISTINGS: usize = 150;

/// The numbers of file extensions and of notable files that describe a folder.
const ENDINGS: usize = 2;
const NOTABLE: usize = 4;

/// The names of files that identify the kind of a folder.
const MANIFESTS: [&str; 12] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "setup.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "CMakeLists.txt",
    "Makefile",
    "Gemfile",
    "composer.json",
];

/// The listed folders and files of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    folders: BTreeMap<String, Folder>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Folder {
    /// The direct child files.
    files: Vec<ListedEntry>,
    /// The paths of the direct child folders.
    folders: BTreeSet<String>,
    /// The number of descendants; `None` if it was not listed.
    count: Option<Count>,
    /// True if all direct children are recorded here.
    is_open: bool,
}

/// The number of descendants of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// The number of files, all of which were listed.
    Files(u64),
    /// The number of files and folders as counted by the workspace, too many to list.
    Entries(u64),
}

/// A folder that a list shows with a count instead of its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFolder {
    /// The path, without a slash at its end.
    pub path: String,
    /// The text in parentheses: a count, file extensions, and the files that identify the kind of folder.
    pub about: String,
}

impl Shape {
    /// Surveys a workspace: large folders one by one, small folders with all their descendants.
    ///
    /// # Errors
    ///
    /// The workspace's error if the root cannot be listed. Other folders that cannot be listed are shown without a count.
    pub(super) fn survey<W: Workspace + ?Sized>(
        workspace: &W,
        call: &Call<'_>,
        request: impl Fn(&str, bool) -> ExploreFiles,
    ) -> Result<Shape, WapError> {
        let mut shape = Shape::default();
        let mut waiting = VecDeque::from([String::new()]);
        let mut listings = 0;
        while let Some(folder) = waiting.pop_front() {
            shape.folders.entry(folder.clone()).or_default();
            if listings >= MOST_LISTINGS {
                continue;
            }
            listings += 1;
            let explored = match workspace.explore_files(call, &request(&folder, true)) {
                Ok(explored) => explored,
                Err(error) if folder.is_empty() => return Err(error),
                Err(_) => continue,
            };
            if !explored.is_truncated {
                shape.folders.entry(folder.clone()).or_default().is_open = true;
                shape.add_all(explored.files);
                continue;
            }
            listings += 1;
            let state = shape.folders.entry(folder.clone()).or_default();
            state.count = Some(Count::Entries(explored.total_found));
            let Ok(direct) = workspace.explore_files(call, &request(&folder, false)) else { continue };
            let state = shape.folders.entry(folder.clone()).or_default();
            state.is_open = !direct.is_truncated;
            for entry in direct.files {
                if entry.is_directory {
                    state.folders.insert(entry.path.clone());
                    waiting.push_back(entry.path);
                } else {
                    state.files.extend(super::gather::listed(entry));
                }
            }
        }
        Ok(shape)
    }

    /// Creates the shape of a complete list, sorted by path.
    pub(super) fn of(listing: &[ListedEntry]) -> Shape {
        let mut shape = Shape::default();
        shape.folders.entry(String::new()).or_default().is_open = true;
        for entry in listing {
            shape.add_file(entry.clone());
        }
        shape.count();
        shape
    }

    /// Adds all descendants of a completely listed folder.
    fn add_all(&mut self, files: Vec<ExploredFile>) {
        for entry in files {
            if entry.is_directory {
                self.add_folder(&entry.path);
            } else if let Some(entry) = super::gather::listed(entry) {
                self.add_file(entry);
            }
        }
        self.count();
    }

    fn add_file(&mut self, entry: ListedEntry) {
        let parent = parent(&entry.path).to_owned();
        self.add_folder(&parent);
        self.folders.entry(parent).or_default().files.push(entry);
    }

    fn add_folder(&mut self, path: &str) {
        self.folders.entry(path.to_owned()).or_default().is_open = true;
        if !path.is_empty() {
            let ancestor = parent(path);
            if !self.folders.get(ancestor).is_some_and(|folder| folder.folders.contains(path)) {
                self.add_folder_above(ancestor);
                self.folders.entry(ancestor.to_owned()).or_default().folders.insert(path.to_owned());
            }
        }
    }

    fn add_folder_above(&mut self, path: &str) {
        if !self.folders.contains_key(path) {
            self.add_folder(path);
        }
    }

    /// Counts the files in each folder's subtree, for folders without a count.
    fn count(&mut self) {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for (path, folder) in &self.folders {
            let mut ancestor = path.as_str();
            loop {
                *counts.entry(ancestor).or_default() += folder.files.len() as u64;
                if ancestor.is_empty() {
                    break;
                }
                ancestor = parent(ancestor);
            }
        }
        let counts: Vec<(String, u64)> =
            counts.into_iter().map(|(path, count)| (path.to_owned(), count)).collect();
        for (path, count) in counts {
            if let Some(folder) = self.folders.get_mut(&path)
                && folder.is_open
                && folder.count.is_none()
            {
                folder.count = Some(Count::Files(count));
            }
        }
    }

    /// Chooses the contents of a list of at most `limit` characters: entries, and folders instead of their entries, both sorted
    /// by path.
    pub(super) fn within(&self, limit: usize) -> (Vec<ListedEntry>, Vec<ListedFolder>) {
        let mut files: Vec<&ListedEntry> = Vec::new();
        let mut folders: BTreeMap<&str, ListedFolder> = BTreeMap::new();
        let mut used = 0;
        let mut waiting = VecDeque::from([""]);
        while let Some(path) = waiting.pop_front() {
            let Some(folder) = self.folders.get(path).filter(|folder| folder.is_open || path.is_empty())
            else {
                continue;
            };
            let inner: Vec<ListedFolder> = folder.folders.iter().map(|path| self.summary(path)).collect();
            let cost = folder.files.iter().map(|file| file.path.len() + 16).sum::<usize>()
                + inner.iter().map(|folder| folder.path.len() + folder.about.len() + 6).sum::<usize>();
            let own_cost = folders.get(path).map_or(0, |folder| folder.path.len() + folder.about.len() + 6);
            // The root is always shown.
            if !path.is_empty() && used + cost > limit + own_cost {
                continue;
            }
            used = (used + cost).saturating_sub(own_cost);
            folders.remove(path);
            files.extend(&folder.files);
            for (path, summary) in folder.folders.iter().zip(inner) {
                folders.insert(path, summary);
                waiting.push_back(path);
            }
        }
        let mut files: Vec<ListedEntry> = files.into_iter().cloned().collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        (files, folders.into_values().collect())
    }

    /// Describes a folder by its descendants.
    fn summary(&self, path: &str) -> ListedFolder {
        let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
        let mut notable = Vec::new();
        // Other names may sort between a folder and its descendants.
        let subtree = self.folders.range(path.to_owned()..).take_while(|(other, _)| other.starts_with(path));
        let subtree = subtree.filter(|(other, _)| *other == path || other[path.len()..].starts_with('/'));
        for (other, folder) in subtree {
            for file in &folder.files {
                let name = file.path.rsplit('/').next().unwrap_or_default();
                if let Some((stem, ending)) = name.rsplit_once('.')
                    && !stem.is_empty()
                {
                    *endings.entry(ending).or_default() += 1;
                }
                if other == path && is_notable(name) && notable.len() < NOTABLE {
                    notable.push(escape_name(name));
                }
            }
        }
        let mut endings: Vec<(&str, usize)> = endings.into_iter().collect();
        endings.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        let endings: Vec<String> =
            endings.iter().take(ENDINGS).map(|(ending, _)| format!("*.{}", escape_name(ending))).collect();
        let folder = self.folders.get(path);
        let mut about = match folder.and_then(|folder| folder.count) {
            None => "not counted".to_owned(),
            Some(Count::Files(1)) => "1 file".to_owned(),
            Some(Count::Files(count)) => format!("{count} files"),
            Some(Count::Entries(count)) => format!("{count} entries"),
        };
        if !endings.is_empty() {
            about.push_str(&format!(", {}", endings.join(" ")));
        }
        if !notable.is_empty() {
            about.push_str(&format!("; {}", notable.join(" ")));
        }
        ListedFolder { path: path.to_owned(), about }
    }
}

/// Checks for the name of a file that identifies the kind of its folder.
pub(super) fn is_notable(name: &str) -> bool {
    is_readme(name) || MANIFESTS.contains(&name)
}

/// Checks for the name of a README.
pub(super) fn is_readme(name: &str) -> bool {
    name.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("readme"))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}
