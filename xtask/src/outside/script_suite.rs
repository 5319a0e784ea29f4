//! Suites of scripts: each script is run in all ways, and the outcomes are compared case by case.

mod ordinary_user;
mod reasons;
mod record;
mod report;
mod run;
mod tap;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use self::reasons::Reasons;
use self::record::{Records, ScriptRecord};
use self::report::report;
use self::run::CommandFolder;
use super::suite_error::SuiteError;
use super::way::Way;
use crate::TaskError;
use crate::conformance::Problem;

/// The most runs of a script whose outcomes differ: a difference that depends on chance or load does not count.
const ATTEMPT_LIMIT: u32 = 3;

/// The longest run of a script.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// A run of a suite of scripts.
#[derive(Clone, Debug)]
pub struct ScriptRun {
    /// The folder of the suite.
    pub from: PathBuf,
    /// The beginnings of the names of the scripts to run; all scripts if there is none.
    pub scripts: Vec<String>,
    /// The confined ways to run them.
    pub ways: Vec<Way>,
    /// A file that keeps the outcomes, so that a later run resumes with the scripts that are left.
    pub records: Option<PathBuf>,
    /// The number of scripts that run at once.
    pub jobs: usize,
    /// Prints the section alone, and writes no page.
    pub print: bool,
    /// Keeps the outcomes alone: there is neither a section nor a page.
    pub record_only: bool,
}

/// A suite whose scripts print their outcomes in the form of [`tap`].
pub(super) struct ScriptSuite<'a> {
    /// The name of its task.
    pub(super) name: &'static str,
    /// The heading of its section.
    pub(super) heading: &'static str,
    /// The text of the section in front of its tables, but for the number of scripts.
    pub(super) about: &'static str,
    /// The file with the reasons of known differences, relative to the repository.
    pub(super) reasons: &'static str,
    /// The folder of the suite, canonical, which confined commands may read.
    pub(super) folder: &'a Path,
    /// Its version.
    pub(super) version: &'a str,
    /// The names of all its scripts, sorted.
    pub(super) scripts: &'a [String],
    /// Makes the command that runs a script in a working directory.
    pub(super) command: &'a (dyn Fn(&str, &Path) -> String + Sync),
    /// Names the group of a script.
    pub(super) group: fn(&str) -> String,
}

impl ScriptSuite<'_> {
    /// Runs the chosen scripts as an ordinary user; prints the section, and writes it into the page.
    ///
    /// # Errors
    ///
    /// [`SuiteError::Unexplained`] if there is a difference without a reason, [`SuiteError::NotRun`], and the errors of
    /// reading and writing.
    pub(super) fn measure(&self, root: &Path, run: &ScriptRun) -> Result<(), TaskError> {
        let records = self.records(run)?;
        if run.record_only {
            return Ok(());
        }
        let file = root.join(self.reasons);
        let reasons =
            std::fs::read_to_string(&file).map_err(|source| TaskError::Unreadable { path: file, source })?;
        let reasons = Reasons::parse(self.reasons, &reasons)?;
        let report = report(&records, &run.ways, &reasons, self.group);
        let (measured, all) = (records.all().count(), self.scripts.len());
        let (about, version, tables) = (self.about, self.version, &report.text);
        let list = format!("fixtures/outside/{}-differences.tsv", self.name);
        let section = format!(
            "{about}\n\nVersion {version}, run by an ordinary user: {measured} of {all} scripts. `{list}` has the number of every case \
             that differs.\n\n{tables}"
        );
        println!("{section}\n{}", report.cases);
        if !run.print {
            super::write_page(root, self.heading, &section)?;
            let path = root.join(list);
            std::fs::write(&path, &report.cases).map_err(|source| TaskError::Unwritable { path, source })?;
        }
        super::all_explained(report.unexplained)
    }

    /// Runs the chosen scripts that have no record yet.
    fn records(&self, run: &ScriptRun) -> Result<Records, TaskError> {
        if !crate::setup::is_root() {
            return self.run_scripts(run, Records::open(run.records.as_deref(), self.version)?);
        }
        let no_file = |source| TaskError::Unwritable { path: std::env::temp_dir(), source };
        let own_file = tempfile::NamedTempFile::new().map_err(no_file)?;
        let file = run.records.as_deref().unwrap_or(own_file.path());
        ordinary_user::run_scripts(self.name, self.folder, run, file)?;
        Records::open(Some(file), self.version)
    }

    /// Runs the chosen scripts that have no record yet; a line is printed for each.
    fn run_scripts(&self, run: &ScriptRun, records: Records) -> Result<Records, TaskError> {
        let ways: Vec<Way> = [Way::Plain].into_iter().chain(run.ways.iter().copied()).collect();
        let is_chosen = |script: &&String| {
            run.scripts.is_empty() || run.scripts.iter().any(|start| script.starts_with(start.as_str()))
        };
        let chosen = self.scripts.iter().filter(is_chosen);
        let left: Vec<&String> = chosen.filter(|script| !records.has(script, &ways)).collect();
        let next = AtomicUsize::new(0);
        let records = Mutex::new(records);
        let work = || -> Result<(), TaskError> {
            let mut folders: BTreeMap<Way, CommandFolder> = BTreeMap::new();
            while let Some(script) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                let not_run =
                    |why: Problem| SuiteError::NotRun { script: (*script).clone(), why: why.to_string() };
                let record = self.record(&mut folders, &ways, script).map_err(not_run)?;
                println!("{}", line(&record));
                records.lock().expect("no thread panics while holding it").add(record)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..run.jobs.max(1)).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("a worker does not panic"))
        })?;
        Ok(records.into_inner().expect("no thread panics while holding it"))
    }

    fn record(
        &self,
        folders: &mut BTreeMap<Way, CommandFolder>,
        ways: &[Way],
        script: &str,
    ) -> Result<ScriptRecord, Problem> {
        let mut record = ScriptRecord {
            version: self.version.to_owned(),
            script: script.to_owned(),
            attempts: 0,
            outcomes: BTreeMap::new(),
            remarks: BTreeMap::new(),
            milliseconds: BTreeMap::new(),
        };
        while record.attempts == 0 || (record.attempts < ATTEMPT_LIMIT && !record.differences().is_empty()) {
            record.attempts += 1;
            for way in ways {
                let folder = match folders.remove(way) {
                    Some(folder) => folder,
                    None => CommandFolder::new(*way, self.folder)?,
                };
                let folder = folders.entry(*way).or_insert(folder);
                let end = folder.run(&(self.command)(script, &folder.work()), TIMEOUT)?;
                record.outcomes.insert(*way, tap::parse(&end.output));
                record.remarks.insert(*way, end.remarks);
                let milliseconds = u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX);
                record.milliseconds.insert(*way, milliseconds);
            }
        }
        Ok(record)
    }
}

fn line(record: &ScriptRecord) -> String {
    let cases = record.plain().cases.len();
    let seconds: Vec<String> = record
        .milliseconds
        .values()
        .map(|milliseconds| format!("{:.1}", *milliseconds as f64 / 1000.0))
        .collect();
    let differences = record.differences();
    let seconds = seconds.join(", ");
    format!("{}: {cases} cases, {} differences, {seconds} s", record.script, differences.len())
}

/// Puts a path into the text of a command.
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

/// Returns the names of a folder's entries, sorted; none if it cannot be read.
pub(super) fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
