//! The entries that a bounded listing shows.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rel_path::Shortlist;

/// The paths of a tree with its folders, in the order of a listing.
fn with_folders(files: &[String]) -> Vec<String> {
    let mut paths = BTreeSet::new();
    for file in files {
        let mut end = 0;
        while let Some(slash) = file[end..].find('/') {
            paths.insert(file[..end + slash].to_owned());
            end += slash + 1;
        }
        paths.insert(file.clone());
    }
    paths.into_iter().collect()
}

fn chosen(paths: &[String], limit: usize) -> Vec<&str> {
    let indexes = Shortlist::of_paths(paths.iter().map(String::as_str), limit);
    indexes.into_iter().map(|index| paths[index].as_str()).collect()
}

#[test]
fn a_large_folder_hides_nothing() {
    let mut files: Vec<String> = (0..600).map(|number| format!("aaa/data/{number:03}.json")).collect();
    files.extend((0..200).map(|number| format!("pictures/{number:03}.png")));
    files.extend(["README.md", "src/lib.rs", "src/deep/inner/mod.rs"].map(str::to_owned));
    let paths = with_folders(&files);
    let listed = chosen(&paths, 120);
    let folder = |name: &str| listed.iter().filter(|path| path.starts_with(name)).count();
    let summary = format!(
        "{} entries of {}\naaa/data/: {}\npictures/: {}\nothers: {:?}\n",
        listed.len(),
        paths.len(),
        folder("aaa/data/"),
        folder("pictures/"),
        listed
            .iter()
            .filter(|path| !path.starts_with("aaa/data/") && !path.starts_with("pictures/"))
            .collect::<Vec<_>>(),
    );
    insta::assert_snapshot!(summary);
}

proptest! {
    #[test]
    fn a_listing_is_full_and_has_no_entry_without_its_folder(
        files in prop::collection::vec("[a-c]{1,2}(/[a-c]{1,2}){0,3}", 0..120),
        limit in 0_usize..60,
    ) {
        // A path that is a folder of another is not also a file.
        let files: Vec<String> = files.iter().filter(|file| !files.iter().any(|other| other.starts_with(&format!("{file}/")))).cloned().collect();
        let paths = with_folders(&files);
        let listed = chosen(&paths, limit);
        prop_assert_eq!(listed.len(), limit.min(paths.len()));
        prop_assert!(listed.is_sorted());
        let depth = |path: &str| path.split('/').count();
        for path in &listed {
            if let Some((folder, _)) = path.rsplit_once('/') {
                prop_assert!(listed.contains(&folder), "{} without its folder", path);
            }
            // No folder here has fifty entries, so shallower entries always come first.
            let shallower = paths.iter().filter(|other| depth(other) < depth(path));
            prop_assert!(shallower.clone().all(|other| listed.contains(&other.as_str())), "{}", path);
        }
    }

    #[test]
    fn of_each_folder_fifty_entries_come_before_the_rest_of_another(sizes in prop::collection::vec(1_usize..150, 1..6), limit in 0_usize..400) {
        let files: Vec<String> = sizes.iter().enumerate()
            .flat_map(|(folder, size)| (0..*size).map(move |number| format!("{folder}/{number:03}")))
            .collect();
        let paths = with_folders(&files);
        let listed = chosen(&paths, limit);
        let count = |folder: usize| listed.iter().filter(|path| path.starts_with(&format!("{folder}/"))).count();
        let has_late = (0..sizes.len()).any(|folder| count(folder) > 50);
        for (folder, size) in sizes.iter().enumerate() {
            prop_assert!(!has_late || count(folder) >= (*size).min(50), "{}: {} of {}", folder, count(folder), size);
        }
    }
}

#[test]
fn a_list_reports_before_an_offer_whether_it_would_be_chosen() {
    let mut list = Shortlist::new(2);
    assert!(list.has_room(9, 49) && list.has_room(9, 50));
    list.offer(1, 49, || "shallow");
    list.offer(1, 50, || "late");
    assert_eq!(list.offered(), 2);
    // Deep, but among the first of its folder: it precedes any late one.
    assert!(list.has_room(3, 49));
    assert!(!list.has_room(1, 50));
    list.offer(3, 49, || "deep");
    list.offer(1, 50, || unreachable!("it is not chosen"));
    assert_eq!(list.offered(), 4);
    assert!(!list.has_room(3, 0));
    assert_eq!(list.into_values(), ["shallow", "deep"]);
    assert!(!Shortlist::<()>::new(0).has_room(1, 0));
}
