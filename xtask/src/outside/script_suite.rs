//! Suites of scripts: each script is run in all ways, and the outcomes are compared case by case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::script_record::{Records, ScriptRecord};
use super::script_run::CommandFolder;
use super::suite_error::SuiteError;
use super::tap;
use super::way::Way;
use crate::TaskError;
use crate::conformance::Problem;

/// How often a script is run again while its outcomes differ: what depends on chance or load is no difference.
const ATTEMPT_LIMIT: u32 = 3;

/// The longest run of a script.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// A suite whose scripts print their outcomes in the form of [`tap`].
pub(super) struct ScriptSuite<'a> {
    /// The folder of the suite, which confined commands may read.
    pub(super) folder: &'a Path,
    /// Its version.
    pub(super) version: &'a str,
    /// The names of the scripts to run.
    pub(super) scripts: &'a [String],
    /// The confined ways.
    pub(super) ways: &'a [Way],
    /// The number of scripts that run at once.
    pub(super) jobs: usize,
    /// Makes the command that runs a script in a working directory.
    pub(super) command: &'a (dyn Fn(&str, &Path) -> String + Sync),
}

impl ScriptSuite<'_> {
    /// Runs the scripts that have no record yet; a line is printed for each.
    ///
    /// # Errors
    ///
    /// [`SuiteError::NotRun`] if a command cannot be started, and those of the records.
    pub(super) fn run(&self, records: Records) -> Result<Records, TaskError> {
        let ways: Vec<Way> = [Way::Plain].into_iter().chain(self.ways.iter().copied()).collect();
        let left: Vec<&String> = self.scripts.iter().filter(|script| !records.has(script, &ways)).collect();
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
            let threads: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(work)).collect();
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

/// Returns the scripts of a folder whose names begin with one of the prefixes, sorted; all if there is no prefix.
///
/// # Errors
///
/// [`SuiteError::NoSuite`] if there is none.
pub(super) fn scripts_in(
    folder: &Path,
    is_script: impl Fn(&str) -> bool,
    prefixes: &[String],
    advice: &'static str,
) -> Result<Vec<String>, SuiteError> {
    let no_suite = || SuiteError::NoSuite { folder: PathBuf::from(folder), advice };
    let names = std::fs::read_dir(folder).map_err(|_| no_suite())?.filter_map(Result::ok);
    let is_chosen =
        |name: &String| prefixes.is_empty() || prefixes.iter().any(|prefix| name.starts_with(prefix));
    let mut names: Vec<String> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_script(name) && is_chosen(name))
        .collect();
    names.sort();
    if names.is_empty() { Err(no_suite()) } else { Ok(names) }
}
