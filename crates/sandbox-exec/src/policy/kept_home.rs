//! A home folder for commands that is kept from one command to the next.

use std::path::PathBuf;

/// The most bytes that a kept home holds, unless the user chose otherwise: 8 GiB.
pub const USUAL_HOME_LIMIT_BYTES: u64 = 8 << 30;

/// A private home folder that is kept between commands, with the user's download caches beneath it.
///
/// Where a cache of the user's exists, commands see it through a copy-on-write layer: they read it, and what they write
/// goes to the kept home. Settings that programs obey and shells' start-up files are not kept.
///
/// It takes a root of the command's own; elsewhere, and where it cannot be mounted, a command has a fresh home. Of two
/// commands at the same time, the second sees the kept home, and what it changes there is discarded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptHome {
    /// The folder that holds it, made when it is first needed. No command sees it at this path.
    pub folder: PathBuf,
    /// The bytes beyond which its largest parts are removed, between commands.
    pub limit_bytes: u64,
    /// The folder of another kept home, which commands see through this one and do not change.
    pub over: Option<PathBuf>,
    /// True if nothing that the command does to it is kept, so that other commands can change it meanwhile.
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

    /// The same for a command whose changes to it are discarded, such as one that runs beside other commands.
    pub fn discarded(self) -> KeptHome {
        KeptHome { is_discarded: true, ..self }
    }

    /// The same over another kept home.
    pub fn with_other_beneath(self, folder: PathBuf) -> KeptHome {
        KeptHome { over: Some(folder), ..self }
    }
}
