//! The figures of a target, as libFuzzer reports them.

use std::fmt::Write;

/// The figures of one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) name: String,
    /// The time of the processor that the target took.
    pub(super) cpu_seconds: u64,
    /// Inputs that were run.
    pub(super) inputs: u64,
    /// Branches that were reached.
    pub(super) coverage: u64,
    /// Inputs that reached something new.
    pub(super) new_inputs: u64,
    pub(super) peak_megabytes: u64,
    pub(super) has_failed: bool,
}

impl Figures {
    /// Reads the report of a target, which does not have its processor time. What is missing in it counts as 0.
    pub(super) fn read(name: &str, report: &str, is_success: bool) -> Figures {
        let stat = |wanted: &str| {
            let line = report.lines().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(wanted));
            line.and_then(|rest| rest.trim_start_matches(':').trim().parse().ok()).unwrap_or(0)
        };
        let coverage = report.lines().rev().find_map(|line| {
            let mut words = line.split_whitespace().skip_while(|word| *word != "cov:");
            words.nth(1)?.parse().ok()
        });
        Figures {
            name: name.to_owned(),
            cpu_seconds: 0,
            inputs: stat("number_of_executed_units"),
            coverage: coverage.unwrap_or(0),
            new_inputs: stat("new_units_added"),
            peak_megabytes: stat("peak_rss_mb"),
            has_failed: !is_success,
        }
    }
}

/// Renders a table, one row for each target.
pub(super) fn table(all: &[Figures]) -> String {
    let mut text =
        String::from("| target | processor | inputs | branches reached | new inputs | peak MB | found |\n");
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
    for one in all {
        let outcome = if one.has_failed { "**yes**" } else { "no" };
        let Figures { name, cpu_seconds, inputs, coverage, new_inputs, peak_megabytes, .. } = one;
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {cpu_seconds} s | {inputs} | {coverage} | {new_inputs} | {peak_megabytes} | {outcome} |"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "#2\tINITED cov: 12 ft: 13 corp: 1/1b\n#900\tDONE   cov: 345 ft: 99 corp: 7/9b\n\
        stat::number_of_executed_units: 900\nstat::average_exec_per_sec:     0\nstat::new_units_added:          7\n\
        stat::peak_rss_mb:              41\n";

    #[test]
    fn a_report_is_read() {
        let figures = Figures { cpu_seconds: 3, ..Figures::read("a", REPORT, true) };
        assert_eq!(table(&[figures]).lines().last(), Some("| a | 3 s | 900 | 345 | 7 | 41 | no |"));
    }

    #[test]
    fn a_failed_target_without_figures_is_said() {
        let figures = Figures::read("b", "==1== ERROR: libFuzzer: deadly signal\n", false);
        assert_eq!(table(&[figures]).lines().last(), Some("| b | 0 s | 0 | 0 | 0 | 0 | **yes** |"));
    }
}
