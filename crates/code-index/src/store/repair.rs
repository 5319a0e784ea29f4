//! Repair of a damaged store.

use wap_core::IndexError;

use crate::error::{is_damaged, store_failed};
use crate::index::LocalIndex;

impl LocalIndex {
    /// Checks the whole store and rebuilds it if it is damaged. Returns true if it was rebuilt; the store is then
    /// empty, and the next refresh reads all files.
    ///
    /// # Errors
    ///
    /// [`IndexError::Failed`]: the store cannot be checked, or cannot be rebuilt.
    pub fn repair(&self) -> Result<bool, IndexError> {
        match self.is_sound() {
            Ok(true) => return Ok(false),
            Err(error) if !is_damaged(&error) => return Err(store_failed(&error)),
            _ => {}
        }
        let _alone = self.refreshing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let failed =
            |_| IndexError::Failed { cause: "its store is damaged and cannot be rebuilt".to_owned() };
        self.store.replace().map_err(failed)?;
        Ok(true)
    }

    /// Returns true if the whole store can be read, page by page and row by row.
    fn is_sound(&self) -> Result<bool, rusqlite::Error> {
        let verdict: String =
            self.store.reader().query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        self.store.stamped_files()?;
        self.store.totals()?;
        self.store.graph_number()?;
        Ok(verdict == "ok")
    }
}
