//! Small projects in every language, against lists that were written by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use code_index::LocalIndex;
use serde_json::Value;
use wap_core::{CodeIndex, DiagnoseImpact, ReadImpact};

use crate::fixture::{call, refresh, source, symbols};

const LANGUAGES: [&str; 8] = ["rust", "python", "typescript", "go", "java", "c", "cpp", "csharp"];
#[cfg(feature = "more-languages")]
const MORE_LANGUAGES: [&str; 10] =
    ["bash", "dart", "elixir", "erlang", "lua", "php", "powershell", "r", "ruby", "zig"];

/// Lines about files, compared without regard to their order.
type Table = BTreeMap<String, Vec<String>>;

struct Analysis {
    definitions: Table,
    imports: Table,
    unresolved: Vec<String>,
}

#[test]
fn definitions_and_imports_are_those_of_the_lists_written_by_hand() {
    check(&LANGUAGES);
}

#[cfg(feature = "more-languages")]
#[test]
fn definitions_and_imports_of_more_languages_are_those_of_the_lists() {
    check(&MORE_LANGUAGES);
}

fn check(languages: &[&str]) {
    let mut wrong = Vec::new();
    for language in languages {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/index").join(language);
        let truth: Value = serde_json::from_slice(&fs::read(folder.join("truth.json")).unwrap()).unwrap();
        let analysis = analyse(&folder);
        compare(
            &mut wrong,
            &format!("{language} definitions"),
            &table(&truth["definitions"]),
            &analysis.definitions,
        );
        compare(&mut wrong, &format!("{language} imports"), &table(&truth["imports"]), &analysis.imports);
        let expected = BTreeMap::from([("all".to_owned(), lines(&truth["unresolved"]))]);
        let unresolved = BTreeMap::from([("all".to_owned(), analysis.unresolved)]);
        compare(&mut wrong, &format!("{language} unresolved"), &expected, &unresolved);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn analyse(folder: &Path) -> Analysis {
    let state = tempfile::tempdir().unwrap();
    let (index, _) = LocalIndex::open(state.path(), source(folder), Default::default()).unwrap();
    refresh(&index);
    let mut analysis = Analysis { definitions: Table::new(), imports: Table::new(), unresolved: Vec::new() };
    for path in files(folder, "") {
        if let Ok(listed) = symbols(&index, &path) {
            let definitions = listed.symbols.iter().map(|one| {
                let container = one.container.as_ref().map(|name| format!("{name}.")).unwrap_or_default();
                format!("{} {container}{} {}-{}", one.kind, one.name, one.line_start, one.line_end)
            });
            add(&mut analysis.definitions, &path, definitions.collect());
        }
        let impact =
            call(|call| index.impact(call, &ReadImpact { file: path.clone(), max_depth: 1 })).unwrap();
        add(
            &mut analysis.imports,
            &path,
            impact.outbound.iter().map(|edge| format!("{} {}", edge.kind, edge.file)).collect(),
        );
    }
    let request = DiagnoseImpact { file: None, limit: 1_000, offset: 0 };
    let unresolved = call(|call| index.impact_diagnostics(call, &request)).unwrap();
    analysis.unresolved = unresolved
        .diagnostics
        .iter()
        .map(|one| format!("{}:{} {}", one.file, one.line, one.import))
        .collect();
    analysis
}

fn add(table: &mut Table, path: &str, mut lines: Vec<String>) {
    lines.sort();
    if !lines.is_empty() {
        table.insert(path.to_owned(), lines);
    }
}

fn files(folder: &Path, path: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder.join(path)).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{path}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            paths.extend(files(folder, &format!("{name}/")));
        } else if name != "truth.json" {
            paths.push(name);
        }
    }
    paths
}

fn lines(value: &Value) -> Vec<String> {
    let mut lines: Vec<String> =
        value.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect();
    lines.sort();
    lines
}

fn table(value: &Value) -> Table {
    value.as_object().unwrap().iter().map(|(path, value)| (path.clone(), lines(value))).collect()
}

fn compare(wrong: &mut Vec<String>, what: &str, expected: &Table, actual: &Table) {
    let none = Vec::new();
    for path in expected.keys().chain(actual.keys().filter(|path| !expected.contains_key(*path))) {
        let (expected, actual) = (expected.get(path).unwrap_or(&none), actual.get(path).unwrap_or(&none));
        let without = |left: &[String], right: &[String]| -> Vec<String> {
            let mut right = right.to_vec();
            let is_extra = |line: &&String| match right.iter().position(|one| one == *line) {
                Some(at) => {
                    right.remove(at);
                    false
                }
                None => true,
            };
            left.iter()
                .filter({
                    let mut is_extra = is_extra;
                    move |line| is_extra(line)
                })
                .cloned()
                .collect()
        };
        wrong.extend(without(expected, actual).iter().map(|line| format!("{what}: {path}: missing: {line}")));
        wrong
            .extend(without(actual, expected).iter().map(|line| format!("{what}: {path}: too much: {line}")));
    }
}
