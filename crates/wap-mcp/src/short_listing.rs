//! A listing of folders that fits into a page.

use std::cmp::Reverse;
use std::collections::HashMap;

use rel_path::Shortlist;
use serde_json::json;
use wap_core::{ExploreFilesResponse, ExploredFile};

/// The most folders that a warning names; the counts of all would be another listing.
const NAMED_FOLDERS: usize = 5;

/// Leaves out the entries that do not fit into `characters`, and names their folders.
///
/// [`Shortlist`] chooses the entries that stay, so that a large folder does not hide its siblings. At least one entry always
/// stays. `start` is the listed folder.
pub(crate) fn shorten(response: &mut ExploreFilesResponse, start: &str, characters: usize) {
    let sizes: Vec<usize> = response.files.iter().map(|file| json!(file).to_string().len() + 1).collect();
    if sizes.iter().sum::<usize>() <= characters {
        return;
    }
    let prefix =
        if matches!(start, "" | ".") { String::new() } else { format!("{}/", start.trim_end_matches('/')) };
    let chosen = |limit: usize| {
        let paths = response.files.iter().map(|file| file.path.strip_prefix(&prefix).unwrap_or(&file.path));
        Shortlist::of_paths(paths, limit)
    };
    let fits =
        |limit: usize| chosen(limit).into_iter().map(|index| sizes[index]).sum::<usize>() <= characters;
    // A shorter list is a part of a longer one, so the longest that fits is found by bisection.
    let (mut fitting, mut too_long) = (1, response.files.len());
    while fitting + 1 < too_long {
        let middle = fitting.midpoint(too_long);
        if fits(middle) { fitting = middle } else { too_long = middle }
    }
    let stays = chosen(fitting);
    response.warnings.push(warning(&response.files, &stays));
    // Both the entries and the indexes are in order, so one pass over the list suffices.
    let mut stays = stays.into_iter().peekable();
    let mut index = 0;
    response.files.retain(|_| {
        let is_chosen = stays.next_if_eq(&index).is_some();
        index += 1;
        is_chosen
    });
    response.is_truncated = true;
}

/// Names the folders with the most entries left out. `stays` has the indexes of the remaining entries, in ascending order.
fn warning(files: &[ExploredFile], stays: &[usize]) -> String {
    let mut folders: HashMap<&str, Count> = HashMap::new();
    for file in files {
        folders.entry(folder(file)).or_default().all += 1;
    }
    for index in stays {
        folders.entry(folder(&files[*index])).or_default().listed += 1;
    }
    let mut cut: Vec<_> = folders.into_iter().filter(|(_, count)| count.listed < count.all).collect();
    cut.sort_unstable_by_key(|(path, count)| (Reverse(count.all - count.listed), *path));
    let more = cut.len().saturating_sub(NAMED_FOLDERS);
    let named = cut.iter().take(NAMED_FOLDERS);
    let mut parts: Vec<String> = named
        .map(|(path, count)| {
            let name = if path.is_empty() { ".".to_owned() } else { format!("{path}/") };
            format!("{name} {} of {} entries", count.listed, count.all)
        })
        .collect();
    if more > 0 {
        parts.push(format!("{more} more folders"));
    }
    let next =
        json!({ "path": cut.first().map_or(".", |(path, _)| if path.is_empty() { "." } else { path }) });
    format!(
        "this page lists only a part of some folders: {}. List one by exploreFiles {next}",
        parts.join(", ")
    )
}

/// Returns the folder of an entry; an empty path is the root of the workspace.
fn folder(file: &ExploredFile) -> &str {
    file.path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The entries of one folder.
#[derive(Default)]
struct Count {
    all: usize,
    listed: usize,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn listing(paths: impl IntoIterator<Item = String>) -> ExploreFilesResponse {
        let file = |path| ExploredFile { path, is_directory: false, metadata: None, kind: None };
        let files: Vec<_> = paths.into_iter().map(file).collect();
        let total_found = files.len() as u64;
        ExploreFilesResponse { files, is_truncated: false, total_found, warnings: Vec::new() }
    }

    fn paths(response: &ExploreFilesResponse) -> Vec<&str> {
        response.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn a_large_folder_does_not_hide_its_siblings() {
        let data = (0..5_000).map(|number| format!("data/{number:05}.json"));
        let sources = ["src", "src/main.rs", "src/parse/mod.rs"].map(str::to_owned);
        let mut response = listing(data.chain(sources));
        shorten(&mut response, ".", 10_000);
        let listed = paths(&response);
        assert!(
            response.is_truncated && listed.ends_with(&["src", "src/main.rs", "src/parse/mod.rs"]),
            "{listed:?}"
        );
        let count = listed.len() - 3;
        let text = format!("data/ {count} of 5000 entries. List one by exploreFiles {{\"path\":\"data\"}}");
        assert!(response.warnings[0].contains(&text), "{:?}", response.warnings);
    }

    #[test]
    fn a_listing_that_fits_is_not_changed() {
        let mut response = listing(["a", "b"].map(str::to_owned));
        let before = response.clone();
        shorten(&mut response, ".", 10_000);
        assert_eq!(response, before);
    }

    proptest! {
        #[test]
        fn a_page_is_as_full_as_can_be(
            names in prop::collection::btree_set("[ab]{1,2}(/[abc]{1,3}){0,2}", 1..60),
            characters in 50_usize..3_000,
        ) {
            let mut response = listing(names);
            let all = response.clone();
            shorten(&mut response, "", characters);
            let size = |files: &[ExploredFile]| {
                files.iter().map(|file| json!(file).to_string().len() + 1).sum::<usize>()
            };
            prop_assert!(size(&response.files) <= characters || response.files.len() == 1);
            let one_more = all.files.iter().map(|file| size(std::slice::from_ref(file))).max().unwrap_or(0);
            let is_whole = response.files.len() == all.files.len();
            prop_assert!(is_whole || size(&response.files) + one_more > characters);
            prop_assert_eq!(response.is_truncated, !is_whole);
        }
    }
}
