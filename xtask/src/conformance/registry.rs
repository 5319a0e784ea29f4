//! Which runner is for which cases.

use std::panic::catch_unwind;

use serde_json::Value;

use super::{Outcome, Run, Tally, cases, tag_parse, tag_paste};
use crate::TaskError;

/// The runners, by vector file and kind of case.
///
/// A runner is a function in a module of its own, named here with the file and the kind that it is for (`None` for a
/// file whose cases have no kind). Cases without a runner are counted and named.
#[derive(Clone, Debug)]
pub struct Registry {
    runners: Vec<(&'static str, Option<&'static str>, Run)>,
}

impl Registry {
    /// Returns the runners of this repository.
    #[must_use]
    pub fn standard() -> Registry {
        Registry::of(&[
            ("tagproto.json", Some("parse"), tag_parse::run),
            ("paste.json", None, tag_paste::run),
        ])
    }

    /// Returns other runners.
    #[must_use]
    pub fn of(runners: &[(&'static str, Option<&'static str>, Run)]) -> Registry {
        Registry { runners: runners.to_vec() }
    }

    /// Runs the cases of one vector file.
    ///
    /// # Errors
    ///
    /// [`TaskError::NotJson`] and [`TaskError::NoCases`].
    pub fn run_file(&self, file: &str, text: &str) -> Result<Tally, TaskError> {
        let mut tally = Tally::default();
        for case in cases(file, text)? {
            let name = case["name"].as_str().unwrap_or("(a case without a name)");
            match self.runner(file, case["kind"].as_str()) {
                None => tally.no_runner(file, case["kind"].as_str()),
                Some(run) => tally.record(file, name, run_safely(run, &case)),
            }
        }
        Ok(tally)
    }

    fn runner(&self, file: &str, kind: Option<&str>) -> Option<Run> {
        let row = self.runners.iter().find(|(other, of_kind, _)| *other == file && *of_kind == kind);
        row.map(|(_, _, run)| *run)
    }
}

fn run_safely(run: Run, case: &Value) -> Outcome {
    catch_unwind(|| run(case)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Outcome::Failed(format!("panicked: {}", text.unwrap_or("without a text")))
    })
}
