//! Positions and states of a search that lead to no further match.

use regex_automata::hybrid::LazyStateID;

/// Bytes between two positions that are remembered.
const STRIDE: usize = 64;
/// States that are remembered for each position. More are rare; the bound on the work of a call holds for those.
const WAYS: usize = 4;
/// The bytes that a search reads behind a match before its way is worth remembering.
const WORTH_BYTES: usize = 1 << 10;

/// States of the search that were found to lead to no match behind the position where the search was in them.
///
/// Whether one does depends on nothing but the state and the text behind, so that it holds for every later search.
pub(crate) struct DeadEnds {
    text_bytes: usize,
    /// Empty until something is worth remembering; then [`WAYS`] states for each position.
    dead: Vec<[LazyStateID; WAYS]>,
    /// The states of the search that is made, since its last match.
    passed: Vec<(usize, LazyStateID)>,
    /// The number of times that the table of states had been emptied when this was filled: older entries mean nothing.
    clearings: usize,
}

impl DeadEnds {
    pub(crate) fn new(text_bytes: usize) -> DeadEnds {
        DeadEnds { text_bytes, dead: Vec::new(), passed: Vec::new(), clearings: 0 }
    }

    /// Begins a search.
    pub(crate) fn begin(&mut self, clearings: usize) {
        self.passed.clear();
        self.keep_up(clearings);
    }

    /// Forgets the way of this search, because a match was found on it.
    pub(crate) fn restart(&mut self) {
        self.passed.clear();
    }

    /// Checks whether no match is behind `at`, where the search is in `state`. Records the position if that is not settled.
    pub(crate) fn is_dead_end(&mut self, at: usize, state: LazyStateID, clearings: usize) -> bool {
        if !at.is_multiple_of(STRIDE) {
            return false;
        }
        self.keep_up(clearings);
        if self.dead.get(at / STRIDE).is_some_and(|states| states.contains(&state)) {
            return true;
        }
        self.passed.push((at / STRIDE, state));
        false
    }

    /// Remembers the way of a search that has ended without a further match.
    pub(crate) fn note(&mut self, clearings: usize) {
        self.keep_up(clearings);
        if self.dead.is_empty() {
            if self.passed.len() < WORTH_BYTES / STRIDE {
                return;
            }
            self.dead = vec![[LazyStateID::default(); WAYS]; self.text_bytes / STRIDE + 1];
        }
        for (index, state) in self.passed.drain(..) {
            let states = &mut self.dead[index];
            states.rotate_right(1);
            states[0] = state;
        }
    }

    fn keep_up(&mut self, clearings: usize) {
        if self.clearings != clearings {
            self.clearings = clearings;
            self.passed.clear();
            self.dead.fill([LazyStateID::default(); WAYS]);
        }
    }
}
