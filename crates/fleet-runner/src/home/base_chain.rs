//! The bundles of the commits that tasks start from: a full one, then incremental ones.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cocode_fleet::{BaseBundle, BaseFile, BundleDigest, BundleName};
use cocode_runner::{BUNDLE_LIMIT_BYTES, BundleError, BundleSource};

use super::durable_file;
use super::task_files::TaskFiles;
use crate::private_folder::make_private_folder;

/// The maximum number of bundles in a chain; after that a new full one begins another.
const MOST: usize = 8;

/// The file that lists the chain.
const LIST: &str = "chain.json";

/// A bundle that is being written.
const NEW: &str = "new.bundle";

/// The end of the bundles' names, after their digests.
const END: &str = ".bundle";

/// An error of making a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// The bundle cannot be made.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A file cannot be read or written.
    #[error("the bundles of bases cannot be kept: {0}")]
    File(#[from] io::Error),
}

/// The chain of bundles of one repository, in a separate folder.
#[derive(Debug)]
pub struct BaseChain {
    folder: PathBuf,
}

impl BaseChain {
    /// Opens the folder, creating it if it is missing.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn open(folder: PathBuf) -> io::Result<BaseChain> {
        make_private_folder(&folder)?;
        Ok(BaseChain { folder })
    }

    /// Returns the bundles that lead to a commit, oldest first, making the last one if it is missing; afterwards they
    /// are on the disk. A new chain begins for a commit that does not descend from the last one, after eight bundles,
    /// and if a bundle is missing or its size has changed.
    ///
    /// # Errors
    ///
    /// The bundle cannot be made, is larger than [`BUNDLE_LIMIT_BYTES`], or cannot be kept.
    pub fn leading_to(&self, source: &BundleSource, commit: &str) -> Result<Vec<BaseFile>, ChainError> {
        let mut chain = self.read();
        if let Some(at) = chain.iter().position(|base| base.tip == commit) {
            // A process that was killed may have written the names, and not synced them.
            durable_file::sync(&self.folder)?;
            chain.truncate(at + 1);
            return Ok(self.files(chain));
        }
        if chain.len() >= MOST {
            chain.clear();
        }
        let tips: Vec<String> = chain.iter().map(|base| base.tip.clone()).collect();
        let file = self.folder.join(NEW);
        source.write(commit, &tips, &file, BUNDLE_LIMIT_BYTES)?;
        // A thin bundle needs the newest one before it; one that does not need it is a full bundle.
        if let Some(last) = tips.last()
            && !is_needed(&file, last)?
        {
            chain.clear();
            source.write(commit, &[], &file, BUNDLE_LIMIT_BYTES)?;
        }
        let bundle = BundleName::of_file(&file)?;
        // Sync before the rename: a task is refused for good if its bundle is empty after a power loss.
        durable_file::sync(&file)?;
        fs::rename(&file, self.path(&bundle))?;
        chain.push(BaseBundle { bundle, tip: commit.to_owned() });
        durable_file::write(&self.folder, LIST, &serde_json::to_vec(&chain).map_err(io::Error::from)?)?;
        Ok(self.files(chain))
    }

    /// Returns the path of a bundle's file, which need not exist.
    #[must_use]
    pub fn path(&self, bundle: &BundleName) -> PathBuf {
        self.file(&bundle.digest)
    }

    /// Removes the bundles that neither the chain nor a task names, and the files that a killed process has left half-written. Other
    /// files stay.
    ///
    /// # Errors
    ///
    /// A folder, a task or a file; no bundle is removed unless all tasks can be read.
    pub(super) fn remove_unnamed(&self, tasks: &TaskFiles) -> io::Result<()> {
        let mut unnamed: HashSet<BundleDigest> = HashSet::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            if name == NEW || durable_file::is_unfinished(name) {
                fs::remove_file(self.folder.join(name))?;
            } else if let Some(digest) = name.strip_suffix(END).and_then(|digest| digest.parse().ok()) {
                unnamed.insert(digest);
            }
        }
        for base in self.read() {
            unnamed.remove(&base.bundle.digest);
        }
        if unnamed.is_empty() {
            return Ok(());
        }
        for name in tasks.names()? {
            for base in tasks.get(&name)?.iter().flat_map(|task| &task.bases) {
                unnamed.remove(&base.bundle.digest);
            }
        }
        unnamed.iter().try_for_each(|digest| fs::remove_file(self.file(digest)))
    }

    fn file(&self, digest: &BundleDigest) -> PathBuf {
        self.folder.join(format!("{digest}{END}"))
    }

    fn files(&self, chain: Vec<BaseBundle>) -> Vec<BaseFile> {
        chain.into_iter().map(|base| BaseFile { path: self.path(&base.bundle), base }).collect()
    }

    /// Reads the list. A chain with a missing part, or one of a different size, is discarded. Digests are left to the
    /// upload, which compares them anyway: a whole chain may have up to 2 GiB.
    fn read(&self) -> Vec<BaseBundle> {
        let read = fs::read(self.folder.join(LIST)).ok();
        let chain: Option<Vec<BaseBundle>> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let is_whole = |base: &BaseBundle| {
            let file = fs::metadata(self.path(&base.bundle));
            file.is_ok_and(|file| file.is_file() && file.len() == base.bundle.size_bytes)
        };
        chain.filter(|chain| chain.iter().all(is_whole)).unwrap_or_default()
    }
}

/// Checks whether a bundle needs a commit.
fn is_needed(file: &Path, commit: &str) -> io::Result<bool> {
    let mut reader = io::BufReader::new(fs::File::open(file)?);
    let (header, _) = cocode_runner::BundleHeader::read(&mut reader).map_err(io::Error::other)?;
    Ok(header.prerequisites.iter().any(|name| name == commit))
}
