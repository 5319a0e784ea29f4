//! All soaks within a time that a person waits for.

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Soak;
use super::run::PROGRAM;
use crate::{Step, TaskError};

/// The packages whose tests are built first, so that building takes none of the time.
const PACKAGES: [&str; 3] = ["sandbox-fs", "sandbox-exec", PROGRAM];

/// A soak that gets a share of the time.
struct Part {
    name: &'static str,
    /// The unit of the size.
    unit: &'static str,
    /// The size of a first run, whose time says how much fits into the share; `None` if the size is a time.
    first: Option<u64>,
    sized: fn(u64) -> Soak,
}

/// The soaks that fit: those of any size, without root and without a server of others.
const PARTS: [Part; 9] = [
    Part {
        name: "files",
        unit: "operations",
        first: Some(4_000),
        sized: |operations| Soak::Files { operations },
    },
    Part {
        name: "journal",
        unit: "s",
        first: None,
        sized: |seconds| Soak::Journal { seconds: Some(seconds), anew: false },
    },
    Part { name: "exec", unit: "runs", first: Some(35), sized: |runs| Soak::Exec { runs } },
    Part {
        name: "cocode",
        unit: "runs",
        first: Some(2),
        sized: |runs| Soak::Cocode { runs, log_megabytes: 32 },
    },
    Part { name: "codali", unit: "flows", first: Some(1), sized: |runs| Soak::Codali { runs } },
    Part { name: "loop", unit: "sessions", first: Some(1), sized: |runs| Soak::Loop { runs } },
    Part { name: "review", unit: "rounds", first: Some(1), sized: |rounds| Soak::Review { rounds } },
    Part { name: "hostile", unit: "s", first: None, sized: |seconds| Soak::Hostile { seconds } },
    Part {
        name: "serve",
        unit: "s",
        first: None,
        sized: |seconds| Soak::Serve { seconds, connections: 200 },
    },
];

/// The soaks that have a time or needs of their own.
const LEFT_OUT: &str =
    "not among them: `soak denied`, whose size is fixed, and `soak fleet`, which needs root and a server";

/// A part after its run.
struct Outcome {
    name: &'static str,
    size: String,
    took: Duration,
    is_passed: bool,
}

/// Gives each soak a share of the time, one after the other, and prints a table. A failure does not end the others.
///
/// # Errors
///
/// Those of building the tests; [`TaskError::SoaksFailed`] with the soaks that failed.
pub(super) fn all(root: &Path, minutes: u64) -> Result<(), TaskError> {
    for package in PACKAGES {
        let build = ["test", "--no-run", "--package", package, "--test", "it"];
        Step::cargo("build", &build).folder(root).run()?;
    }
    let share = Duration::from_secs(minutes * 60) / PARTS.len() as u32;
    let outcomes: Vec<Outcome> = PARTS.iter().map(|part| part.run(root, share)).collect();
    print!("{}", table(&outcomes));
    println!("{LEFT_OUT}");
    let failed: Vec<&str> = outcomes.iter().filter(|one| !one.is_passed).map(|one| one.name).collect();
    if failed.is_empty() { Ok(()) } else { Err(TaskError::SoaksFailed { soaks: failed.join(", ") }) }
}

impl Part {
    /// Runs the soak for about its share: at once if its size is a time, else a small run and then one that fills the share.
    fn run(&self, root: &Path, share: Duration) -> Outcome {
        let began = Instant::now();
        let mut sizes = vec![self.first.unwrap_or(share.as_secs())];
        let mut is_passed = (self.sized)(sizes[0]).run(root).is_ok();
        let further = self.first.and_then(|first| fitting(first, began.elapsed(), share));
        if let Some(further) = further.filter(|_| is_passed) {
            sizes.push(further);
            is_passed = (self.sized)(further).run(root).is_ok();
        }
        let total: u64 = sizes.iter().sum();
        Outcome { name: self.name, size: format!("{total} {}", self.unit), took: began.elapsed(), is_passed }
    }
}

/// Returns the size that fills the rest of the share at the rate of the first run; `None` if not even one fits.
fn fitting(first: u64, took: Duration, share: Duration) -> Option<u64> {
    let rest = share.checked_sub(took)?;
    let times = rest.as_secs_f64() / took.as_secs_f64().max(0.001);
    // A float of a few thousands, rounded down.
    Some((first as f64 * times) as u64).filter(|size| *size > 0)
}

fn table(outcomes: &[Outcome]) -> String {
    let mut text = String::from("| soak | size | time | result |\n| --- | ---: | ---: | --- |\n");
    for Outcome { name, size, took, is_passed } in outcomes {
        let result = if *is_passed { "passed" } else { "**failed**" };
        // Writing into a string cannot fail.
        let _ = writeln!(text, "| {name} | {size} | {:.0} s | {result} |", took.as_secs_f64());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_is_left_of_a_share_is_filled_at_the_rate_of_the_first_run() {
        assert_eq!(fitting(4, 10 * SECOND, 60 * SECOND), Some(20));
        assert_eq!(fitting(4, 10 * SECOND, 19 * SECOND), Some(3));
    }

    #[test]
    fn a_share_that_is_used_up_has_no_further_run() {
        assert_eq!(fitting(4, 10 * SECOND, 12 * SECOND), None);
        assert_eq!(fitting(4, 70 * SECOND, 60 * SECOND), None);
    }

    #[test]
    fn a_failed_soak_stands_out_in_the_table() {
        let outcome =
            |name, is_passed| Outcome { name, size: "3 runs".to_owned(), took: 61 * SECOND, is_passed };
        let table = table(&[outcome("files", true), outcome("exec", false)]);
        assert_eq!(
            table.lines().skip(2).collect::<Vec<_>>(),
            ["| files | 3 runs | 61 s | passed |", "| exec | 3 runs | 61 s | **failed** |"]
        );
    }
}
