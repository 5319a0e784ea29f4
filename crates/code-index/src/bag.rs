//! The words of a text, each with how often it is stored.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::words;

/// Up to here a word counts as often as it stands in a file.
const COUNTED_WORDS: u32 = 3;

/// How often a word is stored that stands so often in a file: beyond a few, twice as often is once more. What is told by
/// hundreds of a word is told by some, in less space.
fn stored_count(count: u32) -> u32 {
    if count <= COUNTED_WORDS { count } else { COUNTED_WORDS + (count / COUNTED_WORDS).ilog2() * 2 }
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

    /// The words of some texts as the store's tokenizer reads them, in no order that means anything.
    pub(crate) fn text_of<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> String {
        for (name, count) in self.names_of(texts) {
            let mut folded = std::mem::take(&mut self.folded);
            words::words_of_name(name, &mut folded, &mut |word| self.add(word, count));
            self.folded = folded;
        }
        self.take()
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

    /// Writes the words and forgets them.
    fn take(&mut self) -> String {
        let mut text = String::with_capacity(self.letters.len() * 2);
        // A place among the first is stored in fewer bytes, and most words stand but once.
        let (once, often) = (|entry: &&Entry| entry.count == 1, |entry: &&Entry| entry.count > 1);
        for entry in self.entries.iter().filter(once).chain(self.entries.iter().filter(often)) {
            for _ in 0..stored_count(entry.count) {
                text.push_str(&self.letters[entry.start as usize..entry.end as usize]);
                text.push(' ');
            }
        }
        self.table.clear();
        self.entries.clear();
        self.letters.clear();
        text
    }
}
