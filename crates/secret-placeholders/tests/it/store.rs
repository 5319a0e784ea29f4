//! The map between processes and over restarts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use secret_placeholders::{MemoryStore, PlaceholderStore, Secrets, StoreError};

use crate::masking::token;

/// A store that several `Secrets` share, as processes do.
#[derive(Clone, Default)]
struct Shared(Arc<MemoryStore>);

impl PlaceholderStore for Shared {
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.read()
    }

    fn revision(&self) -> Result<u64, StoreError> {
        self.0.revision()
    }

    fn update(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Result<(), StoreError> {
        self.0.update(change)
    }
}

/// A store that cannot be written.
struct Full;

impl PlaceholderStore for Full {
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }

    fn revision(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn update(&self, _: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Result<(), StoreError> {
        Err("the disk is full".into())
    }
}

#[test]
fn placeholders_outlive_a_restart_and_processes_agree() {
    let store = Shared::default();
    let (one, other) = (Secrets::open(store.clone()).unwrap(), Secrets::open(store.clone()).unwrap());
    let second = token().replace("a1", "b7");
    assert_eq!(one.mask(&token()), "⟦secret:npm-token:1⟧");
    assert_eq!(other.mask(&second), "⟦secret:npm-token:2⟧");
    assert_eq!(one.restore("⟦secret:npm-token:2⟧").unwrap(), second);
    let restarted = Secrets::open(store).unwrap();
    assert_eq!(restarted.mask(&format!("{second} {}", token())), "⟦secret:npm-token:2⟧ ⟦secret:npm-token:1⟧");
}

#[test]
fn a_value_that_cannot_be_stored_is_hidden_all_the_same() {
    let secrets = Secrets::open(Full).unwrap();
    assert_eq!(secrets.mask(&token()), "⟦secret:npm-token:0⟧");
}

#[test]
fn a_damaged_map_is_refused_and_kept() {
    let store = Shared::default();
    store.update(&mut |_| Some(b"{".to_vec())).unwrap();
    assert!(Secrets::open(store.clone()).is_err());
    let opened_before = Secrets::open(Shared::default()).unwrap();
    let _ = opened_before.mask(&token());
    assert_eq!(store.read().unwrap().unwrap(), b"{");
}

#[test]
fn a_placeholder_means_the_same_after_the_map_was_removed() {
    /// A store whose map is lost when the user removes the file.
    #[derive(Clone, Default)]
    struct Removable(Arc<Mutex<Option<Vec<u8>>>>);
    impl PlaceholderStore for Removable {
        fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
            Ok(self.0.lock().unwrap().clone())
        }
        fn revision(&self) -> Result<u64, StoreError> {
            Ok(self.0.lock().unwrap().as_ref().map_or(0, |bytes| bytes.len() as u64))
        }
        fn update(
            &self,
            change: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>,
        ) -> Result<(), StoreError> {
            let mut bytes = self.0.lock().unwrap();
            if let Some(changed) = change(bytes.clone()) {
                *bytes = Some(changed);
            }
            Ok(())
        }
    }
    let store = Removable::default();
    let secrets = Secrets::open(store.clone()).unwrap();
    assert_eq!(secrets.mask(&token()), "⟦secret:npm-token:1⟧");
    *store.0.lock().unwrap() = None;
    let second = token().replace("a1", "b7");
    assert_eq!(secrets.mask(&second), "⟦secret:npm-token:2⟧");
    assert_eq!(secrets.restore("⟦secret:npm-token:1⟧").unwrap(), token());
    let restarted = Secrets::open(store).unwrap();
    assert_eq!(restarted.restore("⟦secret:npm-token:1⟧").unwrap(), token());
}

/// A store that counts how often it is read and changed.
#[derive(Clone, Default)]
struct Counting {
    store: Shared,
    reads: Arc<AtomicUsize>,
    updates: Arc<AtomicUsize>,
}

impl PlaceholderStore for Counting {
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.store.read()
    }

    fn revision(&self) -> Result<u64, StoreError> {
        self.store.revision()
    }

    fn update(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Result<(), StoreError> {
        self.updates.fetch_add(1, Ordering::SeqCst);
        self.store.update(change)
    }
}

/// Puts values into a map until it is full: each text takes at most half of the remaining room.
fn fill(secrets: &Secrets) {
    let mut values = (0..).map(|number| format!("npm_{number:036}\n"));
    let mut left: usize = 10_000;
    while left > 0 {
        let text: String = values.by_ref().take(left.div_ceil(2)).collect();
        assert!(!secrets.mask(&text).contains(":0⟧"), "{left}");
        left /= 2;
    }
}

#[test]
fn one_text_does_not_take_all_the_room() {
    let secrets = Secrets::open(MemoryStore::default()).unwrap();
    let many: String = (0..12_000).map(|number| format!("npm_{number:036}\n")).collect();
    for _ in 0..3 {
        assert_eq!(secrets.mask(&many).matches(":npm-token:0⟧").count(), 7_000);
    }
    assert_eq!(secrets.mask(&token()), "⟦secret:npm-token:5001⟧");
}

#[test]
fn a_value_for_which_there_is_no_room_is_hidden_everywhere() {
    let secrets = Secrets::open(MemoryStore::default()).unwrap();
    let log = |value: &str| format!("connected with {value}\n");
    let value = "Zq8wLr3TnV5xKb2M";
    let assigned = format!("password = \"{value}\"\n");
    fill(&secrets);
    assert_eq!(secrets.mask(&log(value)), log(value), "the control: no rule finds it there");
    assert_eq!(secrets.mask(&assigned), "password = \"⟦secret:password-assignment:0⟧\"\n");
    let both = format!("{assigned}{}", log(value));
    for text in [log(value), both] {
        assert!(!secrets.mask(&text).contains(value), "{text}");
    }
    // Text that may occur elsewhere by chance stays.
    assert!(secrets.mask("DB_PASSWORD=Winter-Garden-2024\n").ends_with(":0⟧\n"));
    assert_eq!(secrets.mask(&log("Winter-Garden-2024")), log("Winter-Garden-2024"));
    // Such values are bounded, too: these are more than there are kept.
    let more: String = (10_000..22_000).map(|number| format!("npm_{number:036}\n")).collect();
    let masked = secrets.mask(&more).into_owned();
    assert!(!masked.contains("npm_") && secrets.mask(&log(value)).contains(":0⟧"));
}

#[test]
fn a_full_map_is_not_written_again_for_each_text() {
    let store = Counting::default();
    let secrets = Secrets::open(store.clone()).unwrap();
    fill(&secrets);
    let updates = store.updates.load(Ordering::SeqCst);
    for _ in 0..3 {
        assert_eq!(secrets.mask(&token()), "⟦secret:npm-token:0⟧");
    }
    assert_eq!(store.updates.load(Ordering::SeqCst), updates);
}

#[test]
fn a_value_that_another_process_has_found_is_hidden_where_no_rule_finds_it() {
    let store = Counting::default();
    let (one, other) = (Secrets::open(store.clone()).unwrap(), Secrets::open(store.clone()).unwrap());
    let value = "Zq8wLr3TnV5xKb2M";
    let log = format!("connected with {value}\n");
    assert_eq!(other.mask(&log), log, "the control: no rule finds it there");
    let masked = one.mask(&format!("db_password = \"{value}\"\n")).into_owned();
    assert!(!masked.contains(value), "{masked}");
    for text in [other.mask(&log), other.mask_rest(&log)] {
        assert!(!text.contains(value), "{text}");
    }
    assert!(!other.is_clean(&log));
    // What has not changed is not read again, however many texts are masked.
    let reads = store.reads.load(Ordering::SeqCst);
    for _ in 0..100 {
        let _ = other.mask(&log);
        let _ = other.restore("⟦secret:npm-token:7⟧");
    }
    assert_eq!(store.reads.load(Ordering::SeqCst), reads);
}
