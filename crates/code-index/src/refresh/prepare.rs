//! Prepares files for the store: words, definitions and imports.

use content_inspector::{ContentType, inspect};
use sandbox_fs::FileStamp;
use wap_core::CancelFlag;

use crate::language::Language;
use crate::limits::IndexLimits;
use crate::lines::Lines;
use crate::outline::syntax::Parsers;
use crate::outline::{self, Outline};
use crate::refresh::folder_source::{FolderSource, ReadSource};
use crate::skeleton::Skeleton;
use crate::store::bag::Bag;
use crate::store::packed_outline::{pack_definitions, pack_imports};

/// A hash that identifies a content.
pub(crate) type ContentHash = [u8; 16];

/// A file, ready to be stored.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) path: String,
    pub(crate) stamp: FileStamp,
    /// `None` if the file is too large or not text; only its path and stamp are stored then.
    pub(crate) text: Option<PreparedText>,
}

/// The stored parts of a text.
#[derive(Clone, Debug)]
pub(crate) struct PreparedText {
    pub(crate) hash: ContentHash,
    pub(crate) language: Option<Language>,
    pub(crate) path_words: String,
    pub(crate) definition_words: String,
    /// The words of the text, without the frequent ones.
    pub(crate) body_words: String,
    pub(crate) often_words: String,
    pub(crate) definitions: Vec<u8>,
    pub(crate) imports: Vec<u8>,
    pub(crate) declared: String,
}

/// Prepares files one by one; each thread has its own.
pub(crate) struct Preparer {
    limits: IndexLimits,
    parsers: Parsers,
    words: Bag,
}

impl Preparer {
    pub(crate) fn new(limits: IndexLimits) -> Preparer {
        Preparer { limits, parsers: Parsers::default(), words: Bag::new(limits.words) }
    }

    /// Extracts words, definitions and imports from the visible parts of a file's content.
    pub(crate) fn prepare(
        &mut self,
        path: &str,
        read: &ReadSource,
        source: &FolderSource,
        cancel: &CancelFlag,
    ) -> Prepared {
        let (path, stamp) = (path.to_owned(), read.stamp);
        if !is_text(&read.content) {
            return Prepared { path, stamp, text: None };
        }
        let visible = source.visible(&read.content);
        let content = &*visible.bytes;
        let language = Language::of_text(&path, content);
        let outline = language
            .and_then(|language| outline_of(&mut self.parsers, language, content, &self.limits, cancel))
            .unwrap_or_default();
        let path_words = self.words.words_of_names([&*source.visible_text(&path)]);
        let definition_words =
            self.words.words_of_names(outline.definitions.iter().map(|definition| definition.name.as_str()));
        let (body_words, often_words) = self.words.words_of_text(&String::from_utf8_lossy(content));
        let text = PreparedText {
            hash: hash(&read.content),
            language,
            path_words,
            definition_words,
            body_words,
            often_words,
            definitions: pack_definitions(&outline),
            imports: pack_imports(&outline.imports),
            declared: outline.declared.join("\n"),
        };
        Prepared { path, stamp, text: Some(text) }
    }
}

/// Returns the outline of a text; `None` if parsing takes too long or is cancelled.
pub(crate) fn outline_of(
    parsers: &mut Parsers,
    language: Language,
    content: &[u8],
    limits: &IndexLimits,
    cancel: &CancelFlag,
) -> Option<Outline> {
    let skeleton = Skeleton::new(language, content);
    let tree = parsers.parse(language, skeleton.text(), limits.parse_time, cancel)?;
    outline::outline(language, &tree, &skeleton, &Lines::new(content), limits, cancel)
}

/// Hashes a content. Half of a BLAKE3 hash is enough to identify it, and the store holds one for every file.
pub(crate) fn hash(content: &[u8]) -> ContentHash {
    let mut half = ContentHash::default();
    blake3::Hasher::new().update(content).finalize_xof().fill(&mut half);
    half
}

/// Returns true if a content is searchable text.
pub(crate) fn is_text(content: &[u8]) -> bool {
    matches!(inspect(content), ContentType::UTF_8 | ContentType::UTF_8_BOM)
}
