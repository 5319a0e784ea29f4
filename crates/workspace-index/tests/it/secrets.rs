//! Secrets in files of an index, as models see its answers.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use secret_placeholders::PlaceholderIndex;
use tempfile::TempDir;
use test_support::Caller;
use wap_core::{CodeIndex, ListSymbols, SearchCode};
use workspace_host::{HostOptions, SecretRules, SecretUse, WorkspacePaths};
use workspace_index::CurrentIndex;

use crate::{hit_paths, open};

/// A key that a rule recognises by the name before it, and nowhere else.
fn key() -> String {
    ["wJalrXUtnF3MI/K7MDENG9", "/bPxRfiCYzEXq8pLmK"].concat()
}

fn fixture() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("app.py"), format!("aws_secret_access_key = \"{}\"\n", key())).unwrap();
    fs::write(folder.path().join("visible.py"), "def visible(): pass  # mdeng\n").unwrap();
    folder
}

fn rules(folder: &Path, secrets: SecretUse) -> SecretRules {
    let options = HostOptions { secrets, ..HostOptions::new(folder) };
    SecretRules::open(&options, &WorkspacePaths::find(&options).unwrap()).unwrap()
}

/// Returns the index as a model sees it.
fn masked(folder: &Path) -> PlaceholderIndex<Arc<CurrentIndex>> {
    let rules = rules(folder, SecretUse::Mask);
    let index = CurrentIndex::compared_at_each_question(open(folder, true));
    PlaceholderIndex::new(Arc::new(index), rules.secrets, rules.withheld)
}

#[test]
fn no_question_matches_a_word_of_a_secret_and_the_store_has_none() {
    let folder = fixture();
    // A copy where no rule recognises the value: the map of placeholders does.
    let _ = rules(folder.path(), SecretUse::Mask)
        .secrets
        .unwrap()
        .mask(&format!("aws_secret_access_key = \"{}\"", key()));
    fs::write(folder.path().join("copy.txt"), format!("{}\n", key())).unwrap();
    let index = masked(folder.path());
    for query in ["wjalrxutnf3mi", "K7", "k", "bPx", "rfi", "zzz yyy rfi xxx"] {
        assert_eq!(hit_paths(&index, query), Vec::<String>::new(), "{query}");
    }
    // The controls: what is visible is found, also a word that a secret has as well.
    assert_eq!(hit_paths(&index, "access"), ["app.py"]);
    assert_eq!(hit_paths(&index, "mdeng"), ["visible.py"]);
    drop(index);
    let paths = WorkspacePaths::find(&HostOptions::new(folder.path())).unwrap();
    let stored: Vec<u8> = fs::read_dir(paths.base.join("index"))
        .unwrap()
        .flat_map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    let holds = |word: &str| stored.windows(word.len()).any(|window| window == word.as_bytes());
    assert!(holds("mdeng") && !holds("xrfi") && !holds("jalr"), "the words of the key");
}

#[test]
fn a_secret_that_is_shown_is_in_no_store_either() {
    let folder = fixture();
    let options = HostOptions { secrets: SecretUse::Show, ..HostOptions::new(folder.path()) };
    let paths = WorkspacePaths::find(&options).unwrap();
    let notices: workspace_host::SharedNotices = Arc::new(workspace_host::NoNotices);
    let opened = workspace_index::OpenIndex::open_kept(&options, &paths, &notices).unwrap();
    let index = CurrentIndex::compared_at_each_question(opened);
    assert_eq!(hit_paths(&index, "bPx"), Vec::<String>::new());
    let caller = Caller::once();
    let request = SearchCode { query: "access".to_owned(), limit: 5 };
    let hits = index.search(&caller.call(), &request).unwrap().hits;
    assert!(hits[0].snippet.contains(&key()), "the control");
}

#[test]
fn no_cut_and_no_name_shows_a_part_of_a_secret() {
    let folder = fixture();
    let value = ["Alpha9Beta::", "Gamma7Delta"].concat();
    fs::write(folder.path().join("conf.py"), format!("password = \"{value}\"\n")).unwrap();
    let token = ["gh", "p_a1B2c3D4e5F6G7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let line = format!("z = \"{token}\" {} needle {}\n", "y".repeat(57), "x ".repeat(200));
    fs::write(folder.path().join("long.txt"), &line).unwrap();
    let signature = format!("def f({}, k=\"{token}\", z=1):\n    pass\n", "x".repeat(240 - 11 - 39));
    fs::write(folder.path().join("long.py"), signature).unwrap();
    fs::write(folder.path().join("names.cpp"), format!("void {value}() {{}}\nvoid login() {{}}\n")).unwrap();
    let index = masked(folder.path());
    let caller = Caller::once();
    let search = |query: &str| {
        let request = SearchCode { query: query.to_owned(), limit: 5 };
        index.search(&caller.call(), &request).unwrap().hits.remove(0).snippet
    };
    // Once a rule has recognised it, it is a secret everywhere.
    assert!(search("password").contains("⟦secret:password-assignment:"));
    let visible = search("needle");
    assert!(
        visible.starts_with('…') && visible.contains("yy needle x") && !visible.contains("P6q7"),
        "{visible}"
    );
    let symbols = |file: &str| {
        let listed = index.symbols(&caller.call(), &ListSymbols { file: file.to_owned() }).unwrap();
        serde_json::to_string(&listed.symbols).unwrap()
    };
    let visible = symbols("long.py");
    assert!(visible.contains("xxx, k=\\\"…\"") && !visible.contains("a1B2"), "{visible}");
    let visible = symbols("names.cpp");
    assert!(
        visible.contains("login") && !visible.contains("Gamma7") && !visible.contains("Alpha9"),
        "{visible}"
    );
    // The control: the inner index shows all of it.
    let below = CurrentIndex::compared_at_each_question(open(folder.path(), true));
    let hits =
        below.search(&caller.call(), &SearchCode { query: "needle".to_owned(), limit: 5 }).unwrap().hits;
    let listed = below.symbols(&caller.call(), &ListSymbols { file: "long.py".to_owned() }).unwrap();
    assert!(hits[0].snippet.contains("needle") && listed.symbols[0].signature.contains("a1B2"));
}
