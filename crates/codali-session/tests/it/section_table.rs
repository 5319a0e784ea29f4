//! The table of `docs/codali.md` that maps the sections of the protocol to tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../../../docs/codali.md");

/// Returns the sections of the table, each with a test that it names.
fn rows() -> Vec<(u32, &'static str)> {
    let table = PAGE.split("## The document, section by section").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let mut rows = Vec::new();
    for line in table.lines().filter_map(|line| line.strip_prefix("| ")) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let Some(section) = cells.first().and_then(|cell| cell.parse().ok()) else { continue };
        rows.extend(cells[2].split('`').skip(1).step_by(2).map(|test| (section, test)));
    }
    rows
}

#[test]
fn every_section_is_held_by_tests_that_exist() {
    let rows = rows();
    let sections: BTreeSet<u32> = rows.iter().map(|(section, _)| *section).collect();
    assert_eq!(sections, (1..=7).collect());
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (section, name) in rows {
        let (package, path) = name.split_once(' ').unwrap_or_else(|| panic!("{name} names no crate"));
        let (module, test) = path.rsplit_once("::").unwrap_or_else(|| panic!("{name} names no module"));
        let file = crates.join(package).join("tests/it").join(module.replace("::", "/")).with_extension("rs");
        let source =
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("section {section}, {name}: {error}"));
        let is_there = source.contains(&format!("#[test]\nfn {test}()"));
        assert!(is_there, "section {section}: {name} is not a test");
    }
}
