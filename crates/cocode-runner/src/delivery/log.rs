//! The log of an agent on another machine.

use std::io;

use cocode_env::LogStream;

use crate::error::RunnerError;
use crate::record::AgentRecord;
use crate::repository::worktree::file_error;
use crate::run::log_file::LogFile;
use crate::runner::Runner;

/// The log of an agent on another machine, bounded like a local agent's: the oldest lines are deleted.
#[derive(Debug)]
pub struct ElsewhereLog {
    file: LogFile,
}

impl ElsewhereLog {
    /// Adds a line. A text with line breaks becomes several lines, and an overlong line as well.
    pub fn add(&mut self, line: &str) {
        let mut lines = LogStream::new();
        lines.push(line.trim_end_matches('\n').as_bytes(), |line| self.file.add(line));
        lines.finish(|line| self.file.add(line));
    }

    /// Returns the last error that lost lines, if any.
    pub fn failure(&self) -> Option<io::ErrorKind> {
        self.file.failure()
    }
}

impl Runner {
    /// Begins the log of an agent on another machine; its previous content is deleted.
    ///
    /// # Errors
    /// [`RunnerError::File`].
    pub fn elsewhere_log(&self, record: &AgentRecord) -> Result<ElsewhereLog, RunnerError> {
        let path = self.log_path(record);
        let file = LogFile::create(&path).map_err(file_error("write", &path))?;
        Ok(ElsewhereLog { file })
    }
}
