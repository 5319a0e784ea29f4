//! Any set of changes by a command and by another program, against a model of both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cow_layer::{AdoptError, LayerError};
use proptest::prelude::*;

use crate::fixture::{Fixture, Upper, look, open_store, save};

/// The paths that a case works on. All but `new` and `dir/new` exist at the start.
const PATHS: [&str; 8] = ["a", "b", "dir/a", "dir/b", "dir/new", "dir/sub/a", "new", "z"];
const NEW: [&str; 2] = ["dir/new", "new"];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Keep,
    /// Writes the text that the file holds already.
    Touch,
    Write(u8),
    Remove,
}

fn actions() -> impl Strategy<Value = [Action; 8]> {
    let action = prop_oneof![
        3 => Just(Action::Keep),
        1 => Just(Action::Touch),
        3 => any::<u8>().prop_map(Action::Write),
        2 => Just(Action::Remove),
    ];
    proptest::array::uniform8(action)
}

fn old_text(name: &str) -> String {
    format!("{name}\n")
}

/// Returns the files of the fixture at the start, by path.
fn start() -> BTreeMap<String, String> {
    let existing = PATHS.iter().filter(|name| !NEW.contains(*name));
    existing.map(|name| ((*name).to_owned(), old_text(name))).collect()
}

/// Performs the actions in the layer, and returns the files that the command sees afterwards.
fn perform(upper: &Upper, actions: &[Action; 8]) -> BTreeMap<String, String> {
    let mut model = start();
    for (name, action) in PATHS.iter().zip(actions) {
        let exists = model.contains_key(*name);
        match action {
            Action::Touch if exists => upper.write(name, &old_text(name)),
            Action::Write(seed) => {
                upper.write(name, &format!("command {seed}\n"));
                model.insert((*name).to_owned(), format!("command {seed}\n"));
            }
            Action::Remove if exists => {
                upper.remove(name);
                model.remove(*name);
            }
            Action::Keep | Action::Touch | Action::Remove => {}
        }
    }
    model
}

fn fixture() -> Fixture {
    let existing: Vec<&str> = PATHS.iter().copied().filter(|name| !NEW.contains(name)).collect();
    Fixture::with_files(&existing)
}

/// Reads the files of the workspace among [`PATHS`].
fn files(fixture: &Fixture) -> BTreeMap<String, String> {
    let read =
        |name: &&str| Some(((*name).to_owned(), fs::read_to_string(fixture.workspace().join(name)).ok()?));
    PATHS.iter().filter_map(read).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn the_listing_is_the_difference_and_adopting_it_gives_the_commands_files(actions in actions()) {
        let fixture = fixture();
        let (layer, upper) = fixture.layer();
        let wanted = perform(&upper, &actions);
        let changes = look(&layer);
        let listed: BTreeSet<String> = changes.iter().map(|change| change.path.to_string()).collect();
        let start = start();
        let differs = |name: &&&str| start.get(**name) != wanted.get(**name);
        let different: BTreeSet<String> = PATHS.iter().filter(differs).map(|name| (*name).to_owned()).collect();
        prop_assert_eq!(listed, different);
        prop_assert_eq!(files(&fixture), start, "listing changes nothing");
        for change in changes.in_adoption_order() {
            layer.adopt(change).unwrap();
        }
        layer.finish_folders(&changes).unwrap();
        prop_assert_eq!(files(&fixture), wanted);
        layer.discard().unwrap();
    }

    #[test]
    fn a_file_saved_by_another_program_survives_any_adoption(
        actions in actions(),
        before_scan in proptest::collection::btree_set(0..8_usize, 0..4),
        after_scan in proptest::collection::btree_set(0..8_usize, 0..4),
    ) {
        let fixture = fixture();
        let (layer, upper) = fixture.layer();
        let mut wanted = perform(&upper, &actions);
        let mut save_all = |indexes: &BTreeSet<usize>, text: &str| {
            for index in indexes {
                save(&fixture.workspace().join(PATHS[*index]), text);
                wanted.insert(PATHS[*index].to_owned(), text.to_owned());
            }
        };
        save_all(&before_scan, "saved early\n");
        let changes = look(&layer);
        save_all(&after_scan, "saved late\n");
        for change in changes.in_adoption_order() {
            match layer.adopt(change) {
                Ok(_) | Err(AdoptError::Changed { .. }) => {}
                Err(other) => prop_assert!(false, "{other:?}"),
            }
        }
        prop_assert_eq!(files(&fixture), wanted);
    }

    #[test]
    fn a_seal_reads_back_as_written_and_any_cut_of_it_is_refused(actions in actions(), cut in 0.0..1.0_f64) {
        let fixture = fixture();
        let (layer, upper) = fixture.layer();
        perform(&upper, &actions);
        let changes = look(&layer);
        layer.seal(&changes).unwrap();
        // Another process after a crash opens the layer anew.
        let store = open_store(fixture.path());
        let reopened = store.reopen(layer.name()).unwrap();
        prop_assert_eq!(reopened.sealed().unwrap(), Some(changes));
        let seal = fixture.path().join("layers").join(layer.name().as_str()).join("changes");
        let text = fs::read(&seal).unwrap();
        let length = (text.len() as f64 * cut) as usize;
        fs::write(&seal, &text[..length]).unwrap();
        prop_assert_eq!(reopened.sealed().unwrap_err(), LayerError::Incomplete);
    }
}
