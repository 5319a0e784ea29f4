//! The questions of CoSQA, and the functions among which each looks for its answer.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;

use super::super::checkout;
use super::super::suite_error::SuiteError;
use crate::TaskError;

/// The sets with their files: what is tuned is tuned by the first, so that the second stays unseen.
pub(super) const FILES: [(&str, &str); 2] = [
    ("dev", "data/search/cosqa-retrieval-dev-500.json"),
    ("test", "data/search/cosqa-retrieval-test-500.json"),
];

const FUNCTIONS: &str = "data/search/code_idx_map.txt";

/// The file has 6,267; a number beyond this would take more memory than there is.
const MOST_FUNCTIONS: usize = 1_000_000;

/// The number of hits that a person looks at: a right function behind them is worth nothing.
const COUNTED: usize = 10;

const ADVICE: &str = "give a checkout of CoCLR, or its repository";

/// A question as the file has it.
#[derive(Deserialize)]
struct StoredQuestion {
    doc: String,
    label: i64,
    retrieval_idx: usize,
}

/// A question with the numbers of all functions that were judged to answer it.
pub(super) struct Question {
    pub(super) query: String,
    pub(super) right: Vec<usize>,
}

/// A set of questions.
pub(super) struct QuestionSet {
    pub(super) questions: Vec<Question>,
}

impl QuestionSet {
    /// Reads a set; the same question with another answer is one question.
    pub(super) fn read(from: &Path, file: &str) -> Result<QuestionSet, TaskError> {
        let requests: Vec<StoredQuestion> = json(from, file)?;
        let mut questions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for one in requests.into_iter().filter(|one| one.label == 1) {
            questions.entry(one.doc).or_default().push(one.retrieval_idx);
        }
        let questions = questions.into_iter().map(|(query, right)| Question { query, right }).collect();
        Ok(QuestionSet { questions })
    }

    /// Returns the texts of the questions.
    pub(super) fn queries(&self) -> impl Iterator<Item = &str> {
        self.questions.iter().map(|question| question.query.as_str())
    }

    /// Returns the rank (from 1) of the first right function among the first ten that `search` returns, by question.
    pub(super) fn ranks(
        &self,
        search: impl Fn(&str) -> Result<Vec<usize>, TaskError>,
    ) -> Result<Vec<Option<u32>>, TaskError> {
        let rank = |question: &Question| -> Result<Option<u32>, TaskError> {
            let hits = search(&question.query)?.into_iter().take(COUNTED);
            Ok((1..).zip(hits).find(|(_, hit)| question.right.contains(hit)).map(|(rank, _)| rank))
        };
        self.questions.iter().map(rank).collect()
    }
}

/// Returns the functions by their numbers.
pub(super) fn functions(from: &Path) -> Result<Vec<String>, TaskError> {
    let numbers: HashMap<String, usize> = json(from, FUNCTIONS)?;
    if let Some(number) = numbers.values().find(|number| **number >= MOST_FUNCTIONS) {
        let why =
            format!("{FUNCTIONS} has the number {number}, and at most {MOST_FUNCTIONS} functions are read");
        return Err(SuiteError::NotRun { script: "the code search".to_owned(), why }.into());
    }
    let mut functions = vec![String::new(); numbers.values().max().map_or(0, |last| last + 1)];
    for (function, number) in numbers {
        functions[number] = function;
    }
    Ok(functions)
}

fn json<T: serde::de::DeserializeOwned>(from: &Path, file: &str) -> Result<T, TaskError> {
    let no_suite = || SuiteError::NoSuite { folder: from.to_owned(), advice: ADVICE };
    let text = checkout::file(from, file).ok_or_else(no_suite)?;
    serde_json::from_slice(&text).map_err(|source| TaskError::NotJson { what: file.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::{QuestionSet, functions};

    #[test]
    fn questions_are_read_with_all_their_right_functions() {
        let folder = tempfile::tempdir().unwrap();
        assert!(functions(folder.path()).is_err());
        std::fs::create_dir_all(folder.path().join("data/search")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("data/search/code_idx_map.txt", r#"{"def b(): 1": 1, "def a(): 0": 0}"#);
        let requests = r#"[{"doc":"q","label":1,"retrieval_idx":1},{"doc":"q","label":1,"retrieval_idx":0},
            {"doc":"no","label":0,"retrieval_idx":0}]"#;
        write("set.json", requests);
        write("data/search/code_idx_map.txt", r#"{"def a(): 0": 4000000000000}"#);
        assert!(functions(folder.path()).is_err(), "a number without bounds");
        write("data/search/code_idx_map.txt", r#"{"def b(): 1": 1, "def a(): 0": 0}"#);
        assert_eq!(functions(folder.path()).unwrap(), ["def a(): 0", "def b(): 1"]);
        let set = QuestionSet::read(folder.path(), "set.json").unwrap();
        assert_eq!(set.questions[0].right, [1, 0]);
        assert_eq!(set.ranks(|_| Ok(vec![5, 0])).unwrap(), [Some(2)]);
        assert_eq!(set.ranks(|_| Ok(vec![5])).unwrap(), [None]);
        let late = |before: usize| set.ranks(move |_| Ok([vec![5; before], vec![0]].concat())).unwrap();
        assert_eq!((late(9), late(10)), (vec![Some(10)], vec![None]), "only ten count");
    }
}
