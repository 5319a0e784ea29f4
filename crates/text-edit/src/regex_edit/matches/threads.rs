//! The search for texts and expressions that the fast one cannot decide: word boundaries next to letters that are not ASCII.

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;

use crate::EditErrorKind;
use crate::work::Work;

/// The cost in steps of examining one state, compared with a look-up in a table.
const STEPS_OF_A_STATE: u64 = 16;

/// Follows all paths through an expression at once, the preferred ones first.
pub(crate) struct Threads {
    nfa: NFA,
    now: States,
    next: States,
    stack: Vec<StateID>,
}

/// States in the order of preference, each once.
struct States {
    order: Vec<StateID>,
    /// The round in which a state was last added.
    added: Vec<u32>,
    round: u32,
}

impl States {
    fn new(count: usize) -> States {
        States { order: Vec::new(), added: vec![0; count], round: 1 }
    }

    fn clear(&mut self) {
        self.order.clear();
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.added.fill(0);
            1
        });
    }

    fn insert(&mut self, state: StateID) -> bool {
        let added = &mut self.added[state.as_usize()];
        let is_new = *added != self.round;
        *added = self.round;
        is_new
    }
}

impl Threads {
    pub(crate) fn new(nfa: NFA) -> Threads {
        let count = nfa.states().len();
        Threads { nfa, now: States::new(count), next: States::new(count), stack: Vec::new() }
    }

    /// The end of the leftmost match that begins at `from` or later.
    pub(crate) fn find_end(
        &mut self,
        text: &[u8],
        from: usize,
        work: &mut Work<'_>,
    ) -> Result<Option<usize>, EditErrorKind> {
        self.now.clear();
        let mut end = None;
        for at in from..=text.len() {
            if end.is_some() && self.now.order.is_empty() {
                break;
            }
            if end.is_none() {
                let start = self.nfa.start_anchored();
                follow(&self.nfa, start, text, at, &mut self.now, &mut self.stack);
            }
            work.spend(STEPS_OF_A_STATE * (self.now.order.len() as u64 + 1))?;
            self.next.clear();
            for state in &self.now.order {
                let next = match self.nfa.state(*state) {
                    State::Match { .. } => {
                        // Later states in the order are not preferred to it.
                        end = Some(at);
                        break;
                    }
                    State::ByteRange { trans } => trans.matches(text, at).then_some(trans.next),
                    State::Sparse(sparse) => sparse.matches(text, at),
                    State::Dense(dense) => dense.matches(text, at),
                    _ => None,
                };
                if let Some(next) = next {
                    follow(&self.nfa, next, text, at + 1, &mut self.next, &mut self.stack);
                }
            }
            std::mem::swap(&mut self.now, &mut self.next);
        }
        Ok(end)
    }
}

/// Adds a state and its epsilon closure.
fn follow(nfa: &NFA, from: StateID, text: &[u8], at: usize, states: &mut States, stack: &mut Vec<StateID>) {
    stack.push(from);
    while let Some(state) = stack.pop() {
        if !states.insert(state) {
            continue;
        }
        match nfa.state(state) {
            State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) | State::Match { .. } => {
                states.order.push(state);
            }
            State::Look { look, next } => {
                if nfa.look_matcher().matches(*look, text, at) {
                    stack.push(*next);
                }
            }
            State::Union { alternates } => stack.extend(alternates.iter().rev()),
            State::BinaryUnion { alt1, alt2 } => stack.extend([*alt2, *alt1]),
            State::Capture { next, .. } => stack.push(*next),
            State::Fail => {}
        }
    }
}
