//! Lines by crate.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::CrateList;

/// The lines of one crate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    all: u64,
    reached: u64,
}

/// The lines of each crate's sources, by its name.
#[derive(Debug, Default)]
pub(super) struct LinesByCrate(BTreeMap<String, Lines>);

impl LinesByCrate {
    /// Reads the figures of files, as `llvm-cov export` has them. Files that are not sources of a crate do not count.
    pub(super) fn read(report: &Value, root: &Path, crates: &CrateList) -> LinesByCrate {
        let mut lines = LinesByCrate::default();
        for file in report["data"][0]["files"].as_array().into_iter().flatten() {
            let path = Path::new(file["filename"].as_str().unwrap_or_default());
            let Ok(path) = path.strip_prefix(root) else { continue };
            let of = crates.crates.iter().find(|one| path.starts_with(Path::new(&one.folder).join("src")));
            let Some(of) = of else { continue };
            let summary = &file["summary"]["lines"];
            let sum = lines.0.entry(of.name.clone()).or_default();
            sum.all += summary["count"].as_u64().unwrap_or_default();
            sum.reached += summary["covered"].as_u64().unwrap_or_default();
        }
        lines
    }

    /// Renders a table of the wanted crates, or of all, and their sum.
    pub(super) fn table(&self, wanted: &[String]) -> String {
        let mut text = String::from("| crate | lines | reached | share |\n| --- | ---: | ---: | ---: |\n");
        let mut sum = Lines::default();
        let rows = self.0.iter().filter(|(name, _)| wanted.is_empty() || wanted.contains(name));
        for (name, lines) in rows {
            text.push_str(&row(name, *lines));
            sum.all += lines.all;
            sum.reached += lines.reached;
        }
        text.push_str(&row("together", sum));
        text
    }
}

fn row(name: &str, lines: Lines) -> String {
    let mut text = String::new();
    let share = 100.0 * lines.reached as f64 / lines.all.max(1) as f64;
    // Writing into a string cannot fail.
    let _ = writeln!(text, "| {name} | {} | {} | {share:.1} % |", lines.all, lines.reached);
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Crate;

    fn crates() -> CrateList {
        let named = |name: &str| Crate {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            dependencies: Vec::new(),
            benches: Vec::new(),
        };
        CrateList { crates: vec![named("one"), named("one-more")] }
    }

    #[test]
    fn lines_are_summed_by_crate_and_tests_do_not_count() {
        let file = |name: &str, count: u64, covered: u64| json!({ "filename": name, "summary": { "lines": { "count": count, "covered": covered } } });
        let report = json!({ "data": [{ "files": [
            file("/r/crates/one/src/a.rs", 10, 5),
            file("/r/crates/one/src/b/c.rs", 30, 30),
            file("/r/crates/one/tests/it/main.rs", 100, 100),
            file("/r/crates/one-more/src/a.rs", 8, 8),
            file("/registry/serde/src/lib.rs", 100, 1),
        ] }] });
        let lines = LinesByCrate::read(&report, Path::new("/r"), &crates());
        let rows =
            |wanted: &[String]| lines.table(wanted).lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            rows(&[]),
            [
                "| one | 40 | 35 | 87.5 % |",
                "| one-more | 8 | 8 | 100.0 % |",
                "| together | 48 | 43 | 89.6 % |"
            ]
        );
        assert_eq!(rows(&["one".to_owned()])[1], "| together | 40 | 35 | 87.5 % |");
    }
}
