//! The steps that a child takes between its creation and the shell, and their failures.

use std::error::Error;
use std::{fmt, io};

macro_rules! steps {
    ($($(#[doc = $doc:literal])+ $variant:ident = $code:literal, $name:literal;)+) => {
        /// A step on the way from the request to the running shell.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Step { $($(#[doc = $doc])+ $variant = $code,)+ }

        impl Step {
            /// Returns the step's name in messages.
            pub fn name(self) -> &'static str {
                match self { $(Step::$variant => $name,)+ }
            }

            pub(crate) fn from_code(code: u8) -> Option<Step> {
                match code { $($code => Some(Step::$variant),)+ _ => None }
            }
        }
    };
}

steps! {
    /// The request could not be read by the spawner.
    Request = 1, "read the request";
    /// The process or its namespaces could not be created.
    Clone = 2, "create the process";
    /// The child could not tie its life to its parent's.
    ParentDeath = 3, "follow the parent's death";
    /// The user namespace's ids could not be mapped.
    IdMaps = 4, "map user ids";
    /// Mounts could not be made private.
    PrivateMounts = 5, "make mounts private";
    /// The new root's own file system could not be made.
    Root = 6, "make the new root";
    /// A folder or file could not be bound into the new root.
    Bind = 7, "bind a folder";
    /// A memory file system could not be mounted.
    Tmpfs = 8, "mount a memory file system";
    /// The fresh `/proc` could not be mounted.
    Proc = 9, "mount proc";
    /// The minimal `/dev` could not be made.
    Devices = 10, "make devices";
    /// A folder could not be masked or made read-only.
    Protect = 11, "protect a folder";
    /// The new root could not be entered.
    PivotRoot = 12, "enter the new root";
    /// The limit on processes could not be set.
    ProcessLimit = 13, "limit processes";
    /// A resource limit could not be set.
    ResourceLimits = 14, "set resource limits";
    /// Capabilities could not be dropped.
    Capabilities = 15, "drop capabilities";
    /// `no_new_privs` could not be set.
    NoNewPrivileges = 16, "forbid new privileges";
    /// Landlock rules could not be put in force.
    Landlock = 17, "restrict files with landlock";
    /// The system call filter could not be put in force.
    Seccomp = 18, "filter system calls";
    /// Descriptors could not be set up or closed.
    Descriptors = 19, "set up descriptors";
    /// The child could not start a session of its own.
    Session = 20, "start a session";
    /// The working directory could not be entered.
    WorkingDirectory = 21, "enter the working directory";
    /// The shell's process could not be created by the sandbox's init.
    Fork = 22, "start the shell's process";
    /// The shell could not be executed.
    Exec = 23, "execute the shell";
    /// The control group could not be made or entered.
    ControlGroup = 24, "make a control group";
    /// The copy-on-write layer could not be mounted.
    Layer = 25, "mount a copy-on-write layer";
    /// A user of the command's own could not be made, or a file system does not support it.
    OwnIds = 26, "make a user for commands";
    /// The kept home, or the caches in it, could not be mounted.
    Home = 27, "mount the kept home";
    /// The network of allowed names, or one that commands share, could not be made.
    Network = 28, "make a network for commands";
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A step that failed in the child, with the kernel's error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {step}: {}", io::Error::from_raw_os_error(*.errno))]
#[non_exhaustive]
pub struct StepError {
    /// The step that failed.
    pub step: Step,
    /// The error number, as in `errno.h`.
    pub errno: i32,
}

impl StepError {
    pub(crate) fn new(step: Step, errno: rustix::io::Errno) -> StepError {
        StepError { step, errno: errno.raw_os_error() }
    }

    /// Finds the error number among an error's causes.
    pub(crate) fn caused_by(step: Step, error: &(dyn Error + 'static)) -> StepError {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(errno) = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
                return StepError { step, errno };
            }
            cause = error.source();
        }
        StepError { step, errno: libc::EINVAL }
    }
}

/// Names the step of a failing system call.
pub(crate) trait AtStep<T> {
    fn at(self, step: Step) -> Result<T, StepError>;
}

impl<T> AtStep<T> for rustix::io::Result<T> {
    fn at(self, step: Step) -> Result<T, StepError> {
        self.map_err(|errno| StepError::new(step, errno))
    }
}

impl<T> AtStep<T> for io::Result<T> {
    fn at(self, step: Step) -> Result<T, StepError> {
        self.map_err(|error| StepError { step, errno: error.raw_os_error().unwrap_or(libc::EIO) })
    }
}
