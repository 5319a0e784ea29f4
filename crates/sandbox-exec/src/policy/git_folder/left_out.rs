//! The reasons that paths may be missing from a list.

/// A reason that git may obey further paths than those found. They are not determined: they may be any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// A settings file is too long, or too many are included or come from variables.
    Settings,
    /// Commands in settings may be in too many folders, are nested too deep or name too much.
    Commands,
    /// A folder of hooks has too many entries or links.
    Hooks,
    /// There are too many submodules or linked working trees, or settings name too much in them.
    Repositories,
    /// Settings name too many paths.
    Paths,
}

impl LeftOut {
    /// Returns the reason, as a clause.
    #[must_use]
    pub fn cause(self) -> &'static str {
        match self {
            LeftOut::Settings => "the files of git's settings are too long or too many",
            LeftOut::Commands => "commands in git's settings name too much",
            LeftOut::Hooks => "a folder of hooks has too many entries",
            LeftOut::Repositories => "there are too many submodules or linked working trees",
            LeftOut::Paths => "git's settings and links among its hooks name too many paths",
        }
    }

    /// Returns the user's remedy, as an instruction.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            LeftOut::Settings => "shorten .git/config and what it includes",
            LeftOut::Commands => "move long aliases into scripts",
            LeftOut::Hooks => "remove files from .git/hooks and other folders of hooks",
            LeftOut::Repositories => {
                "remove what you do not need of .git/worktrees (`git worktree prune`), .git/modules and .gitmodules"
            }
            LeftOut::Paths => "remove links from folders of hooks, and settings that you do not need",
        }
    }
}
