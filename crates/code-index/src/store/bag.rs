//! The words of a text, each with how often it is stored.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::words;

/// More often than this no word is stored in one text: each time takes a byte.
const COUNTED_WORDS: u32 = 3;

/// A word that stands so often in a file is stored in a text of its own, in which it counts more.
const OFTEN: u32 = 6;

/// How often a word is stored among those that stand often: beyond the first, four times as often is once more.
fn often_count(count: u32) -> u32 {
    if count < OFTEN { 0 } else { 1 + (count / OFTEN).ilog2() / 2 }
}

/// Words, each with how often it was met. It keeps its memory from one text to the next.
pub(crate) struct Bag {
    hasher: DefaultHashBuilder,
    /// Names, by where they stand in a list of them.
    names: HashTable<u32>,
    /// Words, by where they stand in `entries`.
    table: HashTable<u32>,
    entries: Vec<Entry>,
    /// The words, one behind the other.
    letters: String,
    folded: String,
    /// Words behind this many are passed over.
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

    /// The words of some names as the store's tokenizer reads them, in no order that means anything.
    pub(crate) fn words_of_names<'t>(&mut self, names: impl IntoIterator<Item = &'t str>) -> String {
        self.add_all(names);
        let words = self.write(|count| count.min(COUNTED_WORDS));
        self.clear();
        words
    }

    /// The words of a text, and apart from them those that stand in it often.
    pub(crate) fn words_of_text(&mut self, text: &str) -> (String, String) {
        self.add_all([text]);
        // A place among the first is stored in fewer bytes, and most words stand but once.
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

    /// The names in some texts, each with how often it stands there: only once has it to be taken apart.
    fn names_of<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> Vec<(&'t str, u32)> {
        let mut found: Vec<(&str, u32)> = Vec::new();
        for name in texts.into_iter().flat_map(words::names) {
            let hash = self.hasher.hash_one(name);
            if let Some(index) = self.names.find(hash, |index| found[*index as usize].0 == name) {
                found[*index as usize].1 += 1;
            } else if let Ok(number) = u32::try_from(found.len()) {
                found.push((name, 1));
                self.names
                    .insert_unique(hash, number, |index| self.hasher.hash_one(found[*index as usize].0));
            }
        }
        self.names.clear();
        found
    }

    fn add(&mut self, word: &str, count: u32) {
        let hash = self.hasher.hash_one(word);
        let (entries, letters) = (&self.entries, &self.letters);
        let same = |index: &u32| {
            let known = &entries[*index as usize];
            known.hash == hash && letters[known.start as usize..known.end as usize] == *word
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

    /// Writes each word as often as is said for how often it was met.
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
    fn what_stands_often_is_stored_apart() {
        let mut bag = Bag::new(100);
        let text = [("once", 1), ("twice", 2), ("five", 5), ("six", 6), ("many", 24), ("lots", 96)];
        let text: String = text.iter().map(|(word, count)| format!("{word} ").repeat(*count)).collect();
        let (few, often) = bag.words_of_text(&text);
        assert_eq!(few, "onc twic twic fiv fiv fiv ");
        assert_eq!(often, "six mani mani lot lot lot ");
        // Nothing is left of what was before.
        assert_eq!(bag.words_of_names(["six_six six six", "six"]), "six_six six six six ");
    }
}
