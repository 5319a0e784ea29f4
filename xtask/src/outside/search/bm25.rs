//! Plain BM25: words in small letters, no stems, no stop words, one field.

use std::collections::HashMap;

/// The usual saturation of a word's count.
const SATURATION: f64 = 1.2;
/// The usual share of a document's length that is normalized.
const LENGTH_SHARE: f64 = 0.75;

/// The counts of all words in all documents.
pub(super) struct Bm25 {
    /// The documents that hold a word, with its count.
    postings: HashMap<String, Vec<(usize, f64)>>,
    /// The length of each document over the mean.
    lengths: Vec<f64>,
}

impl Bm25 {
    pub(super) fn new(documents: &[String]) -> Bm25 {
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (number, document) in documents.iter().enumerate() {
            let mut counts: HashMap<String, f64> = HashMap::new();
            words(document).for_each(|word| *counts.entry(word).or_default() += 1.0);
            lengths.push(counts.values().sum());
            for (word, count) in counts {
                postings.entry(word).or_default().push((number, count));
            }
        }
        let mean = lengths.iter().sum::<f64>() / f64::from(u32::try_from(lengths.len()).unwrap_or(u32::MAX));
        lengths.iter_mut().for_each(|length| *length /= mean);
        Bm25 { postings, lengths }
    }

    /// Returns the numbers of the best documents; equal ones in their order.
    pub(super) fn best(&self, query: &str, limit: usize) -> Vec<usize> {
        let mut scores: HashMap<usize, f64> = HashMap::new();
        let documents = f64::from(u32::try_from(self.lengths.len()).unwrap_or(u32::MAX));
        for word in words(query) {
            let Some(holders) = self.postings.get(&word) else { continue };
            let holding = f64::from(u32::try_from(holders.len()).unwrap_or(u32::MAX));
            let weight = (1.0 + (documents - holding + 0.5) / (holding + 0.5)).ln();
            for (number, count) in holders {
                let norm = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * self.lengths[*number]);
                *scores.entry(*number).or_default() += weight * count * (SATURATION + 1.0) / (count + norm);
            }
        }
        let mut scores: Vec<(usize, f64)> = scores.into_iter().collect();
        scores.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        scores.into_iter().take(limit).map(|(number, _)| number).collect()
    }
}

/// Returns the words of a text: runs of letters and digits, so that underscores separate.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::Bm25;

    #[test]
    fn rare_words_and_short_documents_come_first() {
        let documents = ["def read_file(path)", "def read(x): pass pass pass pass", "def write(x)"];
        let bm25 = Bm25::new(&documents.map(str::to_owned));
        assert_eq!(bm25.best("Read", 10), [0, 1]);
        assert_eq!(bm25.best("def write", 1), [2]);
        assert!(bm25.best("absent", 10).is_empty());
    }
}
