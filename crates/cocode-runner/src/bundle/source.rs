//! Bundles of the commits of a repository.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::bundle::bundle_size::BundleSize;
use crate::bundle::header::{BundleHeader, is_object_name};
use crate::error::RepositoryError;
use crate::plan::host::Host;
use crate::repository::Repository;
use crate::repository::git::{Git, GitError};
use crate::runner::Runner;

/// The name of the only reference of a bundle.
const REFERENCE: &str = "refs/cocode/tip";

/// The time limit of writing a bundle.
const LIMIT: Duration = Duration::from_secs(600);

/// The bytes of a pack before its first object: its signature, version and number of objects.
const PACK_HEADER_BYTES: usize = 12;

/// The most names that a warning lists.
const MOST_NAMED: usize = 5;

/// An error of writing a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The repository cannot be used.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The repository lacks a part of its history.
    #[error("the repository is shallow, so its history cannot be sent: run `git fetch --unshallow` first")]
    Shallow,
    /// The repository lacks contents of files.
    #[error(
        "the repository is a partial clone, so its files cannot be sent: \
         make a full one with `git clone`, without --filter"
    )]
    Partial,
    /// The repository does not have the commit.
    #[error("the repository has no commit {commit}: fetch it, or name a branch that is here")]
    MissingCommit {
        /// The commit, as it was given.
        commit: String,
    },
    /// The bundle would be larger than the limit.
    #[error(
        "the bundle is larger than {limit_bytes} bytes, which is the limit: raise it, \
         or remove large files from the history"
    )]
    TooLarge {
        /// The limit.
        limit_bytes: u64,
    },
    /// The file cannot be written.
    #[error("cannot write the bundle {}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

/// A repository whose commits are written to bundles. Nothing in it is changed.
#[derive(Clone, Debug)]
pub struct BundleSource {
    repository: Repository,
}

impl BundleSource {
    /// Opens the repository that `folder` belongs to.
    ///
    /// # Errors
    /// [`BundleError::Repository`], [`BundleError::Shallow`], [`BundleError::Partial`].
    pub fn open(host: &Host, folder: &Path) -> Result<BundleSource, BundleError> {
        // None of the calls runs a hook, so the folder of hooks need not exist.
        BundleSource::of(Repository::open(Git::new(host, "/nonexistent".into()), folder)?)
    }

    /// Returns the repository of a runner as a source.
    ///
    /// # Errors
    /// [`BundleError::Shallow`], [`BundleError::Partial`].
    pub fn of_runner(runner: &Runner) -> Result<BundleSource, BundleError> {
        BundleSource::of(runner.repository.clone())
    }

    fn of(repository: Repository) -> Result<BundleSource, BundleError> {
        if repository.common_folder.join("shallow").exists() {
            return Err(BundleError::Shallow);
        }
        if repository.is_partial() {
            return Err(BundleError::Partial);
        }
        Ok(BundleSource { repository })
    }

    /// Writes a bundle of `tip`, a full name of a commit, with all of its history that is not in the commits `present`, which the
    /// reader has. Of these, those that are not ancestors of `tip` here are ignored, as are those beyond
    /// [`BundleHeader::MOST_PREREQUISITES`].
    ///
    /// An existing file is replaced once the bundle is complete. After an error nothing is left.
    ///
    /// # Errors
    /// [`BundleError::MissingCommit`], [`BundleError::TooLarge`], [`BundleError::File`], [`BundleError::Git`].
    pub fn write(
        &self,
        tip: &str,
        present: &[String],
        file: &Path,
        limit_bytes: u64,
    ) -> Result<BundleSize, BundleError> {
        if !is_object_name(tip) || self.repository.commit(tip).as_deref() != Some(tip) {
            return Err(BundleError::MissingCommit { commit: tip.to_owned() });
        }
        let prerequisites = self.ancestors(tip, present)?;
        let header = BundleHeader { prerequisites, tip: tip.to_owned(), reference: REFERENCE.to_owned() };
        let text = header.render().expect("its names are full names of objects");
        let file_error = |source| BundleError::File { path: file.to_owned(), source };
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut written = NamedTempFile::new_in(parent.unwrap_or(Path::new("."))).map_err(file_error)?;
        written.write_all(text.as_bytes()).map_err(file_error)?;
        self.write_pack(&header, written.as_file(), limit_bytes).map_err(|error| match error {
            PackError::TooLarge => BundleError::TooLarge { limit_bytes },
            PackError::Git(error) => error.into(),
            PackError::File(source) => file_error(source),
        })?;
        let size = size(written.as_file_mut(), text.len() as u64).map_err(file_error)?;
        written.persist(file).map_err(|error| file_error(error.error))?;
        Ok(size)
    }

    /// Returns warnings about content that a bundle of `commit` does not carry: submodules, and files in Git LFS.
    ///
    /// # Errors
    /// [`BundleError::Git`].
    pub fn warnings(&self, commit: &str) -> Result<Vec<String>, BundleError> {
        let (git, location) = (self.repository.git.within(LIMIT), self.repository.location());
        let mut warnings = Vec::new();
        match git.run_for_bytes(location, &["ls-tree", "-r", "-z", "--full-tree", commit]) {
            Ok(entries) => {
                let entries = entries.split(|byte| *byte == 0);
                let modules = entries.filter(|entry| entry.starts_with(b"160000 "));
                let paths = modules.filter_map(|entry| entry.splitn(2, |byte| *byte == b'\t').nth(1));
                warnings.extend(named("the contents of submodules are not sent", paths));
            }
            Err(GitError::TooLong { .. }) => {
                warnings.push("the files are too many to search for submodules".to_owned());
            }
            Err(error) => return Err(error.into()),
        }
        let search = ["grep", "-l", "-z", "--full-name", "-F", "-e", "filter=lfs", commit];
        let attributes = ["--", ":(top,glob)**/.gitattributes"];
        // Exit code 1 means no match.
        if let Some(files) = git.ask(location, &[&search[..], &attributes[..]].concat())? {
            let files = files.split('\0').filter_map(|line| line.split_once(':'));
            let what = "of files in Git LFS only the pointers are sent, not the contents, by";
            warnings.extend(named(what, files.map(|(_, path)| path.as_bytes())));
        }
        Ok(warnings)
    }

    /// Returns those of the commits `present` that the repository has and that are ancestors of `tip`, or `tip` itself.
    fn ancestors(&self, tip: &str, present: &[String]) -> Result<Vec<String>, GitError> {
        let (git, location) = (&self.repository.git, self.repository.location());
        let mut names: Vec<&str> = Vec::new();
        for name in present.iter().map(String::as_str).filter(|name| is_object_name(name)) {
            if !names.contains(&name) && names.len() < BundleHeader::MOST_PREREQUISITES {
                names.push(name);
            }
        }
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let lines = git.exchange(location, &["cat-file", "--batch-check"], &(names.join("\n") + "\n"))?;
        let lines = String::from_utf8_lossy(&lines);
        let are_here = names.into_iter().zip(lines.lines()).filter(|(_, line)| line.contains(" commit "));
        let mut names: Vec<&str> = are_here.map(|(name, _)| name).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        // A commit that is not an ancestor is listed itself.
        let range = format!("{}\n^{tip}\n", names.join("\n"));
        match git.exchange(location, &["rev-list", "--stdin"], &range) {
            Ok(others) => {
                let others = String::from_utf8_lossy(&others);
                names.retain(|name| !others.lines().any(|other| other == *name));
                Ok(names.into_iter().map(str::to_owned).collect())
            }
            // A history that long is not the tip's.
            Err(GitError::TooLong { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn write_pack(&self, header: &BundleHeader, file: &File, limit_bytes: u64) -> Result<(), PackError> {
        let mut range = format!("{}\n--not\n", header.tip);
        header.prerequisites.iter().for_each(|name| range.extend([name.as_str(), "\n"]));
        let arguments = ["pack-objects", "--revs", "--thin", "--stdout", "--quiet", "--delta-base-offset"];
        let git = self.repository.git.within(LIMIT).with_file_limit(limit_bytes);
        let output = file.try_clone().map_err(PackError::File)?;
        let result = git.write_to(self.repository.location(), &arguments, &range, output);
        let length = file.metadata().map_err(PackError::File)?.len();
        match result {
            // Git is killed when its output reaches the limit.
            Err(GitError::Failed { exit_code: None, .. }) if length >= limit_bytes => {
                Err(PackError::TooLarge)
            }
            Ok(()) if length > limit_bytes => Err(PackError::TooLarge),
            result => result.map_err(PackError::Git),
        }
    }
}

/// A reason why a pack was not written.
enum PackError {
    TooLarge,
    Git(GitError),
    File(io::Error),
}

/// Reads the size of a bundle from the header of its pack.
fn size(file: &mut File, header_bytes: u64) -> io::Result<BundleSize> {
    file.seek(SeekFrom::Start(header_bytes))?;
    let mut start = [0; PACK_HEADER_BYTES];
    file.read_exact(&mut start)?;
    let [.., a, b, c, d] = start;
    Ok(BundleSize { bytes: file.metadata()?.len(), objects: u32::from_be_bytes([a, b, c, d]) })
}

/// Renders a warning with the first of these paths, if there are any.
fn named<'a>(what: &str, paths: impl Iterator<Item = &'a [u8]>) -> Option<String> {
    let paths: Vec<_> = paths.map(String::from_utf8_lossy).collect();
    let first = paths.iter().take(MOST_NAMED).map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
    match paths.len() {
        0 => None,
        1..=MOST_NAMED => Some(format!("{what}: {first}")),
        number => Some(format!("{what}: {first} and {} more", number - MOST_NAMED)),
    }
}
