//! Codex's scenarios of its patches: what a session makes of each, beside the files that the scenario expects.

mod patch_program;
mod scenario;
mod section;

use std::path::{Path, PathBuf};

use scenario::{Files, Scenario};

use super::applied::apply;
use super::reply_reasons::ReplyReasons;
use super::suite_error::SuiteError;
use crate::TaskError;
use crate::setup::client_packages::ReplayPeers;

/// A run of Codex's scenarios.
#[derive(Clone, Debug)]
pub struct CodexScenarios {
    /// A checkout of Codex, or the folder of its scenarios.
    pub from: PathBuf,
    /// A sentence on what the folder is, if it is not a checkout. The commit of a checkout is read from it.
    pub provenance: Option<String>,
    /// Prints the section alone, and writes no page.
    pub print: bool,
}

const ADVICE: &str = "give a checkout of Codex, or the folder of its patches' scenarios";

/// The scenarios, relative to a checkout.
const SCENARIOS: &str = "codex-rs/apply-patch/tests/fixtures/scenarios";

/// The reasons of known differences, relative to the repository.
const REASONS: &str = "fixtures/outside/codex.toml";

/// The outcome of a scenario here, beside what it expects.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Comparison {
    /// The patch is carried out, and the files are those expected.
    Same,
    /// The files are to stay as they are; they do, and the patch is refused.
    BothRefuse,
    /// The files differ, or a patch that should be refused is reported as done.
    Different {
        /// The outcome that the scenario expects.
        theirs: &'static str,
        /// Our outcome.
        ours: String,
    },
}

/// A scenario with its outcome.
struct Compared {
    name: String,
    comparison: Comparison,
    /// True if Codex's own program leaves the files that are expected; `None` if it is not installed.
    is_met_by_codex: Option<bool>,
}

/// Runs the scenarios and compares; prints the section, and writes it into the page.
///
/// # Errors
///
/// [`SuiteError::NoSuite`] if the folder has no scenarios, [`SuiteError::Unexplained`] if there is a difference without a
/// reason, and those of running and writing.
pub fn codex_scenarios(root: &Path, run: &CodexScenarios) -> Result<(), TaskError> {
    let of_checkout = run.from.join(SCENARIOS);
    let folder = if of_checkout.is_dir() { of_checkout } else { run.from.clone() };
    let scenarios = scenario::read_all(&folder)?;
    if scenarios.is_empty() {
        return Err(SuiteError::NoSuite { folder: run.from.clone(), advice: ADVICE }.into());
    }
    let program = ReplayPeers::installed().codex;
    let mut compared = Vec::new();
    for scenario in scenarios {
        let not_run =
            |why: String| TaskError::from(SuiteError::NotRun { script: scenario.name.clone(), why });
        let ours = apply(&scenario.input, &scenario.patch).map_err(|error| not_run(error.to_string()))?;
        let theirs = program.as_deref().map(|program| patch_program::patched(program, &scenario));
        let theirs = theirs.transpose().map_err(|error| not_run(error.to_string()))?;
        compared.push(Compared {
            comparison: compare(&scenario, ours.is_done, &ours.after, &ours.why),
            is_met_by_codex: theirs.map(|after| after == scenario.expected),
            name: scenario.name,
        });
    }
    let reasons = ReplyReasons::read(root, REASONS)?;
    let of_checkout = || format!("Version {}.", super::checkout::version(&run.from));
    let provenance = run.provenance.clone().unwrap_or_else(of_checkout);
    let (section, unexplained) = section::section(&provenance, &compared, &reasons);
    println!("{section}");
    if !run.print {
        super::write_page(root, "Codex's scenarios of patches", &section)?;
    }
    super::all_explained(unexplained)
}

fn compare(scenario: &Scenario, is_done: bool, after: &Files, why: &str) -> Comparison {
    let stays = scenario.expected == scenario.input;
    let is_as_expected = *after == scenario.expected;
    match (is_as_expected, stays, is_done) {
        (true, true, false) => return Comparison::BothRefuse,
        // Without a change, only the report shows whether the patch was refused.
        (true, false, _) => return Comparison::Same,
        _ => {}
    }
    let theirs = if stays { "nothing is changed" } else { "the files are changed" };
    let ours = match (is_done, *after == scenario.input) {
        (false, true) => format!("refused: {why}"),
        (false, false) => format!("changed in part: {why}"),
        (true, true) => "reported as done".to_owned(),
        (true, false) => "the files are changed in another way".to_owned(),
    };
    Comparison::Different { theirs, ours }
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Files, Scenario, compare};

    fn files(text: &str) -> Files {
        [("a.txt".to_owned(), text.to_owned())].into()
    }

    fn scenario(expected: &str) -> Scenario {
        Scenario {
            name: "one".to_owned(),
            patch: String::new(),
            input: files("old\n"),
            expected: files(expected),
        }
    }

    #[test]
    fn what_leaves_the_expected_files_is_the_same() {
        assert_eq!(compare(&scenario("new\n"), true, &files("new\n"), ""), Comparison::Same);
        assert_eq!(compare(&scenario("old\n"), false, &files("old\n"), "x"), Comparison::BothRefuse);
    }

    #[test]
    fn every_difference_is_named() {
        let different = |theirs, ours: &str| Comparison::Different { theirs, ours: ours.to_owned() };
        let changed = "the files are changed";
        let of = |expected, is_done, after| compare(&scenario(expected), is_done, &files(after), "x");
        assert_eq!(of("new\n", false, "old\n"), different(changed, "refused: x"));
        assert_eq!(of("new\n", false, "half\n"), different(changed, "changed in part: x"));
        assert_eq!(of("new\n", true, "other\n"), different(changed, "the files are changed in another way"));
        assert_eq!(of("old\n", true, "old\n"), different("nothing is changed", "reported as done"));
        assert_eq!(of("old\n", false, "new\n"), different("nothing is changed", "changed in part: x"));
    }
}
