/// The reason that an index is refused. Control characters of paths in its text are escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// It does not begin like an index.
    #[error("not an index of git")]
    NoIndex,
    /// Its version is not 2, 3 or 4.
    #[error("an index of version {version}, which is unknown")]
    Version {
        /// The version.
        version: u32,
    },
    /// It ends within an entry or an extension.
    #[error("an index that ends too early")]
    Truncated,
    /// Git would not have written this part, and may read it differently.
    #[error("an index that git would not have written: {what}")]
    Malformed {
        /// The part.
        what: &'static str,
    },
    /// Its entries are in two files, so its cached trees cannot be compared with them.
    #[error(
        "a split index with cached trees, which cannot be checked: `git update-index --no-split-index` joins its files"
    )]
    SplitTrees,
    /// It has a required extension that this crate does not support.
    #[error("an index with the unknown extension '{}'", .name.escape_ascii())]
    Extension {
        /// Its four bytes.
        name: [u8; 4],
    },
    /// Git would refuse to add this path.
    #[error("an index with the entry '{}'", rendered(.path))]
    Path {
        /// The path.
        path: Vec<u8>,
    },
    /// An entry that is neither a file, a symbolic link nor a repository.
    #[error("an index with the entry '{}' of mode {mode:o}", rendered(.path))]
    Mode {
        /// The path.
        path: Vec<u8>,
        /// The mode.
        mode: u32,
    },
    /// An entry occurs twice, or is not in git's order.
    #[error("an index with the entry '{}' out of order", rendered(.path))]
    Order {
        /// The path.
        path: Vec<u8>,
    },
    /// An entry is below a symbolic link, which may lead anywhere.
    #[error("an index with the entry '{}' below a symbolic link", rendered(.path))]
    BelowSymlink {
        /// The path.
        path: Vec<u8>,
    },
}

/// The most characters of a path in an error text.
const MOST_CHARACTERS: usize = 100;

fn rendered(path: &[u8]) -> String {
    let text = String::from_utf8_lossy(path);
    text.chars().take(MOST_CHARACTERS).flat_map(char::escape_debug).collect()
}
