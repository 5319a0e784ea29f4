//! The map between processes and over restarts.

use std::sync::Arc;

use secret_placeholders::{MemoryStore, PlaceholderStore, Secrets, StoreError};

use crate::masking::token;

/// A store that several `Secrets` share, as processes do.
#[derive(Clone, Default)]
struct Shared(Arc<MemoryStore>);

impl PlaceholderStore for Shared {
    fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.read()
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
