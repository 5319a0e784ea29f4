//! A home folder for commands that is kept from one command to the next.

use std::path::PathBuf;

/// The default limit of a kept home: 8 GiB.
pub const USUAL_HOME_LIMIT_BYTES: u64 = 8 << 30;

/// A private home folder that is kept between commands, over the user's download caches.
///
/// Commands see an existing cache of the user through a copy-on-write layer: they read it, and their writes go to the
/// kept home. Settings that programs obey and shells' start-up files are not kept.
///
/// This needs a root of the command's own; elsewhere, and where it cannot be mounted, a command has a fresh home. Of two
/// concurrent commands, the second sees the kept home, and its changes there are discarded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptHome {
    /// The folder that holds the home, made when it is first needed. No command sees it at this path.
    pub folder: PathBuf,
    /// The bytes beyond which its largest parts are removed, between commands.
    pub limit_bytes: u64,
    /// The folder of another kept home, which shows through this one and is not changed.
    pub over: Option<PathBuf>,
    /// True if the command's changes to it are discarded, so that other commands can change it meanwhile.
    pub is_discarded: bool,
}

impl KeptHome {
    /// A home in this folder, with the usual limit.
    pub fn new(folder: PathBuf) -> KeptHome {
        KeptHome { folder, limit_bytes: USUAL_HOME_LIMIT_BYTES, over: None, is_discarded: false }
    }

    /// The same with another limit.
    pub fn with_limit(self, limit_bytes: u64) -> KeptHome {
        KeptHome { limit_bytes, ..self }
    }

    /// The same for a command whose changes to it are discarded, such as one that runs alongside others.
    pub fn discarded(self) -> KeptHome {
        KeptHome { is_discarded: true, ..self }
    }

    /// The same over another kept home.
    pub fn layered_over(self, folder: PathBuf) -> KeptHome {
        KeptHome { over: Some(folder), ..self }
    }
}
