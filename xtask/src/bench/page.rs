//! The page with the figures of the last runs.

use std::fs;
use std::path::Path;

use super::BenchArea;
use super::plot::Plot;
use crate::TaskError;
use crate::repository::machine::{description, load};
use crate::repository::page::write_section;
use crate::repository::today::today;

const PAGE: &str = "docs/figures.md";

/// The text in front of the sections.
const BEGINNING: &str = "# Figures\n\nWritten by `cargo xtask bench --page`: what each benchmark printed in its last run, as it printed it. The \
     goals, those that are not met and why are in [benchmarks](benchmarks.md). Compare figures of one run only.\n";

/// The mark in front of a plot as JSON, which a benchmark prints on a line of its own.
const PLOT: &str = "plot ";

/// The output of the benchmarks of an area.
pub(super) struct Measured {
    load_before: String,
    lines: Vec<String>,
    plots: Vec<Plot>,
}

impl Measured {
    /// Notes the load of the machine before a run.
    pub(super) fn begin() -> Measured {
        Measured { load_before: load(), lines: Vec::new(), plots: Vec::new() }
    }

    /// Takes a line of output.
    pub(super) fn see(&mut self, line: &str) {
        let plot = line.strip_prefix(PLOT).and_then(|json| serde_json::from_str::<Plot>(json).ok());
        // What cannot be drawn stays in the text, where it is seen.
        match plot.filter(Plot::can_be_drawn) {
            Some(plot) => self.plots.push(plot),
            None => self.lines.push(line.trim_end().to_owned()),
        }
    }

    /// Writes the section of `area`, and its plots; `of_program` if another program than that of the build was measured.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub(super) fn write(&self, root: &Path, area: &BenchArea, of_program: bool) -> Result<(), TaskError> {
        for plot in &self.plots {
            let path = root.join("docs/pictures").join(plot.file());
            fs::write(&path, plot.svg()).map_err(|source| TaskError::Unwritable { path, source })?;
        }
        let date = today();
        let program = if of_program { " --program FILE" } else { "" };
        let text = self.section(&format!("{}{program}", area.words()), &date, &description(), &load());
        write_section(&root.join(PAGE), BEGINNING, &area.heading(), &text)
    }

    fn section(&self, words: &str, date: &str, machine: &str, load_after: &str) -> String {
        let mut text = format!(
            "`cargo xtask bench {words} --page`, {date}, on {machine}; load {} before and {load_after} after.\n\n```text\n{}\n```\n",
            self.load_before,
            self.lines.join("\n").trim_matches('\n').replace("```", "'''")
        );
        for plot in &self.plots {
            text.push_str(&format!("\n![{}](pictures/{})\n", plot.title, plot.file()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_has_the_output_and_the_plots() {
        let mut measured = Measured { load_before: "0.10".to_owned(), ..Measured::begin() };
        for line in ["", "reading a file  ", "  1.2 ms", "plot not one", ""] {
            measured.see(line);
        }
        measured.see(
            r#"plot {"name":"reads","title":"Reads","x":"files","y":"ms","series":[{"name":"ours","points":[[1,2.0],[10,3.0]]}]}"#,
        );
        assert_eq!(
            measured.section("files", "2026-01-02", "1 × Model, 2 GiB, Linux 6.0", "0.90"),
            "`cargo xtask bench files --page`, 2026-01-02, on 1 × Model, 2 GiB, Linux 6.0; load 0.10 before and 0.90 after.\n\n\
             ```text\nreading a file\n  1.2 ms\nplot not one\n```\n\n![Reads](pictures/bench-reads.svg)\n"
        );
    }
}
