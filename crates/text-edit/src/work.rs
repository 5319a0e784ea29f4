//! The bound on the cost of one call.

use crate::EditErrorKind;

/// The steps between two checks for cancellation.
const STEPS_BETWEEN_LOOKS: u64 = 1 << 16;

/// The steps that a call has left, and its cancellation. A step is about one examined byte.
pub(crate) struct Work<'a> {
    left: u64,
    limit: u64,
    until_look: u64,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl<'a> Work<'a> {
    /// Creates the budget of a call.
    pub(crate) fn new(limit: u64, is_cancelled: &'a dyn Fn() -> bool) -> Work<'a> {
        Work { left: limit, limit, until_look: 0, is_cancelled }
    }

    /// Creates a separate budget within the same call.
    pub(crate) fn separate(&self, limit: u64) -> Work<'a> {
        Work::new(limit, self.is_cancelled)
    }

    /// Spends `steps`, before or after they are made.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), EditErrorKind> {
        self.left =
            self.left.checked_sub(steps).ok_or(EditErrorKind::TooMuchWork { limit_steps: self.limit })?;
        match self.until_look.checked_sub(steps) {
            Some(until_look) => self.until_look = until_look,
            None => self.check_cancelled()?,
        }
        Ok(())
    }

    /// Checks whether the call was cancelled.
    pub(crate) fn check_cancelled(&mut self) -> Result<(), EditErrorKind> {
        self.until_look = STEPS_BETWEEN_LOOKS;
        if (self.is_cancelled)() { Err(EditErrorKind::Cancelled) } else { Ok(()) }
    }
}
