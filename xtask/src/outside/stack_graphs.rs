//! The fixtures of stack-graphs: the definitions and dependencies that they mark, beside those of the code index.

mod fixture;
mod reasons;
mod section;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use code_index::LocalIndex;
use walkdir::WalkDir;
use wap_core::{Call, CancelFlag, CodeIndex, CodeSymbol, ListSymbols, ReadImpact};

use self::fixture::{Fixture, MarkedDefinition, is_fixture, names};
use self::reasons::Reasons;
use super::open_index::{not_run, open_index, origin};
use super::suite_error::SuiteError;
use crate::TaskError;

/// A comparison with stack-graphs' fixtures.
#[derive(Clone, Debug)]
pub struct StackGraphs {
    /// A checkout of stack-graphs, or the folder of its languages.
    pub from: PathBuf,
    /// Prints the section alone, and writes no page.
    pub print: bool,
}

const ADVICE: &str = "give a checkout of stack-graphs, or the folder of its languages";

/// The reasons of known differences, relative to the repository.
const REASONS: &str = "fixtures/outside/stack-graphs.toml";

/// The longest fixture that is read; theirs have a few hundred bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The number of steps over which a dependency is followed: a name may be handed on by files in between.
const STEPS: u32 = 8;

/// The way in which the index has one definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Listed {
    /// It is listed with its name and line.
    Yes,
    /// The line imports the name, which the index keeps with the imports.
    Import,
    /// A parameter or a variable within a function, which an outline leaves out.
    Local,
    No,
}

/// The outcomes of the fixtures of one language.
#[derive(Debug, Default)]
struct OfLanguage {
    fixtures: usize,
    definitions: BTreeMap<Listed, usize>,
    dependencies: usize,
    followed: usize,
    missing: Vec<Missing>,
}

/// A definition or a dependency of a fixture that the index lacks.
#[derive(Debug)]
struct Missing {
    fixture: String,
    /// The name that is defined; `None` for a dependency.
    name: Option<String>,
    /// The line of a definition, or both files of a dependency.
    line: String,
}

impl Missing {
    /// Returns the line with its name in marks, each time that it stands there.
    fn marked_line(&self) -> String {
        let Some(name) = &self.name else { return self.line.clone() };
        let (mut marked, mut end) = (String::new(), 0);
        for (start, _) in names(&self.line).filter(|(_, other)| other == name) {
            marked.push_str(&self.line[end..start]);
            end = start + name.len();
            marked.push_str(&format!("\u{ab}{name}\u{bb}"));
        }
        marked + &self.line[end..]
    }
}

/// Reads every fixture and compares; prints the section, and writes it into the page.
///
/// # Errors
///
/// [`SuiteError::NoSuite`] if the folder has no fixtures, [`SuiteError::Unexplained`] if there is a difference without a
/// reason, and those of the index and of writing.
pub fn stack_graphs(root: &Path, run: &StackGraphs) -> Result<(), TaskError> {
    let of_checkout = run.from.join("languages");
    let folder = if of_checkout.is_dir() { of_checkout } else { run.from.clone() };
    let mut languages: BTreeMap<String, OfLanguage> = BTreeMap::new();
    for entry in WalkDir::new(&folder).sort_by_file_name().into_iter().filter_map(Result::ok) {
        let name = entry.path().strip_prefix(&folder).unwrap_or(entry.path()).to_string_lossy().into_owned();
        let is_small =
            entry.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST_BYTES);
        let Some((language, name)) =
            name.split_once("/test/").filter(|_| is_small && is_fixture(entry.path()))
        else {
            continue;
        };
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        let file = name.rsplit('/').next().unwrap_or(name);
        let Some(fixture) = Fixture::parse(file, &text) else { continue };
        let language = language.trim_start_matches("tree-sitter-stack-graphs-").to_owned();
        languages.entry(language).or_default().compare(name, &fixture)?;
    }
    if languages.is_empty() {
        return Err(SuiteError::NoSuite { folder: run.from.clone(), advice: ADVICE }.into());
    }
    let file = root.join(REASONS);
    let reasons =
        std::fs::read_to_string(&file).map_err(|source| TaskError::Unreadable { path: file, source })?;
    let reasons = Reasons::parse(REASONS, &reasons)?;
    let (section, unexplained) = section::section(&super::checkout::version(&run.from), &languages, &reasons);
    println!("{section}");
    if !run.print {
        super::write_page(root, section::HEADING, &section)?;
    }
    super::all_explained(unexplained)
}

impl OfLanguage {
    fn compare(&mut self, name: &str, fixture: &Fixture) -> Result<(), TaskError> {
        let scratch =
            tempfile::tempdir().map_err(|source| TaskError::Unwritable { path: "scratch".into(), source })?;
        let (code, store) = (scratch.path().join("code"), scratch.path().join("store"));
        for (file, content) in &fixture.files {
            let path = code.join(file);
            let written = std::fs::create_dir_all(path.parent().unwrap_or(&code));
            written
                .and_then(|()| std::fs::write(&path, content))
                .map_err(|source| TaskError::Unwritable { path, source })?;
        }
        let index = open_index(&code, &store)?;
        self.fixtures += 1;
        for definition in &fixture.definitions {
            let listed = listed(&symbols(&index, &definition.position.file)?, definition);
            *self.definitions.entry(listed).or_default() += 1;
            if listed == Listed::No {
                self.missing.push(Missing {
                    fixture: name.to_owned(),
                    name: Some(definition.name.clone()),
                    line: definition.text.clone(),
                });
            }
        }
        for (from, to) in &fixture.dependencies {
            self.dependencies += 1;
            if depends_on(&index, from)?.contains(to) {
                self.followed += 1;
            } else {
                let line = format!("dependency of {from} on {to}");
                self.missing.push(Missing { fixture: name.to_owned(), name: None, line });
            }
        }
        Ok(())
    }
}

fn symbols(index: &LocalIndex, file: &str) -> Result<Vec<CodeSymbol>, TaskError> {
    let call = Call { origin: &origin(), cancel: &CancelFlag::new(), time_left: None };
    match index.symbols(&call, &ListSymbols { file: file.to_owned() }) {
        Ok(listed) => Ok(listed.symbols),
        // A file of a kind that has no outline, such as JSON.
        Err(wap_core::IndexError::UnknownLanguage { .. }) => Ok(Vec::new()),
        Err(error) => Err(not_run(error)),
    }
}

fn depends_on(index: &LocalIndex, file: &str) -> Result<BTreeSet<String>, TaskError> {
    let call = Call { origin: &origin(), cancel: &CancelFlag::new(), time_left: None };
    let impact =
        index.impact(&call, &ReadImpact { file: file.to_owned(), max_depth: STEPS }).map_err(not_run)?;
    Ok(impact.outbound.into_iter().map(|edge| edge.file).collect())
}

fn listed(symbols: &[CodeSymbol], definition: &MarkedDefinition) -> Listed {
    let line = definition.position.line;
    if symbols.iter().any(|symbol| symbol.name == definition.name && symbol.line_start == line) {
        return Listed::Yes;
    }
    let words: Vec<&str> = definition.text.split(|character: char| !character.is_alphanumeric()).collect();
    if words.iter().any(|word| ["import", "require"].contains(word))
        || (words.contains(&"export") && words.contains(&"from"))
    {
        return Listed::Import;
    }
    let is_function = |symbol: &CodeSymbol| {
        ["function", "method", "constructor", "getter", "setter"].contains(&symbol.kind.as_str())
    };
    let is_within = |symbol: &CodeSymbol| (symbol.line_start..=symbol.line_end).contains(&line);
    match symbols.iter().any(|symbol| is_function(symbol) && is_within(symbol)) {
        true => Listed::Local,
        false => Listed::No,
    }
}
