//! The import of an agent's objects into the repository.
//!
//! No file of an agent becomes an object of the repository. Git reads the agent's objects, writes them as a pack, and reads
//! that pack into the repository, where it names each object by its contents.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::time::{Duration, Instant};

use crate::error::RunnerError;
use crate::objects::object_snapshot::ObjectSnapshot;
use crate::objects::own_objects::OwnObjects;
use crate::repository::Repository;
use crate::repository::git::{Git, GitError};
use crate::repository::worktree::file_error;

/// The most objects that are imported as loose files, as with git's own `transfer.unpackLimit`; more become a pack.
const UNPACK_MOST: u32 = 100;

/// The time limit of each step: an agent's objects may expand to far more than their size.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// The time limit of the search for undamaged objects among damaged ones.
const SEARCH_LIMIT: Duration = Duration::from_secs(60);

/// The most commits that are cached as complete in the repository.
const MOST_WHOLE: usize = 8;

/// The command by which git writes all packs of an import.
const PACK: [&str; 6] =
    ["pack-objects", "--stdout", "--local", "--quiet", "--window=0", "--delta-base-offset"];

/// Imports objects of one agent into the repository.
#[derive(Debug)]
pub(crate) struct ObjectImport {
    repository: Repository,
    objects: OwnObjects,
    snapshot: ObjectSnapshot,
    /// Commits that the repository has with all objects they refer to, the start first.
    whole: Vec<String>,
    /// The deadline of all steps together, if any.
    until: Option<Instant>,
}

impl ObjectImport {
    pub(crate) fn new(repository: &Repository, objects: OwnObjects, start_commit: &str) -> ObjectImport {
        let snapshot = objects.snapshot();
        let whole = vec![start_commit.to_owned()];
        ObjectImport { repository: repository.clone(), objects, snapshot, whole, until: None }
    }

    /// Sets one deadline for all further imports.
    pub(crate) fn end_at(&mut self, until: Instant) {
        self.until = Some(until);
    }

    /// Imports a commit with all objects it refers to. Returns whether the repository has them now: an agent may name a
    /// missing or damaged commit.
    pub(crate) fn import_commit(&mut self, commit: &str) -> Result<bool, RunnerError> {
        if self.whole.iter().any(|whole| whole == commit) {
            return Ok(true);
        }
        let mut is_whole = self.try_import_commit(commit)?;
        if !is_whole {
            // Once more from a fresh snapshot: the agent may have replaced a damaged object since, and git may have removed
            // commits that nothing refers to.
            self.clear()?;
            self.whole.truncate(1);
            is_whole = self.try_import_commit(commit)?;
        }
        if is_whole {
            if self.whole.len() == MOST_WHOLE {
                // The second entry is the oldest; the start stays.
                self.whole.remove(1);
            }
            self.whole.push(commit.to_owned());
        }
        Ok(is_whole)
    }

    /// Imports every object of the agent. Returns the number of damaged ones, which are left out.
    ///
    /// The agent must not be running any more.
    pub(crate) fn import_all(&mut self) -> Result<usize, RunnerError> {
        self.objects.reopen();
        self.clear()?;
        let names = self.names()?;
        let names: Vec<&str> = names.lines().collect();
        self.import_each(&names, Instant::now() + SEARCH_LIMIT)
    }

    /// Imports every present object of the agent. Returns false, and imports nothing, if any of them is damaged.
    pub(crate) fn import_new(&mut self) -> Result<bool, RunnerError> {
        let names = self.names()?;
        Ok(names.is_empty() || self.transfer(&PACK, &(names + "\n"), true)?)
    }

    /// Returns the names of all objects in the agent's folder, a line each.
    fn names(&mut self) -> Result<String, RunnerError> {
        self.refresh()?;
        let git = self.repository.git.with_objects(self.snapshot.folder(), None).within(self.limit());
        let arguments = ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)"];
        Ok(git.run(self.repository.location(), &arguments)?)
    }

    /// Returns whether the agent's or the repository's objects include a commit of this name.
    pub(crate) fn holds(&mut self, commit: &str) -> Result<bool, RunnerError> {
        self.refresh()?;
        let name = format!("{commit}^{{commit}}");
        is_success(self.reader().run(self.repository.location(), &["cat-file", "-e", &name]))
    }

    /// Removes the snapshot. The agent's own folder stays.
    pub(crate) fn finish(mut self) -> Result<(), RunnerError> {
        self.clear()
    }

    /// Returns the time limit of the next step.
    fn limit(&self) -> Duration {
        self.until.map_or(LIMIT, |until| until.saturating_duration_since(Instant::now()).min(LIMIT))
    }

    fn try_import_commit(&mut self, commit: &str) -> Result<bool, RunnerError> {
        self.refresh()?;
        let mut input = format!("{commit}\n--not\n");
        self.whole.iter().for_each(|whole| input.extend([whole.as_str(), "\n"]));
        let mut arguments = PACK.to_vec();
        arguments.push("--revs");
        arguments.extend(self.repository.is_partial().then_some("--exclude-promisor-objects"));
        Ok(self.transfer(&arguments, &input, false)?
            && has_whole(&self.repository, commit, &self.whole, self.limit())?)
    }

    /// Imports these objects, or if that fails, each half of them. Returns the number of those that were not imported.
    fn import_each(&self, names: &[&str], until: Instant) -> Result<usize, RunnerError> {
        if names.is_empty() || self.transfer(&PACK, &(names.join("\n") + "\n"), true)? {
            return Ok(0);
        }
        if names.len() == 1 || Instant::now() > until {
            return Ok(names.len());
        }
        let (one, other) = names.split_at(names.len() / 2);
        Ok(self.import_each(one, until)? + self.import_each(other, until)?)
    }

    /// Transfers the objects of `input` that the repository lacks, as a pack. Returns whether git could read and write it and, if
    /// `is_checked`, accepts each of them. Objects of a commit are judged along with it.
    fn transfer(&self, arguments: &[&str], input: &str, is_checked: bool) -> Result<bool, RunnerError> {
        let folder = self.objects.folder();
        let file_error = file_error("make a pack in", folder);
        let mut pack = tempfile::tempfile_in(folder).map_err(&file_error)?;
        let location = self.repository.location();
        let written = pack.try_clone().map_err(&file_error)?;
        if !is_success(self.reader().write_to(location, arguments, input, written))? {
            return Ok(false);
        }
        // An empty pack is the common case: the repository has everything already.
        let count = count_of(&mut pack).map_err(&file_error)?;
        if count == 0 {
            return Ok(true);
        }
        if is_checked && !self.is_well_formed(&mut pack)? {
            return Ok(false);
        }
        let reading: &[&str] =
            if count <= UNPACK_MOST { &["unpack-objects", "-q"] } else { &["index-pack", "--stdin"] };
        is_success(self.repository.git.within(self.limit()).read_from(location, reading, pack))
    }

    /// Returns whether git accepts each object of a pack, and rewinds the pack. `git gc` fails at a tag, commit or tree that it cannot
    /// parse, even if nothing refers to it.
    fn is_well_formed(&self, pack: &mut File) -> Result<bool, RunnerError> {
        let folder = self.objects.folder();
        let file_error = file_error("make a pack in", folder);
        let apart = tempfile::tempdir_in(folder).map_err(&file_error)?;
        fs::create_dir(apart.path().join("pack")).map_err(&file_error)?;
        let git = self.repository.git.with_objects(apart.path(), Some(self.objects.common()));
        let read = pack.try_clone().map_err(&file_error)?;
        let arguments = ["index-pack", "--stdin", "--fsck-objects"];
        let is_accepted =
            is_success(git.within(self.limit()).read_from(self.repository.location(), &arguments, read))?;
        pack.rewind().map_err(&file_error)?;
        Ok(is_accepted)
    }

    /// Returns a `Git` that reads the agent's objects, and the repository's after them.
    fn reader(&self) -> Git {
        self.repository
            .git
            .with_objects(self.snapshot.folder(), Some(self.objects.common()))
            .within(self.limit())
    }

    fn refresh(&mut self) -> Result<(), RunnerError> {
        self.snapshot.refresh().map_err(file_error("link objects in", self.objects.folder()))
    }

    fn clear(&mut self) -> Result<(), RunnerError> {
        self.snapshot.clear().map_err(file_error("clear", self.objects.folder()))
    }
}

/// Returns whether the repository has a commit with all objects it refers to; those of the complete commits `whole` are
/// not checked again.
pub(crate) fn has_whole(
    repository: &Repository,
    commit: &str,
    whole: &[String],
    limit: Duration,
) -> Result<bool, RunnerError> {
    let mut arguments = vec!["rev-list", "--objects", "--quiet"];
    arguments.extend(repository.is_partial().then_some("--exclude-promisor-objects"));
    arguments.extend([commit, "--not"]);
    arguments.extend(whole.iter().map(String::as_str));
    is_success(repository.git.within(limit).run(repository.location(), &arguments))
}

/// Returns whether git succeeded. Only git's own refusal means "no": if it could not be started, took too long, was killed or
/// could not write, that says nothing about the objects, and stays an error.
fn is_success<T>(result: Result<T, GitError>) -> Result<bool, RunnerError> {
    match result {
        Ok(_) => Ok(true),
        Err(error @ GitError::Failed { .. }) if !error.is_of_this_machine() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns the number of objects in a pack's header, and rewinds the pack.
fn count_of(pack: &mut File) -> io::Result<u32> {
    pack.rewind()?;
    let mut header = [0; 12];
    pack.read_exact(&mut header)?;
    pack.rewind()?;
    let [.., a, b, c, d] = header;
    Ok(u32::from_be_bytes([a, b, c, d]))
}
