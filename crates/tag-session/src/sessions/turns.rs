//! Serialises changes of a session.
//!
//! A session is read, changed and written as a whole. A second change in between would be lost, or would revert the session to a
//! message that was already answered.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tagproto::SessionId;

use crate::error::SessionError;

/// The sessions that are being changed.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    held: Mutex<HashMap<SessionId, Holder>>,
    changed: Condvar,
}

/// The change that is in progress for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// A short change.
    Edit,
    /// A reply that is being executed, which may take hours.
    Reply,
}

/// A caller's turn to change a session, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    id: SessionId,
}

impl Turns {
    /// Takes the turn at a session, after waiting for a short change in progress.
    ///
    /// # Errors
    ///
    /// [`SessionError::Busy`] while a reply to the session is being executed.
    pub(crate) fn take(&self, id: SessionId) -> Result<Turn<'_>, SessionError> {
        let mut held = self.lock();
        loop {
            match held.get(&id) {
                None => break,
                Some(Holder::Reply) => return Err(SessionError::Busy),
                Some(Holder::Edit) => {
                    held = self.changed.wait(held).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        held.insert(id, Holder::Edit);
        Ok(Turn { turns: self, id })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Holder>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Marks the change as the execution of a reply, for which no other change waits.
    pub(crate) fn execute(&self) {
        self.turns.lock().insert(self.id, Holder::Reply);
        self.turns.changed.notify_all();
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.lock().remove(&self.id);
        self.turns.changed.notify_all();
    }
}
