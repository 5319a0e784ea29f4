//! The page `docs/mutants.md`: a section for each crate.

use std::fmt::Write;
use std::path::Path;

use super::outcomes::{Outcome, Outcomes};
use super::subject::Subject;
use super::survivors::Survivors;
use crate::TaskError;
use crate::repository::page::{code_cell, marked_cell, write_section};

/// The text in front of the sections.
const BEGINNING: &str = "# Mutants

Written by `cargo xtask mutants`, which changes a crate in one small way after the other (`cargo mutants`) and runs the crate's own
tests. A mutant is caught if a test or a property fails, or if the tests hang and are ended. Tests of other crates and the examples
in the documentation do not count.

Six crates are meant for it: `text-edit`, `cocode-env`, `rel-path`, `sandbox-fs`, `codali-envelope` and `tagproto`. Those without a section
here have no figures on this page yet.

```sh
cargo xtask mutants                      # all six; a run that is interrupted continues
cargo xtask mutants cocode-env --minutes 30
cargo xtask mutants cocode-env --anew    # also what earlier runs have caught
```

`cargo xtask setup` installs `cargo mutants`. `fixtures/mutants.toml` has the survivors with their reasons. A survivor without a
reason fails the task, as does a reason whose mutant is caught. `not tried` means that the last run ended before them. A section is about
one state of the crate, with its tests: `git rev-parse COMMIT:crates/NAME` gives its tree. Once the crate has changed, all of its mutants
are tried again.
";

/// The number of digits of a tree that the page has.
const TREE_DIGITS: usize = 12;

/// Writes the section of one crate.
pub(super) fn write(
    root: &Path,
    subject: &Subject,
    outcomes: &Outcomes,
    listed: usize,
    survivors: &Survivors,
) -> Result<(), TaskError> {
    let text = section(subject, outcomes, listed, survivors);
    write_section(&root.join("docs/mutants.md"), BEGINNING, subject.package, &text)
}

fn section(subject: &Subject, outcomes: &Outcomes, listed: usize, survivors: &Survivors) -> String {
    let counts = [Outcome::Caught, Outcome::TimedOut, Outcome::Unviable, Outcome::Missed];
    let counts = counts.map(|outcome| outcomes.count(outcome).to_string());
    let tree: String = outcomes.tree().chars().take(TREE_DIGITS).collect();
    let dates = match outcomes.dates() {
        Some((first, last)) if first == last => format!("tried on {first}"),
        Some((first, last)) => format!("tried from {first} to {last}"),
        None => "not tried".to_owned(),
    };
    let mut text = format!(
        "The crate of {}, of the tree `{tree}`, {dates}. {}\n\n\
         | mutants | caught | tests hung | do not compile | survivors | not tried |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: |\n\
         | {listed} | {} | {} |\n",
        subject.purpose,
        share(outcomes),
        counts.join(" | "),
        listed.saturating_sub(outcomes.tried()),
    );
    let mut explained = survivors.of(subject.package).peekable();
    if explained.peek().is_some() {
        text.push_str("\n| survivor | number | reason |\n| --- | ---: | --- |\n");
    }
    for survivor in explained {
        let (mutant, reason) = (code_cell(&survivor.mutant), marked_cell(&survivor.reason));
        // Writing into a string cannot fail.
        let _ = writeln!(text, "| {mutant} | {} | {reason} |", survivor.count);
    }
    text
}

/// Renders the share of the mutants that compile and are caught; mutants that hang the tests are caught.
fn share(outcomes: &Outcomes) -> String {
    let caught = outcomes.count(Outcome::Caught) + outcomes.count(Outcome::TimedOut);
    let compiled = caught + outcomes.count(Outcome::Missed);
    let percent = if compiled == 0 { 100.0 } else { caught as f64 * 100.0 / compiled as f64 };
    format!("Caught: {caught} of the {compiled} that compile ({percent:.1} %).")
}

#[cfg(test)]
mod tests {
    use super::super::subject::SUBJECTS;
    use super::*;

    #[test]
    fn the_page_names_every_crate() {
        assert!(SUBJECTS.iter().all(|subject| BEGINNING.contains(&format!("`{}`", subject.package))));
    }

    #[test]
    fn a_section_has_the_counts_and_each_survivor_with_its_reason() {
        let survivors: Survivors = toml::from_str(
            "[[survivor]]\ncrate = \"text-edit\"\nmutant = \"src/b.rs: replace | with ^ in c\"\nreason = \"the bits differ\"\n",
        )
        .unwrap();
        let outcomes = Outcomes::of(&[
            ("a", Outcome::Caught),
            ("b", Outcome::Caught),
            ("c", Outcome::Missed),
            ("d", Outcome::Unviable),
        ]);
        let text = section(&SUBJECTS[0], &outcomes, 6, &survivors);
        assert_eq!(
            text,
            "The crate of edits of bytes, of the tree `0123456789ab`, tried on 2026-11-26. Caught: 2 of the 3 that compile (66.7 %).\n\n\
             | mutants | caught | tests hung | do not compile | survivors | not tried |\n\
             | ---: | ---: | ---: | ---: | ---: | ---: |\n\
             | 6 | 2 | 0 | 1 | 1 | 2 |\n\n\
             | survivor | number | reason |\n| --- | ---: | --- |\n\
             | `src/b.rs: replace \\| with ^ in c` | 1 | the bits differ |\n"
        );
    }
}
