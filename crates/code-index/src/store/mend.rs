//! Damage that shows when the store is asked.

use wap_core::IndexError;

use crate::error::{is_damaged, store_failed};
use crate::index::LocalIndex;

impl LocalIndex {
    /// Looks at the whole store, and makes it anew if it is damaged; tells whether it has. Everything then has to be read again.
    ///
    /// # Errors
    ///
    /// [`IndexError::Failed`]: it cannot be told, or no other store can be made.
    pub fn mend(&self) -> Result<bool, IndexError> {
        match self.look_for_damage() {
            Ok(true) => return Ok(false),
            Err(error) if !is_damaged(&error) => return Err(store_failed(&error)),
            _ => {}
        }
        let _alone = self.refreshing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let failed =
            |_| IndexError::Failed { cause: "its store is damaged and cannot be made anew".to_owned() };
        self.store.replace().map_err(failed)?;
        Ok(true)
    }

    /// Whether everything can be read, page by page and row by row.
    fn look_for_damage(&self) -> Result<bool, rusqlite::Error> {
        let verdict: String =
            self.store.reader().query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        self.store.known()?;
        self.store.totals()?;
        self.store.graph_number()?;
        Ok(verdict == "ok")
    }
}
