//! The permissions and limits of a command: plain data that can be printed.

pub(crate) mod environment;
pub(crate) mod git_folder;
pub(crate) mod isolation;
pub(crate) mod kept_home;
pub(crate) mod network;
mod refused_variables;
pub(crate) mod shell_command;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::init::layer_mount::LayerMount;
use crate::policy::kept_home::KeptHome;
use crate::policy::network::NetworkPolicy;

/// The permissions of a command. Every path is absolute.
///
/// A policy does not say how it is enforced; [`SandboxReport`](crate::SandboxReport) says what is in force on this
/// machine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Policy {
    /// The folder of code: writable, at its own path, and the default working directory.
    pub workspace: PathBuf,
    /// True if the command can change the workspace only inside [`writable`](Self::writable) folders.
    ///
    /// The command sees changes of others as they are made. This needs a root of the command's own and excludes a layer;
    /// otherwise the command is refused.
    pub is_workspace_read_only: bool,
    /// Further folders or files that may be changed.
    pub writable: Vec<PathBuf>,
    /// Writable folders that can hold only plain files, folders and sockets: no symbolic link and no pipe can be made or
    /// moved there, nor a folder that may hold one.
    ///
    /// Landlock enforces it, where commands have no root of their own; no other writable folder may contain them. With
    /// such a root, [`replaced`](Self::replaced) keeps a command from a folder altogether.
    pub plain: Vec<PathBuf>,
    /// Further folders or files that may be read.
    pub readable: Vec<PathBuf>,
    /// Folders or files inside the above that are covered by empty ones, such as the daemon's own state.
    pub hidden: Vec<PathBuf>,
    /// Folders or files inside the writable ones that cannot be changed. Missing paths and links cannot be protected by a
    /// mount; [`Running::unprotected`](crate::Running::unprotected) names them.
    pub read_only: Vec<PathBuf>,
    /// Folders inside the writable ones that stay writable but cannot be renamed or replaced.
    pub pinned: Vec<PathBuf>,
    /// Folders that may be changed, each with the folder that it replaces for the command. The replaced folder is neither
    /// seen nor changed; both must exist.
    ///
    /// This needs a root of the command's own, as a layer does; without one the command is refused.
    pub replaced: Vec<(PathBuf, PathBuf)>,
    /// A layer that catches what the command changes in the workspace; `None` lets it change the workspace itself.
    ///
    /// This needs a root of the command's own ([`FileConfinement::Root`](crate::FileConfinement::Root)); without one the
    /// command is refused. If the kernel does not mount it, the failed step is [`Step::Layer`](crate::Step::Layer).
    pub layer: Option<LayerMount>,
    /// Folders of the workspace in which mounts of the host stay writable, such as build folders that are volumes of a
    /// container. Mounts in one of [`writable`](Self::writable) stay writable, too; every other mount inside the workspace is
    /// read-only, because writes there are neither caught by a layer nor compared.
    ///
    /// This needs a root of the command's own. Without one, all mounts stay as writable as the workspace, and
    /// [`Running::unprotected`](crate::Running::unprotected) names the others.
    pub writable_mounts: Vec<PathBuf>,
    /// The home folder that is kept between commands; `None` gives each a fresh one, which is discarded.
    pub kept_home: Option<KeptHome>,
    /// The network that the command may use.
    pub network: NetworkPolicy,
    /// Variables that the user lists, on top of the base environment. They are not checked.
    pub environment: BTreeMap<OsString, OsString>,
    /// The author of commits made by commands.
    pub git_identity: GitIdentity,
    /// The resources that it may use.
    pub limits: ExecLimits,
}

impl Policy {
    /// Returns the defaults for a workspace: no network, and a git repository's `config` and `hooks` protected.
    ///
    /// If all of `.git` were read-only, commits would fail. It is pinned instead, because renaming it would carry the
    /// protected files away.
    pub fn for_workspace(workspace: &Path) -> Policy {
        let git = workspace.join(".git");
        Policy {
            workspace: workspace.to_owned(),
            is_workspace_read_only: false,
            writable: Vec::new(),
            plain: Vec::new(),
            readable: Vec::new(),
            hidden: Vec::new(),
            read_only: vec![git.join("config"), git.join("hooks")],
            pinned: vec![git],
            replaced: Vec::new(),
            layer: None,
            writable_mounts: Vec::new(),
            kept_home: None,
            network: NetworkPolicy::Off,
            environment: BTreeMap::new(),
            git_identity: GitIdentity::default(),
            limits: ExecLimits::default(),
        }
    }

    /// The same with a layer over the workspace. Protected paths stay protected.
    pub fn with_layer(self, layer: LayerMount) -> Policy {
        Policy { layer: Some(layer), ..self }
    }

    /// The same with a home that is kept.
    pub fn with_kept_home(self, home: KeptHome) -> Policy {
        Policy { kept_home: Some(home), ..self }
    }

    /// The same with a git repository's `config` and `hooks` as writable as its other files, so that `git init`, `git
    /// config` and `git remote add` work. For a policy with a layer whose owner checks the changes that it adopts.
    pub fn with_git_writable(mut self) -> Policy {
        let git = self.workspace.join(".git");
        self.read_only.retain(|path| !path.starts_with(&git));
        self.pinned.retain(|path| !path.starts_with(&git));
        self
    }
}

/// The name and address that git takes inside the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitIdentity {
    /// `user.name`.
    pub name: String,
    /// `user.email`.
    pub email: String,
}

impl Default for GitIdentity {
    fn default() -> GitIdentity {
        GitIdentity { name: "agentd".into(), email: "agentd@localhost".into() }
    }
}

/// The resources that a command may use. The timeout belongs to the [`ShellCommand`](crate::ShellCommand).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecLimits {
    /// Memory in bytes: of one process's data where only resource limits are available.
    pub memory_bytes: u64,
    /// Processes and threads at one time; the kernel's own reserve may let 300 more through.
    pub processes: u32,
    /// The size in bytes of one file that the command writes.
    pub file_size_bytes: u64,
    /// Open descriptors of one process.
    pub open_files: u32,
    /// Bytes in the private `/tmp`, and again in a private home that is not kept.
    pub temporary_bytes: u64,
    /// Bytes kept of each output stream, half of them from its start and half from its end.
    pub output_bytes_per_stream: usize,
}

impl Default for ExecLimits {
    /// 4 GiB of memory, 512 processes, files of 2 GiB, 4,096 descriptors, 1 GiB of temporary files and 1 MiB of
    /// output for each stream.
    fn default() -> ExecLimits {
        ExecLimits {
            memory_bytes: 4 << 30,
            processes: 512,
            file_size_bytes: 2 << 30,
            open_files: 4096,
            temporary_bytes: 1 << 30,
            output_bytes_per_stream: 1 << 20,
        }
    }
}
