//! Finds the matches of an expression one after the other, in time that is linear in the text.
//!
//! A search continues past the end of a match as long as a longer one is possible. With an expression such as `.*[^A-Z]|[A-Z]` it
//! reaches the end of the text after every match: linear for one match, quadratic for all. So this module steps through the
//! states itself, and remembers those that lead nowhere.

mod dead_ends;
mod threads;

use std::ops::Range;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::captures::Captures;
use regex_automata::{Input, meta};

use crate::EditErrorKind;
use crate::regex_edit::pattern::Engine;
use crate::work::Work;
use dead_ends::DeadEnds;
use threads::Threads;

/// The cost in steps of clearing the table of states.
const STEPS_OF_A_CLEARING: u64 = 1 << 20;

/// The cost in steps of a match, apart from its length.
const STEPS_OF_A_MATCH: u64 = 32;

/// The matches of an expression in a text, from left to right, without overlaps: those that `regex` finds.
pub(crate) struct Matches<'e, 't> {
    engine: &'e Engine,
    text: &'t [u8],
    cache: Cache,
    captures: Captures,
    dead_ends: DeadEnds,
    threads: Option<Threads>,
    at: usize,
    last_end: Option<usize>,
}

/// The reason why the fast search stopped early.
enum Stopped {
    /// It cannot decide a byte: word boundaries next to characters that are not ASCII.
    Undecided,
    Refused(EditErrorKind),
}

impl From<EditErrorKind> for Stopped {
    fn from(kind: EditErrorKind) -> Stopped {
        Stopped::Refused(kind)
    }
}

impl<'e, 't> Matches<'e, 't> {
    pub(crate) fn new(engine: &'e Engine, text: &'t [u8]) -> Matches<'e, 't> {
        Matches {
            engine,
            text,
            cache: engine.ends.create_cache(),
            captures: engine.regex.create_captures(),
            dead_ends: DeadEnds::new(text.len()),
            threads: None,
            at: 0,
            last_end: None,
        }
    }

    /// Advances to the next match; `false` if there is none.
    pub(crate) fn advance(&mut self, work: &mut Work<'_>) -> Result<bool, EditErrorKind> {
        let mut next_range = self.find(work)?;
        // An empty match directly after the last one does not count.
        if let Some(range) = &next_range
            && range.is_empty()
            && self.last_end == Some(range.end)
        {
            self.at = self.after(range.end);
            next_range = self.find(work)?;
        }
        let Some(range) = next_range else { return Ok(false) };
        self.at = range.end;
        self.last_end = Some(range.end);
        Ok(true)
    }

    /// The range of a group of the match, if it took part; group 0 is the whole match.
    pub(crate) fn group(&self, index: usize) -> Option<Range<usize>> {
        self.captures.get_group(index).map(|span| span.start..span.end)
    }

    fn find(&mut self, work: &mut Work<'_>) -> Result<Option<Range<usize>>, EditErrorKind> {
        loop {
            if self.at > self.text.len() {
                return Ok(None);
            }
            let Some(end) = self.find_end(work)? else { return Ok(None) };
            // Only an empty match can end within a character, and it does not count.
            if self.splits_character(end) {
                self.at = self.after(end);
                continue;
            }
            // In the text up to its end, the leftmost match is the same. The text around it matters for word boundaries.
            let input = Input::new(self.text).span(self.at..end);
            work.spend((end - self.at) as u64 + STEPS_OF_A_MATCH)?;
            self.search_groups(&input);
            return Ok(Some(self.group(0).unwrap_or(end..end)));
        }
    }

    fn search_groups(&mut self, input: &Input<'_>) {
        let regex: &meta::Regex = &self.engine.regex;
        regex.search_captures(input, &mut self.captures);
    }

    /// The end of the leftmost match that begins at `at` or later.
    fn find_end(&mut self, work: &mut Work<'_>) -> Result<Option<usize>, EditErrorKind> {
        if self.threads.is_none() {
            match self.find_end_fast(work) {
                Ok(end) => return Ok(end),
                Err(Stopped::Refused(kind)) => return Err(kind),
                Err(Stopped::Undecided) => {}
            }
        }
        // If it happens once in a text, it would probably happen for most matches.
        let threads = self.threads.get_or_insert_with(|| Threads::new(self.engine.ends.get_nfa().clone()));
        threads.find_end(self.text, self.at, work)
    }

    fn find_end_fast(&mut self, work: &mut Work<'_>) -> Result<Option<usize>, Stopped> {
        const STRIDE: usize = 1 << 12;
        let dfa: &DFA = &self.engine.ends;
        let input = Input::new(self.text).span(self.at..self.text.len());
        let undecided = |_| Stopped::Undecided;
        let clearings = self.cache.clear_count();
        let mut state = dfa.start_state_forward(&mut self.cache, &input).map_err(|_| Stopped::Undecided)?;
        self.dead_ends.begin(self.cache.clear_count());
        let (mut end, mut spent_to) = (None, self.at);
        for at in self.at..self.text.len() {
            if at - spent_to >= STRIDE {
                work.spend((at - spent_to) as u64)?;
                spent_to = at;
            }
            state = dfa.next_state(&mut self.cache, state, self.text[at]).map_err(undecided)?;
            if state.is_tagged() {
                // A match state means that a match ended one byte earlier.
                if state.is_match() {
                    end = Some(at);
                    self.dead_ends.restart();
                } else if state.is_dead() {
                    return self.ended(end, at, spent_to, clearings, work);
                } else if state.is_quit() {
                    return Err(Stopped::Undecided);
                }
            }
            if self.dead_ends.is_dead_end(at + 1, state, self.cache.clear_count()) {
                return self.ended(end, at, spent_to, clearings, work);
            }
        }
        state = dfa.next_eoi_state(&mut self.cache, state).map_err(undecided)?;
        if state.is_match() {
            end = Some(self.text.len());
            self.dead_ends.restart();
        }
        self.ended(end, self.text.len(), spent_to, clearings, work)
    }

    fn ended(
        &mut self,
        end: Option<usize>,
        at: usize,
        spent_to: usize,
        clearings: usize,
        work: &mut Work<'_>,
    ) -> Result<Option<usize>, Stopped> {
        let cleared = self.cache.clear_count();
        self.dead_ends.note(cleared);
        work.spend((at - spent_to) as u64 + 1 + (cleared - clearings) as u64 * STEPS_OF_A_CLEARING)?;
        Ok(end)
    }

    fn splits_character(&self, at: usize) -> bool {
        self.engine.is_text && self.text.get(at).is_some_and(|byte| (0x80..0xC0).contains(byte))
    }

    /// Returns the offset after `at` at which a match may begin.
    fn after(&self, at: usize) -> usize {
        let mut after = at + 1;
        while self.splits_character(after) {
            after += 1;
        }
        after
    }
}
