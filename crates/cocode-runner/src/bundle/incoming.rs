//! Receives the objects of a bundle.

use std::io::{BufReader, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use crate::bundle::header::BundleHeader;
use crate::bundle::refusal::BundleRefusal;
use crate::repository::git::{Git, GitError, GitLocation, reason};
use crate::repository::{closed_folder, foreign_file};

/// The beginning of git's reason to reject an object for its contents.
const REJECTED: &str = "fsck error in packed object";

/// The repository that receives a bundle, and the limits.
pub(crate) struct Receiver<'a> {
    pub(crate) git: &'a Git,
    pub(crate) location: GitLocation<'a>,
    /// The repository's folder of objects.
    pub(crate) objects: &'a Path,
    /// The folder of objects that receives the bundle's. It is empty or missing.
    pub(crate) folder: &'a Path,
    /// The most bytes of the bundle.
    pub(crate) limit_bytes: u64,
    /// The most time of each call of git.
    pub(crate) limit: Duration,
    /// True if git rejects objects for their contents. If not, only their names are checked.
    pub(crate) is_strict: bool,
}

impl Receiver<'_> {
    /// Reads the bundle's objects into the folder, and checks that the expected one is a commit, and complete with those of
    /// the repository. `has` returns whether the repository has a commit with all that it refers to, and `whole` names such
    /// commits, which are not checked again.
    ///
    /// The caller removes the folder, whatever the result.
    pub(crate) fn receive(
        &self,
        bundle: &Path,
        expected: &str,
        whole: &[String],
        mut has: impl FnMut(&str) -> Result<bool, GitError>,
    ) -> Result<(), BundleRefusal> {
        let unreadable = |source| BundleRefusal::Unreadable { path: bundle.to_owned(), source };
        let mut file = foreign_file::open(bundle).map_err(unreadable)?;
        let (bytes, limit_bytes) = (file.metadata().map_err(unreadable)?.len(), self.limit_bytes);
        if bytes > limit_bytes {
            return Err(BundleRefusal::TooLarge { bytes, limit_bytes });
        }
        let (header, length_bytes) = BundleHeader::read(&mut BufReader::new(&file))?;
        if header.tip != expected {
            return Err(BundleRefusal::OtherTip { tip: header.tip, expected: expected.to_owned() });
        }
        for commit in &header.prerequisites {
            if !whole.contains(commit) && !has(commit)? {
                return Err(BundleRefusal::MissingPrerequisite { commit: commit.clone() });
            }
        }
        let pack = self.folder.join("pack");
        closed_folder::make(&pack).map_err(|source| BundleRefusal::File {
            what: "make",
            path: pack,
            source,
        })?;
        // The buffered reader above has read ahead.
        file.seek(SeekFrom::Start(length_bytes)).map_err(unreadable)?;
        let git = self.git.with_objects(self.folder, Some(self.objects)).within(self.limit);
        // The file may grow while it is read.
        let size = format!("--max-input-size={limit_bytes}");
        let mut arguments = vec!["index-pack", "--stdin", "--fix-thin", size.as_str()];
        arguments.extend(self.is_strict.then_some("--strict"));
        let (is_accepted, errors) = git.judge_from(self.location, &arguments, file)?;
        if !is_accepted {
            let reason = reason(&errors);
            return Err(match errors.contains(REJECTED) {
                true => BundleRefusal::Rejected { reason },
                false => BundleRefusal::Damaged { reason },
            });
        }
        let incomplete = || BundleRefusal::Incomplete { commit: expected.to_owned() };
        // A tag's name is new, however old its commit is.
        match git.run(self.location, &["cat-file", "-t", expected]) {
            Ok(kind) if kind == "commit" => {}
            Ok(kind) => return Err(BundleRefusal::NoCommit { object: expected.to_owned(), kind }),
            Err(error @ GitError::Failed { .. }) if !error.is_of_this_machine() => return Err(incomplete()),
            Err(error) => return Err(error.into()),
        }
        let mut arguments = vec!["rev-list", "--objects", "--quiet", expected, "--not"];
        arguments.extend(whole.iter().chain(&header.prerequisites).map(String::as_str));
        match git.run(self.location, &arguments) {
            Ok(_) => Ok(()),
            Err(error @ GitError::Failed { .. }) if !error.is_of_this_machine() => Err(incomplete()),
            Err(error) => Err(error.into()),
        }
    }
}
