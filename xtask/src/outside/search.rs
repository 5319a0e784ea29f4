//! The quality of the code search, by questions of people and functions that other people judged to answer them.

mod bm25;
mod quality;
mod question_set;
mod section;

use std::path::{Path, PathBuf};

use code_index::LocalIndex;
use wap_core::{Call, CancelFlag, CodeIndex, SearchCode};

use self::bm25::Bm25;
use self::quality::Quality;
use self::question_set::{QuestionSet, functions};
use super::open_index::{not_run, open_index, origin};
use crate::TaskError;

/// A measurement of the search by CoSQA.
#[derive(Clone, Debug)]
pub struct SearchQuality {
    /// A checkout of CoCLR, or its repository.
    pub from: PathBuf,
    /// Prints the section alone, and writes no page.
    pub print: bool,
}

/// The numbers of hits that ours is asked for; figures are of the first ten in each case.
const LIMITS: [u32; 2] = [10, 100];

/// The results of one set of questions.
struct Measured {
    name: &'static str,
    questions: QuestionSet,
    /// The ranks (from 1) by engine, in the order of the questions.
    engines: Vec<(String, Quality)>,
}

/// Asks every question of both sets; prints the section, and writes it into the page.
///
/// # Errors
///
/// If the folder is not CoCLR's, the index fails, or the page cannot be written.
pub fn search_quality(root: &Path, run: &SearchQuality) -> Result<(), TaskError> {
    let functions = functions(&run.from)?;
    let scratch =
        tempfile::tempdir().map_err(|source| TaskError::Unwritable { path: "scratch".into(), source })?;
    let index = indexed(scratch.path(), &functions)?;
    let bm25 = Bm25::new(&functions);
    let mut measured = Vec::new();
    for (name, file) in question_set::FILES {
        let questions = QuestionSet::read(&run.from, file)?;
        let mut engines = Vec::new();
        for limit in LIMITS {
            let ranks = questions.ranks(|query| hits(&index, query, limit))?;
            engines.push((format!("ours, {limit} hits requested"), Quality::new(ranks)));
        }
        let ranks = questions.ranks(|query| Ok(bm25.best(query, 10)))?;
        engines.push(("plain BM25".to_owned(), Quality::new(ranks)));
        measured.push(Measured { name, questions, engines });
    }
    let section = section::section(&super::checkout::version(&run.from), &functions, &measured);
    println!("{section}");
    if !run.print {
        super::write_page(root, section::HEADING, &section)?;
    }
    Ok(())
}

/// Writes each function into a file that is named by its number alone, so that no path gives an answer away.
fn indexed(scratch: &Path, functions: &[String]) -> Result<LocalIndex, TaskError> {
    let (code, store) = (scratch.join("code"), scratch.join("store"));
    let unwritable = |source| TaskError::Unwritable { path: code.clone(), source };
    std::fs::create_dir_all(&code).map_err(unwritable)?;
    for (number, function) in functions.iter().enumerate() {
        std::fs::write(code.join(format!("{number}.py")), function).map_err(unwritable)?;
    }
    open_index(&code, &store)
}

/// Returns the numbers of the first ten functions.
fn hits(index: &LocalIndex, query: &str, limit: u32) -> Result<Vec<usize>, TaskError> {
    let call = Call { origin: &origin(), cancel: &CancelFlag::new(), time_left: None };
    let answer = index.search(&call, &SearchCode { query: query.to_owned(), limit }).map_err(not_run)?;
    let numbers = answer.hits.iter().take(10).map(|hit| hit.path.trim_end_matches(".py").parse());
    numbers.collect::<Result<_, std::num::ParseIntError>>().map_err(not_run)
}
