//! Launchers that outlive one run.

use std::sync::{Arc, Mutex, PoisonError};

use sandbox_exec::Launcher;

use crate::error::RunnerError;

/// Launchers that several runs share, such as all tasks of a host of a fleet.
///
/// A launcher proves the confinement of the machine by attacks when it starts, which takes longer than everything else before an
/// agent's first line. Runners that share a value of this type do so once. They must have the same user, scratch folder and
/// limits of confinement. A clone is the same value.
#[derive(Clone, Debug, Default)]
pub struct Launchers {
    confined: Arc<Mutex<Option<Arc<Launcher>>>>,
    unconfined: Arc<Mutex<Option<Arc<Launcher>>>>,
}

impl Launchers {
    /// Returns launchers of which none has been started.
    #[must_use]
    pub fn new() -> Launchers {
        Launchers::default()
    }

    /// Makes a launcher that was started already the one of confined agents.
    pub fn keep_confined(&self, launcher: Launcher) {
        *self.confined.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(launcher));
    }

    /// Returns the launcher of a kind, and starts it at the first call. After an error the next call tries again.
    pub(crate) fn started(
        &self,
        is_confined: bool,
        start: impl FnOnce() -> Result<Launcher, RunnerError>,
    ) -> Result<Arc<Launcher>, RunnerError> {
        let cell = if is_confined { &self.confined } else { &self.unconfined };
        // Held while it starts: another run would prove the same at the same time.
        let mut kept = cell.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(launcher) = &*kept {
            return Ok(Arc::clone(launcher));
        }
        let launcher = Arc::new(start()?);
        *kept = Some(Arc::clone(&launcher));
        Ok(launcher)
    }
}
