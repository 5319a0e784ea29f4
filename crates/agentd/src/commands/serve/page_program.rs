//! The answers of the page that only this program can give.

use cocode_runner::RunnerConfig;
use wap_core::{CancelFlag, TaskFile};
use web_ui::{Finding, PageHost};
use workspace_host::{Failure, WorkspacePaths};

use crate::commands::cocode::options::WorktreesFolder;
use crate::commands::cocode::runner_config;
use crate::commands::doctor;
use crate::commands::session::surroundings::surroundings;
use crate::commands::session::task_files::task_files;
use crate::common_options::CommonOptions;
use crate::config::ConfigFile;
use crate::views::console::Console;

/// The options for this program to serve the page.
pub(crate) struct PageProgram {
    common: CommonOptions,
    config: ConfigFile,
    console: Console,
    paths: WorkspacePaths,
    command: &'static str,
}

impl PageProgram {
    pub(super) fn new(
        common: &CommonOptions,
        config: &ConfigFile,
        console: Console,
        paths: &WorkspacePaths,
        command: &'static str,
    ) -> PageProgram {
        PageProgram { common: common.clone(), config: config.clone(), console, paths: paths.clone(), command }
    }
}

impl PageHost for PageProgram {
    fn command(&self) -> &'static str {
        self.command
    }

    fn task_files(&self, task: &str, cancel: &CancelFlag) -> Vec<TaskFile> {
        task_files(&self.common, self.console, &self.paths, task, cancel)
    }

    fn surroundings(&self) -> Vec<String> {
        surroundings(&self.common)
    }

    fn findings(&self) -> Vec<Finding> {
        doctor::findings(&self.common, &self.config, false)
    }

    fn runner(&self) -> Result<RunnerConfig, Failure> {
        runner_config::config(&self.common, &WorktreesFolder::default())
    }
}
