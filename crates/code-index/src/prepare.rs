//! What is kept of a file: its words, definitions and imports.

use std::collections::HashMap;

use content_inspector::{ContentType, inspect};
use sandbox_fs::FileStamp;
use wap_core::CancelFlag;

use crate::language::Language;
use crate::limits::IndexLimits;
use crate::lines::Lines;
use crate::outline::{self, Outline};
use crate::outline_text::{write_definitions, write_imports};
use crate::skeleton::Skeleton;
use crate::{syntax, words};

/// Up to here a word counts as often as it stands in a file.
const COUNTED_WORDS: u32 = 3;

/// How often a word is stored that stands so often in a file: beyond a few, twice as often is once more. What is told by
/// hundreds of a word is told by some, in less space.
fn stored_count(count: u32) -> u32 {
    if count <= COUNTED_WORDS { count } else { COUNTED_WORDS + (count / COUNTED_WORDS).ilog2() * 2 }
}

/// A file, ready to be stored.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) path: String,
    pub(crate) stamp: FileStamp,
    /// `None` for what is no text or too large: it is known to be there, and nothing else.
    pub(crate) text: Option<PreparedText>,
}

/// What is kept of a text.
#[derive(Clone, Debug)]
pub(crate) struct PreparedText {
    pub(crate) hash: [u8; 32],
    pub(crate) language: Option<Language>,
    pub(crate) lines: u64,
    pub(crate) path_words: String,
    pub(crate) definition_words: String,
    pub(crate) body_words: String,
    pub(crate) definitions: String,
    pub(crate) imports: String,
    pub(crate) declared: String,
}

/// Reads what there is to know off a file's content.
pub(crate) fn prepare(
    path: &str,
    stamp: FileStamp,
    content: &[u8],
    limits: &IndexLimits,
    cancel: &CancelFlag,
) -> Prepared {
    let path = path.to_owned();
    if !is_text(content) {
        return Prepared { path, stamp, text: None };
    }
    let language = Language::of_text(&path, content);
    let outline =
        language.and_then(|language| outline_of(language, content, limits, cancel)).unwrap_or_default();
    let mut definition_words = Bag::new(limits.words);
    for definition in &outline.definitions {
        definition_words.add(&definition.name);
    }
    let mut path_words = Bag::new(limits.words);
    path_words.add(&path);
    let mut body_words = Bag::new(limits.words);
    body_words.add(&String::from_utf8_lossy(content));
    let lines = memchr::memchr_iter(b'\n', content).count() as u64;
    let text = PreparedText {
        hash: *blake3::hash(content).as_bytes(),
        language,
        lines: lines + u64::from(content.last().is_some_and(|last| *last != b'\n')),
        path_words: path_words.text(),
        definition_words: definition_words.text(),
        body_words: body_words.text(),
        definitions: write_definitions(&outline),
        imports: write_imports(&outline.imports),
        declared: outline.declared.join("\n"),
    };
    Prepared { path, stamp, text: Some(text) }
}

/// The definitions and imports of a text; `None` if it takes too long to parse.
pub(crate) fn outline_of(
    language: Language,
    content: &[u8],
    limits: &IndexLimits,
    cancel: &CancelFlag,
) -> Option<Outline> {
    let skeleton = Skeleton::new(language, content);
    let tree = syntax::parse(language, skeleton.text(), limits.parse_time, cancel)?;
    Some(outline::outline(language, &tree, &skeleton, &Lines::new(content), limits))
}

/// Whether a content is text that can be searched.
pub(crate) fn is_text(content: &[u8]) -> bool {
    matches!(inspect(content), ContentType::UTF_8 | ContentType::UTF_8_BOM)
}

/// Words, each with how often it was met.
struct Bag {
    counts: HashMap<Box<str>, u32>,
    most: usize,
}

impl Bag {
    fn new(most: usize) -> Bag {
        Bag { counts: HashMap::new(), most }
    }

    fn add(&mut self, text: &str) {
        words::each_word(text, |word| {
            if let Some(count) = self.counts.get_mut(word) {
                *count += 1;
            } else if self.counts.len() < self.most {
                self.counts.insert(word.into(), 1);
            }
        });
    }

    /// The words as the store's tokenizer reads them; no order is kept, so that none can be searched for.
    fn text(self) -> String {
        let mut text = String::new();
        for (word, count) in self.counts {
            for _ in 0..stored_count(count) {
                text.push_str(&word);
                text.push(' ');
            }
        }
        text
    }
}
