//! Positions and states of a search that lead to no further match.

use regex_automata::hybrid::LazyStateID;

/// Bytes between two remembered positions.
const STRIDE: usize = 64;
/// States remembered for each position. More are rare, and bounded by the work of a call.
const WAYS: usize = 4;
/// The bytes that a search reads past a match before its path is worth remembering.
const WORTH_BYTES: usize = 1 << 10;

/// States of the search that lead to no match after the position where the search was in them.
///
/// This depends on nothing but the state and the text that follows, so it holds for every later search.
pub(crate) struct DeadEnds {
    text_bytes: usize,
    /// Empty until something is worth remembering; then [`WAYS`] states for each position.
    dead: Vec<[LazyStateID; WAYS]>,
    /// The states that the current search passed since its last match.
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

    /// Forgets the path of this search, because it led to a match.
    pub(crate) fn restart(&mut self) {
        self.passed.clear();
    }

    /// Checks whether no match follows `at`, where the search is in `state`. Records the position if that is undecided.
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

    /// Remembers the path of a search that ended without a further match.
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
