//! The confinement in force on this machine, measured by attacks in a real child.

pub(crate) mod denial;
pub(crate) mod file_view;
pub(crate) mod host_servers;
pub(crate) mod printed;
pub(crate) mod remedy;

use std::fmt;

/// The strength of the confinement in force, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Nothing but a cleared environment, a deadline and the killing of descendants. The home is the user's own.
    None,
    /// As `None`, with limits, without capabilities or ways to gain privileges, and with a private home and folder for
    /// temporary files that the environment names. The command can reach every file that the user can.
    Process,
    /// As `Process`, with the kernel's rules for files and system calls but no namespaces: a policy's hidden and
    /// protected paths inside the workspace are not protected.
    Landlock,
    /// A file tree, processes and a network of the command's own, with the rules for files or system calls missing.
    Namespaces,
    /// Every step is in force and every attack of the self-test was refused.
    Full,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::None => "none",
            Level::Process => "process",
            Level::Landlock => "landlock",
            Level::Namespaces => "namespaces",
            Level::Full => "full",
        })
    }
}

/// The means of keeping a command from files outside its workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileConfinement {
    /// A small root of its own: other files do not exist for it.
    Root,
    /// Landlock rules: other files cannot be opened, but can be seen to exist.
    Landlock,
    /// Nothing.
    Open,
}

impl fmt::Display for FileConfinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileConfinement::Root => "root",
            FileConfinement::Landlock => "landlock",
            FileConfinement::Open => "open",
        })
    }
}

/// The means of keeping a command from the network while the policy's network is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkConfinement {
    /// A network namespace with only its own loopback interface, and no sockets that lead elsewhere.
    NamespaceAndFilter,
    /// A network namespace alone.
    Namespace,
    /// A filter that refuses all sockets.
    Filter,
    /// Nothing.
    Open,
}

impl fmt::Display for NetworkConfinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NetworkConfinement::NamespaceAndFilter => "namespace+filter",
            NetworkConfinement::Namespace => "namespace",
            NetworkConfinement::Filter => "filter",
            NetworkConfinement::Open => "open",
        })
    }
}

/// The parts of the user's home folder that a command sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HomeVisibility {
    /// A private, empty folder in its place.
    Hidden,
    /// The folder is there but cannot be opened.
    Denied,
    /// The folder itself.
    Open,
}

impl fmt::Display for HomeVisibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HomeVisibility::Hidden => "hidden",
            HomeVisibility::Denied => "denied",
            HomeVisibility::Open => "open",
        })
    }
}

/// The means by which the end of a command reaches all its descendants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KillReach {
    /// The kernel kills the command's process namespace as a whole.
    Namespace,
    /// Descendants are searched and killed until none is left.
    Sweep,
}

impl fmt::Display for KillReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KillReach::Namespace => "namespace",
            KillReach::Sweep => "sweep",
        })
    }
}

/// The availability of a layer that catches changes of files before they reach the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayerKind {
    /// An overlay can catch them, if a command's policy has a [`LayerMount`](crate::LayerMount) whose folders are on a file
    /// system that supports it.
    Overlay,
    /// Changes reach the workspace at once.
    None,
}

impl fmt::Display for LayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LayerKind::Overlay => "overlay",
            LayerKind::None => "none",
        })
    }
}

/// The confinement of commands, measured by a self-test at start.
///
/// Displays as the line that precedes every session:
/// `sandbox: level=…; fs=…; net=…; home=…; kill=…; layer=…; missing=[…]`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxReport {
    /// The level.
    pub level: Level,
    /// Files outside the workspace.
    pub fs: FileConfinement,
    /// The network, while the policy's network is off.
    pub net: NetworkConfinement,
    /// The home folder.
    pub home: HomeVisibility,
    /// The reach of a kill.
    pub kill: KillReach,
    /// The copy-on-write layer.
    pub layer: LayerKind,
    /// Steps that are not in force, each in a few words with its reason.
    pub missing: Vec<String>,
}

impl SandboxReport {
    /// Returns the report before the self-test.
    pub(crate) fn unconfined() -> SandboxReport {
        SandboxReport {
            level: Level::None,
            fs: FileConfinement::Open,
            net: NetworkConfinement::Open,
            home: HomeVisibility::Open,
            kill: KillReach::Sweep,
            layer: LayerKind::None,
            missing: vec!["the self-test".into()],
        }
    }

    /// Returns the report for commands that get no layer, although the machine may have one.
    #[must_use]
    pub fn without_layer(mut self, why: &str) -> SandboxReport {
        if self.layer != LayerKind::None {
            self.layer = LayerKind::None;
            self.missing.push(format!("a layer: {why}"));
        }
        self
    }
}

impl fmt::Display for SandboxReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "sandbox: level={}; fs={}; net={}; home={}; kill={}; layer={}; missing=[{}]",
            self.level,
            self.fs,
            self.net,
            self.home,
            self.kill,
            self.layer,
            self.missing.join(", ")
        )
    }
}
