//! The corpus under `fixtures/secrets`: recipes of secrets, and look-alikes.

use std::path::Path;

use secret_placeholders::{MemoryStore, Secrets};
use serde::Deserialize;

/// A recipe of a secret in a line of a file.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Recipe {
    pub(crate) kind: String,
    /// The line before the secret.
    pub(crate) before: String,
    /// The parts of the secret, to be joined.
    pub(crate) parts: Vec<String>,
    pub(crate) after: String,
}

impl Recipe {
    pub(crate) fn value(&self) -> String {
        self.parts.concat()
    }

    pub(crate) fn line(&self) -> String {
        format!("{}{}{}", self.before, self.value(), self.after)
    }
}

pub(crate) fn read<T: for<'a> Deserialize<'a>>(name: &str) -> Vec<T> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/secrets");
    serde_json::from_str(&test_file(&folder.join(name))).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test reads its fixture")]
fn test_file(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

pub(crate) fn recipes() -> Vec<Recipe> {
    read("secrets.json")
}

#[test]
fn no_secret_of_the_corpus_stays_and_each_comes_back() {
    let secrets = Secrets::open(MemoryStore::default()).unwrap();
    let recipes = recipes();
    assert_eq!(recipes.len(), 200);
    let kinds: std::collections::BTreeSet<_> = recipes.iter().map(|recipe| &recipe.kind).collect();
    assert_eq!(kinds.len(), 12, "{kinds:?}");
    for recipe in &recipes {
        let line = recipe.line();
        let masked = secrets.mask(&line);
        for piece in recipe.value().lines().filter(|piece| piece.len() >= 4 && !piece.contains("-----")) {
            assert!(!masked.contains(piece), "{} in {masked}", recipe.kind);
        }
        assert_eq!(masked.lines().count(), line.lines().count());
        assert_eq!(secrets.restore(&masked).unwrap(), line);
    }
}

#[test]
fn at_most_two_percent_of_the_look_alikes_are_replaced() {
    let secrets = Secrets::open(MemoryStore::default()).unwrap();
    let look_alikes: Vec<String> = read("look-alikes.json");
    assert_eq!(look_alikes.len(), 500);
    let replaced: Vec<&String> = look_alikes.iter().filter(|line| !secrets.is_clean(line)).collect();
    assert!(replaced.len() * 100 <= look_alikes.len() * 2, "{}: {replaced:#?}", replaced.len());
}
