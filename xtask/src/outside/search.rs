//! The quality of the code search, by questions of people and functions that other people judged to answer them.

mod bm25;
mod embeddings;
mod fusion;
mod gain;
mod quality;
mod question_set;
mod section;

use std::path::{Path, PathBuf};
use std::time::Duration;

use code_index::LocalIndex;
use wap_core::{Call, CancelFlag, CodeIndex, SearchCode};

use self::bm25::Bm25;
use self::embeddings::Embeddings;
use self::fusion::fused;
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

/// The number of hits of each ranking that are fused.
const FUSED: u32 = 100;

/// The results of one set of questions.
struct Measured {
    name: &'static str,
    questions: QuestionSet,
    /// The engines by name, with the ranks (from 1) in the order of the questions.
    engines: Vec<(String, Quality)>,
}

/// The positions of engines in [`Measured`]; the last two are missing with the peer.
const OURS: usize = 0;
const BM25: usize = LIMITS.len();
const EMBEDDINGS: usize = BM25 + 1;
const BOTH: usize = BM25 + 2;

/// The processor time that ours takes for the same functions and questions.
struct OwnCost {
    functions: Duration,
    questions: Duration,
}

/// Asks every question of both sets; prints the section, and writes it into the page.
///
/// # Errors
///
/// If the folder is not CoCLR's, the index fails, or the page cannot be written.
pub fn search_quality(root: &Path, run: &SearchQuality) -> Result<(), TaskError> {
    let functions = functions(&run.from)?;
    let read = |(name, file)| QuestionSet::read(&run.from, file).map(|questions| (name, questions));
    let sets = question_set::FILES.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let scratch =
        tempfile::tempdir().map_err(|source| TaskError::Unwritable { path: "scratch".into(), source })?;
    let started = processor_time();
    let index = indexed(scratch.path(), &functions)?;
    let mut own = OwnCost { functions: processor_time() - started, questions: Duration::ZERO };
    let bm25 = Bm25::new(&functions);
    let queries: Vec<&str> = sets.iter().flat_map(|(_, questions)| questions.queries()).collect();
    let peer = Embeddings::of(&functions, &queries, FUSED);
    let mut measured = Vec::new();
    for (name, questions) in sets {
        let mut engines = Vec::new();
        let started = processor_time();
        for limit in LIMITS {
            let ranks = questions.ranks(|query| hits(&index, query, limit))?;
            engines.push((format!("ours, {limit} hits requested"), Quality::new(ranks)));
        }
        own.questions += processor_time() - started;
        let ranks = questions.ranks(|query| Ok(bm25.best(query, 10)))?;
        engines.push(("plain BM25".to_owned(), Quality::new(ranks)));
        if let Ok(peer) = &peer {
            let ranks = questions.ranks(|query| Ok(peer.nearest(query).to_vec()))?;
            engines.push(("embeddings of all-MiniLM-L6-v2".to_owned(), Quality::new(ranks)));
            let both = |query: &str| Ok(fused(&hits(&index, query, FUSED)?, peer.nearest(query)));
            let ranks = questions.ranks(both)?;
            engines.push(("ours and embeddings, ranks fused".to_owned(), Quality::new(ranks)));
        }
        measured.push(Measured { name, questions, engines });
    }
    let version = super::checkout::version(&run.from);
    let section = section::section(&version, &functions, &measured, &own, &peer);
    println!("{section}");
    if !run.print {
        super::write_page(root, section::HEADING, &section)?;
    }
    Ok(())
}

/// Returns the time that all threads of this process have run: the clock also measures what else the machine does.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
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

/// Returns the numbers of the functions that ours has, best first.
fn hits(index: &LocalIndex, query: &str, limit: u32) -> Result<Vec<usize>, TaskError> {
    let call = Call { origin: &origin(), cancel: &CancelFlag::new(), time_left: None };
    let answer = index.search(&call, &SearchCode { query: query.to_owned(), limit }).map_err(not_run)?;
    let numbers = answer.hits.iter().map(|hit| hit.path.trim_end_matches(".py").parse());
    numbers.collect::<Result<_, std::num::ParseIntError>>().map_err(not_run)
}
