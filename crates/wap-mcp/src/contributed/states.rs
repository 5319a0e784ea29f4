//! The states of requests that wait for answers of their clients.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use content_hash::ContentHash;

/// The most states; beyond that, the oldest is forgotten.
const MOST_KEPT: usize = 1_000;

/// The time after which an answer comes too late.
pub(super) const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The longest state in bytes.
pub(super) const MOST_BYTES: usize = 64 * 1_024;

/// States by random names. The client only has the name, so there is nothing to forge.
#[derive(Debug, Default)]
pub(super) struct States {
    kept: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    name: String,
    /// The digest of the request; the state is not valid for any other.
    request: ContentHash,
    state: String,
    until: Instant,
}

impl States {
    /// Keeps a state and returns its name.
    pub(super) fn keep(&self, request: ContentHash, state: String) -> String {
        let name = uuid::Uuid::new_v4().simple().to_string();
        let mut kept = self.lock();
        kept.push_back(Kept { name: name.clone(), request, state, until: Instant::now() + PATIENCE });
        while kept.len() > MOST_KEPT {
            kept.pop_front();
        }
        name
    }

    /// Removes and returns a state; `None` for a name that was used, has expired, was never issued, or was issued for another
    /// request.
    pub(super) fn take(&self, name: &str, request: ContentHash) -> Option<String> {
        let mut kept = self.lock();
        kept.retain(|kept| kept.until > Instant::now());
        let index = kept.iter().position(|kept| kept.name == name && kept.request == request)?;
        kept.remove(index).map(|kept| kept.state)
    }

    /// Checks whether a state of this name is kept for this request.
    pub(super) fn has(&self, name: &str, request: ContentHash) -> bool {
        let now = Instant::now();
        self.lock().iter().any(|kept| kept.name == name && kept.request == request && kept.until > now)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use content_hash::ContentHash;
    use proptest::prelude::*;

    use super::{MOST_KEPT, States};

    #[test]
    fn a_state_counts_once_and_for_its_request_only() {
        let states = States::default();
        let (mine, other) = (ContentHash::of(b"mine"), ContentHash::of(b"other"));
        let name = states.keep(mine, "seven".to_owned());
        assert_eq!(states.take(&name, other), None);
        assert_eq!(states.take(&format!("{name}x"), mine), None);
        assert_eq!(states.take(&name, mine).as_deref(), Some("seven"));
        assert_eq!(states.take(&name, mine), None);
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let states = States::default();
        let request = ContentHash::of(b"request");
        let first = states.keep(request, "first".to_owned());
        let others: Vec<_> = (0..MOST_KEPT).map(|index| states.keep(request, index.to_string())).collect();
        assert_eq!(states.take(&first, request), None);
        assert_eq!(states.take(&others[0], request).as_deref(), Some("0"));
    }

    proptest! {
        #[test]
        fn an_invented_name_has_no_state(name in ".{0,40}") {
            let states = States::default();
            let request = ContentHash::of(b"request");
            states.keep(request, "seven".to_owned());
            prop_assert_eq!(states.take(&name, request), None);
        }
    }
}
