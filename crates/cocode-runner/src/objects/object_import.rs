//! Bringing what an agent has made into the repository.
//!
//! Nothing that an agent wrote becomes an object of the repository as it is. Git writes what it reads in the agent's objects as a
//! pack, and reads that pack into the repository, where it gives each object the name that its contents have.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::time::{Duration, Instant};

use crate::error::RunnerError;
use crate::objects::own_objects::OwnObjects;
use crate::objects::taken_objects::TakenObjects;
use crate::repository::Repository;
use crate::repository::git::{Git, GitError};
use crate::repository::worktree::file_error;

/// Up to so many objects become files of their own, as with git's own `transfer.unpackLimit`; more come as a pack.
const UNPACK_MOST: u32 = 100;

/// How long each step of it may take: what an agent has made may be far more than it seems.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// How long the undamaged objects among damaged ones are looked for.
const SEARCH_LIMIT: Duration = Duration::from_secs(60);

/// How many commits are kept in mind that the repository has whole.
const MOST_WHOLE: usize = 8;

/// How all that git writes as a pack is written.
const PACK: [&str; 6] =
    ["pack-objects", "--stdout", "--local", "--quiet", "--window=0", "--delta-base-offset"];

/// Brings objects of one agent into the repository.
#[derive(Debug)]
pub(crate) struct ObjectImport {
    repository: Repository,
    objects: OwnObjects,
    taken: TakenObjects,
    /// Commits that the repository has with all that belongs to them, the start first.
    whole: Vec<String>,
    /// When all of it is to be over.
    until: Option<Instant>,
}

impl ObjectImport {
    pub(crate) fn new(repository: &Repository, objects: OwnObjects, start_commit: &str) -> ObjectImport {
        let taken = objects.taken();
        let whole = vec![start_commit.to_owned()];
        ObjectImport { repository: repository.clone(), objects, taken, whole, until: None }
    }

    /// Sets one end for all that is brought from now on.
    pub(crate) fn end_at(&mut self, until: Instant) {
        self.until = Some(until);
    }

    /// Brings a commit with all that belongs to it. Returns whether the repository has it now: an agent may name one that
    /// there is not, or that is damaged.
    pub(crate) fn bring(&mut self, commit: &str) -> Result<bool, RunnerError> {
        if self.whole.iter().any(|known| known == commit) {
            return Ok(true);
        }
        let mut is_whole = self.try_bring(commit)?;
        if !is_whole {
            // What was taken before may have been replaced since by something better, and commits that nothing named any
            // more may have been removed.
            self.clear()?;
            self.whole.truncate(1);
            is_whole = self.try_bring(commit)?;
        }
        if is_whole {
            if self.whole.len() == MOST_WHOLE {
                self.whole.remove(1);
            }
            self.whole.push(commit.to_owned());
        }
        Ok(is_whole)
    }

    /// Brings every object that there is, whatever it belongs to. Returns how many are left because they are damaged.
    ///
    /// Nobody may be at work there any more.
    pub(crate) fn bring_all(&mut self) -> Result<usize, RunnerError> {
        self.objects.reopen();
        self.clear()?;
        let names = self.names()?;
        let names: Vec<&str> = names.lines().collect();
        self.bring_each(&names, Instant::now() + SEARCH_LIMIT)
    }

    /// Brings what there is now, whatever it belongs to. Returns whether that could be; if anything is damaged, it cannot.
    pub(crate) fn bring_new(&mut self) -> Result<bool, RunnerError> {
        let names = self.names()?;
        Ok(names.is_empty() || self.carry(&PACK, &(names + "\n"))?)
    }

    /// The names of all objects that the agent has itself, a line each.
    fn names(&mut self) -> Result<String, RunnerError> {
        self.refresh()?;
        let git = self.repository.git.with_objects(self.taken.folder(), None).within(self.limit());
        let arguments = ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)"];
        Ok(git.run(self.repository.location(), &arguments)?)
    }

    /// Whether the agent has a commit of this name, wherever it may be.
    pub(crate) fn holds(&mut self, commit: &str) -> Result<bool, RunnerError> {
        self.refresh()?;
        let found = self
            .reader()
            .run(self.repository.location(), &["cat-file", "-e", &format!("{commit}^{{commit}}")]);
        is_so(found)
    }

    /// Removes what was taken to be read. The agent's own folder stays.
    pub(crate) fn finish(mut self) -> Result<(), RunnerError> {
        self.clear()
    }

    /// How long the next step may take.
    fn limit(&self) -> Duration {
        self.until.map_or(LIMIT, |until| until.saturating_duration_since(Instant::now()).min(LIMIT))
    }

    fn try_bring(&mut self, commit: &str) -> Result<bool, RunnerError> {
        self.refresh()?;
        let mut input = format!("{commit}\n--not\n");
        self.whole.iter().for_each(|known| input.extend([known.as_str(), "\n"]));
        let mut arguments = PACK.to_vec();
        arguments.push("--revs");
        arguments.extend(self.repository.is_partial().then_some("--exclude-promisor-objects"));
        Ok(self.carry(&arguments, &input)? && has_whole(&self.repository, commit, &self.whole, self.limit())?)
    }

    /// Brings these objects, or if that cannot be, each half of them.
    fn bring_each(&self, names: &[&str], until: Instant) -> Result<usize, RunnerError> {
        if names.is_empty() || self.carry(&PACK, &(names.join("\n") + "\n"))? {
            return Ok(0);
        }
        if names.len() == 1 || Instant::now() > until {
            return Ok(names.len());
        }
        let (one, other) = names.split_at(names.len() / 2);
        Ok(self.bring_each(one, until)? + self.bring_each(other, until)?)
    }

    /// Has git write a pack of what the agent has and the repository has not, and read it. Returns whether it could.
    fn carry(&self, arguments: &[&str], input: &str) -> Result<bool, RunnerError> {
        let folder = self.objects.folder();
        let file_error = file_error("make a pack in", folder);
        let mut pack = tempfile::tempfile_in(folder).map_err(&file_error)?;
        let location = self.repository.location();
        let written = pack.try_clone().map_err(&file_error)?;
        if !is_so(self.reader().write_to(location, arguments, input, written))? {
            return Ok(false);
        }
        let count = count_of(&mut pack).map_err(&file_error)?;
        if count == 0 {
            return Ok(true);
        }
        let reading: &[&str] =
            if count <= UNPACK_MOST { &["unpack-objects", "-q"] } else { &["index-pack", "--stdin"] };
        is_so(self.repository.git.within(self.limit()).read_from(location, reading, pack))
    }

    /// Git that reads the agent's objects.
    fn reader(&self) -> Git {
        self.repository
            .git
            .with_objects(self.taken.folder(), Some(self.objects.common()))
            .within(self.limit())
    }

    fn refresh(&mut self) -> Result<(), RunnerError> {
        self.taken.refresh().map_err(file_error("take objects in", self.objects.folder()))
    }

    fn clear(&mut self) -> Result<(), RunnerError> {
        self.taken.clear().map_err(file_error("clear", self.objects.folder()))
    }
}

/// Whether the repository has a commit with all that belongs to it but not to those that it is known to have whole.
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
    is_so(repository.git.within(limit).run(repository.location(), &arguments))
}

/// Whether git did what it was asked. That it could not be started says nothing of what it was asked, and that it took too long
/// is to be told.
fn is_so<T>(result: Result<T, GitError>) -> Result<bool, RunnerError> {
    match result {
        Ok(_) => Ok(true),
        Err(GitError::Failed { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// How many objects a pack says that it has. It is to be read from its start afterwards.
fn count_of(pack: &mut File) -> io::Result<u32> {
    pack.rewind()?;
    let mut header = [0; 12];
    pack.read_exact(&mut header)?;
    pack.rewind()?;
    let [.., a, b, c, d] = header;
    Ok(u32::from_be_bytes([a, b, c, d]))
}
