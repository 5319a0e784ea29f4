//! Counts the words of a text, and repeats each as often as the store should count it.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::words;

/// The most repetitions of a word that are stored: each takes a byte.
const COUNTED_WORDS: u32 = 3;

/// The count from which a word is stored in the column for frequent words, which has a higher weight.
const OFTEN: u32 = 6;

/// Returns the number of repetitions in that column: one more for each factor of four.
fn often_count(count: u32) -> u32 {
    if count < OFTEN { 0 } else { 1 + (count / OFTEN).ilog2() / 2 }
}

/// A multiset of words. Its buffers are reused from one text to the next.
pub(crate) struct Bag {
    hasher: DefaultHashBuilder,
    /// Indexes into a list of names, by hash.
    names: HashTable<u32>,
    /// Indexes into `entries`, by hash.
    table: HashTable<u32>,
    entries: Vec<Entry>,
    /// The words, concatenated.
    letters: String,
    folded: String,
    /// The most distinct words; more are ignored.
    most: usize,
}

struct Entry {
    hash: u64,
    start: u32,
    end: u32,
    count: u32,
}

impl Bag {
    pub(crate) fn new(most: usize) -> Bag {
        Bag {
            hasher: DefaultHashBuilder::default(),
            names: HashTable::new(),
            table: HashTable::new(),
            entries: Vec::new(),
            letters: String::new(),
            folded: String::new(),
            most,
        }
    }

    /// Returns the words of some names, separated by spaces for the store's tokenizer.
    pub(crate) fn words_of_names<'t>(&mut self, names: impl IntoIterator<Item = &'t str>) -> String {
        self.add_all(names);
        let words = self.write(|count| count.min(COUNTED_WORDS));
        self.clear();
        words
    }

    /// Returns the words of a text, and separately its frequent words.
    pub(crate) fn words_of_text(&mut self, text: &str) -> (String, String) {
        self.add_all([text]);
        // The store encodes small positions in fewer bytes, and most words occur only once, so these come first.
        let mut few = self.write(|count| u32::from(count == 1));
        few.push_str(
            &self.write(|count| if count == 1 || count >= OFTEN { 0 } else { count.min(COUNTED_WORDS) }),
        );
        let often = self.write(often_count);
        self.clear();
        (few, often)
    }

    fn add_all<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        for (name, count) in self.names_of(texts) {
            let mut folded = std::mem::take(&mut self.folded);
            words::words_of_name(name, &mut folded, &mut |word| self.add(word, count));
            self.folded = folded;
        }
    }

    /// Counts the names in some texts, so that each distinct name is split into words only once.
    fn names_of<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> Vec<(&'t str, u32)> {
        let mut counted: Vec<(&str, u32)> = Vec::new();
        for name in texts.into_iter().flat_map(words::names) {
            let hash = self.hasher.hash_one(name);
            if let Some(index) = self.names.find(hash, |index| counted[*index as usize].0 == name) {
                counted[*index as usize].1 += 1;
            } else if let Ok(number) = u32::try_from(counted.len()) {
                counted.push((name, 1));
                self.names
                    .insert_unique(hash, number, |index| self.hasher.hash_one(counted[*index as usize].0));
            }
        }
        self.names.clear();
        counted
    }

    fn add(&mut self, word: &str, count: u32) {
        let hash = self.hasher.hash_one(word);
        let (entries, letters) = (&self.entries, &self.letters);
        let same = |index: &u32| {
            let entry = &entries[*index as usize];
            entry.hash == hash && letters[entry.start as usize..entry.end as usize] == *word
        };
        if let Some(index) = self.table.find(hash, same) {
            let entry = &mut self.entries[*index as usize];
            entry.count = entry.count.saturating_add(count);
            return;
        }
        let (index, start) = (self.entries.len(), self.letters.len());
        let end = start + word.len();
        let (Ok(number), Ok(start), Ok(end)) =
            (u32::try_from(index), u32::try_from(start), u32::try_from(end))
        else {
            return;
        };
        if index < self.most {
            self.letters.push_str(word);
            self.entries.push(Entry { hash, start, end, count });
            let entries = &self.entries;
            self.table.insert_unique(hash, number, |index| entries[*index as usize].hash);
        }
    }

    /// Writes each word `stored_count(count)` times.
    fn write(&self, stored_count: impl Fn(u32) -> u32) -> String {
        let mut text = String::with_capacity(self.letters.len() + self.entries.len());
        for entry in &self.entries {
            for _ in 0..stored_count(entry.count) {
                text.push_str(&self.letters[entry.start as usize..entry.end as usize]);
                text.push(' ');
            }
        }
        text
    }

    fn clear(&mut self) {
        self.table.clear();
        self.entries.clear();
        self.letters.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_words_are_stored_separately() {
        let mut bag = Bag::new(100);
        let text = [("once", 1), ("twice", 2), ("five", 5), ("six", 6), ("many", 24), ("lots", 96)];
        let text: String = text.iter().map(|(word, count)| format!("{word} ").repeat(*count)).collect();
        let (few, often) = bag.words_of_text(&text);
        assert_eq!(few, "onc twic twic fiv fiv fiv ");
        assert_eq!(often, "six mani mani lot lot lot ");
        // Nothing from the previous text is left.
        assert_eq!(bag.words_of_names(["six_six six six", "six"]), "six_six six six six ");
    }
}
