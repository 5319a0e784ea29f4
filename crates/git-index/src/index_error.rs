/// The reason why an index is refused. Texts show paths with control characters escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// It does not begin like an index.
    #[error("not an index of git")]
    NoIndex,
    /// Git has versions 2, 3 and 4.
    #[error("an index of version {version}, which is unknown")]
    Version {
        /// The version.
        version: u32,
    },
    /// It ends within an entry or an extension.
    #[error("an index that ends too early")]
    Truncated,
    /// Git would not have written it like this, and may read it differently.
    #[error("an index that git would not have written: {what}")]
    Malformed {
        /// The part.
        what: &'static str,
    },
    /// Git could not use the index without knowing this extension.
    #[error("an index with the unknown extension '{}'", .name.escape_ascii())]
    Extension {
        /// Its four bytes.
        name: [u8; 4],
    },
    /// Git would refuse to add this path.
    #[error("an index with the entry '{}'", shown(.path))]
    Path {
        /// The path.
        path: Vec<u8>,
    },
    /// An entry that is neither a file, a symbolic link nor a repository.
    #[error("an index with the entry '{}' of mode {mode:o}", shown(.path))]
    Mode {
        /// The path.
        path: Vec<u8>,
        /// The mode.
        mode: u32,
    },
    /// An entry is there twice, or in the wrong place.
    #[error("an index with the entry '{}' out of order", shown(.path))]
    Order {
        /// The path.
        path: Vec<u8>,
    },
    /// An entry lies beneath a symbolic link, which may lead anywhere.
    #[error("an index with the entry '{}' beneath a symbolic link", shown(.path))]
    BeneathSymlink {
        /// The path.
        path: Vec<u8>,
    },
}

/// The most characters of a path that are shown.
const SHOWN_CHARACTERS: usize = 100;

fn shown(path: &[u8]) -> String {
    let text = String::from_utf8_lossy(path);
    text.chars().take(SHOWN_CHARACTERS).flat_map(char::escape_debug).collect()
}
