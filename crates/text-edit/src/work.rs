//! The bound on the cost of one call.

use crate::EditErrorKind;

/// The steps between two looks at whether the call is still wanted.
const STEPS_BETWEEN_LOOKS: u64 = 1 << 16;

/// The steps that a call has left, and whether it is still wanted. A step is about one byte looked at.
pub(crate) struct Work<'a> {
    left: u64,
    limit: u64,
    until_look: u64,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl<'a> Work<'a> {
    /// Allows for each byte of a text to be looked at many times, and for a short text even more often.
    pub(crate) fn new(limit: u64, is_cancelled: &'a dyn Fn() -> bool) -> Work<'a> {
        Work { left: limit, limit, until_look: 0, is_cancelled }
    }

    /// Allows for steps of another purpose within the same call.
    pub(crate) fn another(&self, limit: u64) -> Work<'a> {
        Work::new(limit, self.is_cancelled)
    }

    /// Takes note of `steps`, before or after they are made.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), EditErrorKind> {
        self.left =
            self.left.checked_sub(steps).ok_or(EditErrorKind::TooMuchWork { limit_steps: self.limit })?;
        match self.until_look.checked_sub(steps) {
            Some(until_look) => self.until_look = until_look,
            None => self.look()?,
        }
        Ok(())
    }

    /// Looks whether the call is still wanted.
    pub(crate) fn look(&mut self) -> Result<(), EditErrorKind> {
        self.until_look = STEPS_BETWEEN_LOOKS;
        if (self.is_cancelled)() { Err(EditErrorKind::Cancelled) } else { Ok(()) }
    }
}
