//! The launcher's request to the spawner: the complete description of one child.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::init::mount_entry::MountEntry;
use crate::policy::network::AllowedName;
use crate::spawner::preparation::Preparation;
use crate::spawner::wire::{Decoder, Encoder};

/// The kind of a request, encoded in the bytes of its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// Runs a command.
    Run,
    /// Runs a command in a network, whose namespaces are the last descriptors.
    RunInNetwork,
    /// Makes a network that commands share, in a new user namespace if `has_user`.
    MakeNetwork { has_user: bool },
}

impl RequestKind {
    pub(crate) fn encode(self) -> &'static [u8] {
        match self {
            RequestKind::Run => b"R",
            RequestKind::RunInNetwork => b"S",
            RequestKind::MakeNetwork { has_user: false } => b"N",
            RequestKind::MakeNetwork { has_user: true } => b"U",
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<RequestKind> {
        Some(match bytes {
            b"R" => RequestKind::Run,
            b"S" => RequestKind::RunInNetwork,
            b"N" => RequestKind::MakeNetwork { has_user: false },
            b"U" => RequestKind::MakeNetwork { has_user: true },
            _ => return None,
        })
    }
}

/// One child to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The part that can be made before the command is known.
    pub(crate) preparation: Preparation,
    pub(crate) order: Order,
}

/// The work to do in a prepared sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The rest of the new root, in this order.
    pub(crate) mounts: Vec<MountEntry>,
    pub(crate) working_directory: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) task: Task,
    /// The names that may be connected to; `None` if the policy has no such list.
    pub(crate) names: Option<Vec<AllowedName>>,
}

/// The work of the child once it is confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Executes `/bin/sh -c` with this text.
    Shell(String),
    /// Runs the attacks of the self-test and prints their results.
    Attacks(Targets),
    /// Tries the long list of escapes and prints their results.
    Escapes(Targets),
}

/// The targets of the self-test's attacks: all belong to the launcher, outside the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Targets {
    /// A file outside the workspace that must not be read or changed.
    pub(crate) secret: PathBuf,
    /// The user's home folder.
    pub(crate) home: PathBuf,
    /// The file system and inode of the user's real home folder.
    pub(crate) home_identity: (u64, u64),
    /// The launcher's process.
    pub(crate) process: u32,
    /// The launcher's `/proc/self/ns/pid`.
    pub(crate) process_namespace: PathBuf,
    /// The launcher's `/proc/self/ns/net`.
    pub(crate) network_namespace: PathBuf,
    /// A port on which the launcher listens.
    pub(crate) listener: Option<SocketAddr>,
}

/// Files and folders that Landlock lets a command reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileAccess {
    /// Folders that may be listed, including all folders inside.
    pub(crate) listable: Vec<PathBuf>,
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) writable: Vec<PathBuf>,
    /// Writable files that exist only once all mounts are made.
    pub(crate) late_writable: Vec<PathBuf>,
    /// Writable folders in which no links and pipes can be made.
    pub(crate) plain: Vec<PathBuf>,
}

/// Resource limits of the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChildLimits {
    pub(crate) memory_bytes: u64,
    pub(crate) processes: u32,
    pub(crate) file_size_bytes: u64,
    pub(crate) open_files: u32,
}

impl Request {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::default();
        out.bytes(&self.preparation.encode());
        self.order.encode(&mut out);
        out.finish()
    }

    /// Splits a request into its preparation, which the spawner compares bytewise, and its order.
    pub(crate) fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        let mut input = Decoder::new(bytes);
        let preparation = input.bytes()?;
        Some((preparation, input.rest()))
    }
}

impl Order {
    fn encode(&self, out: &mut Encoder) {
        out.list(&self.mounts, |out, entry| entry.encode(out));
        out.path(&self.working_directory);
        out.list(&self.environment, |out, (name, value)| {
            out.os(name);
            out.os(value);
        });
        let names: Vec<&[AllowedName]> = self.names.as_deref().into_iter().collect();
        out.list(&names, |out, names| {
            out.list(names, |out, name| {
                out.bytes(name.pattern.as_bytes());
                out.list(&name.ports, |out, port| out.number((*port).into()));
            });
        });
        match &self.task {
            Task::Shell(text) => {
                out.number(0);
                out.bytes(text.as_bytes());
            }
            Task::Attacks(targets) | Task::Escapes(targets) => {
                out.number(if matches!(self.task, Task::Attacks(_)) { 1 } else { 2 });
                out.path(&targets.secret);
                out.path(&targets.home);
                out.number(targets.home_identity.0);
                out.number(targets.home_identity.1);
                out.number(targets.process.into());
                out.path(&targets.process_namespace);
                out.path(&targets.network_namespace);
                let listener = targets.listener.map_or(String::new(), |address| address.to_string());
                out.bytes(listener.as_bytes());
            }
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Order> {
        let mut input = Decoder::new(bytes);
        let mounts = input.list(MountEntry::decode)?;
        let working_directory = input.path()?;
        let environment = input.list(|input| Some((input.os()?, input.os()?)))?;
        let names = input.list(|input| input.list(decode_name))?.pop();
        let order = Order {
            mounts,
            working_directory,
            environment,
            names,
            task: match input.number()? {
                0 => Task::Shell(String::from_utf8(input.bytes()?.to_vec()).ok()?),
                1 => Task::Attacks(Targets::decode(&mut input)?),
                2 => Task::Escapes(Targets::decode(&mut input)?),
                _ => return None,
            },
        };
        input.end()?;
        Some(order)
    }
}

impl Targets {
    fn decode(input: &mut Decoder<'_>) -> Option<Targets> {
        Some(Targets {
            secret: input.path()?,
            home: input.path()?,
            home_identity: (input.number()?, input.number()?),
            process: input.number_u32()?,
            process_namespace: input.path()?,
            network_namespace: input.path()?,
            listener: decode_listener(input.bytes()?)?,
        })
    }
}

fn decode_name(input: &mut Decoder<'_>) -> Option<AllowedName> {
    let pattern = String::from_utf8(input.bytes()?.to_vec()).ok()?;
    let ports = input.list(|input| u16::try_from(input.number()?).ok())?;
    Some(AllowedName { pattern, ports })
}

fn decode_listener(bytes: &[u8]) -> Option<Option<SocketAddr>> {
    match std::str::from_utf8(bytes).ok()? {
        "" => Some(None),
        address => Some(Some(address.parse().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::mount_entry::Access;
    use crate::policy::isolation::Isolation;

    fn sample() -> Request {
        Request {
            preparation: Preparation {
                isolation: Isolation::ALL,
                limits: ChildLimits { memory_bytes: 1, processes: 2, file_size_bytes: 3, open_files: 4 },
                access: FileAccess {
                    listable: vec!["/etc".into()],
                    readable: vec!["/usr".into()],
                    writable: vec!["/tmp".into()],
                    late_writable: vec!["/w".into()],
                    plain: vec!["/tmp".into()],
                },
                mounts: vec![
                    MountEntry::Symlink { target: "/bin".into(), to: "usr/bin".into() },
                    MountEntry::Bind {
                        source: "/usr".into(),
                        target: "/usr".into(),
                        access: Access::ReadOnly,
                    },
                    MountEntry::Tmpfs { target: "/tmp".into(), size_bytes: 7, mode: 0o1777 },
                    MountEntry::File { target: "/etc/passwd".into(), contents: b"\xff".into(), mode: 0o444 },
                ],
                is_closed: true,
            },
            order: Order {
                mounts: vec![
                    MountEntry::Layer {
                        target: "/w".into(),
                        upper: "/u".into(),
                        work: "/k".into(),
                        uncovered: vec!["/w/cache".into()],
                        mounts: vec!["/w/mounted".into()],
                    },
                    MountEntry::Pin { target: "/w/.git".into() },
                    MountEntry::Show { target: "/h".into(), from: "/a".into(), read_only: true },
                    MountEntry::Overlay {
                        target: "/h/c".into(),
                        lowers: vec!["/b".into(), "/c".into()],
                        upper: "/u".into(),
                        work: "/k".into(),
                    },
                    MountEntry::Detach { target: "/a".into() },
                    MountEntry::SealInner { target: "/a".into(), except: vec!["/a/b".into()] },
                ],
                working_directory: "/w".into(),
                environment: vec![("A".into(), "1".into())],
                task: Task::Shell("echo".into()),
                names: Some(vec![AllowedName { pattern: "*.a".into(), ports: vec![443] }]),
            },
        }
    }

    fn decode(bytes: &[u8]) -> Option<Request> {
        let (preparation, order) = Request::split(bytes)?;
        Some(Request { preparation: Preparation::decode(preparation)?, order: Order::decode(order)? })
    }

    #[test]
    fn a_request_survives_the_wire() {
        let mut request = sample();
        assert_eq!(decode(&request.encode()), Some(request.clone()));
        request.order.task = Task::Attacks(Targets {
            secret: "/s".into(),
            home: "/h".into(),
            home_identity: (1, 2),
            process: 9,
            process_namespace: "pid:[1]".into(),
            network_namespace: "net:[2]".into(),
            listener: Some(([127, 0, 0, 1], 80).into()),
        });
        assert_eq!(decode(&request.encode()), Some(request));
    }

    #[test]
    fn a_cut_request_is_refused_and_never_panics() {
        let bytes = sample().encode();
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length]), None, "{length}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_decoder_panic(
            mut bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..64),
            index in 0usize..600,
            value: u8,
        ) {
            let _ = decode(&bytes);
            // Near misses get further into the decoder than noise.
            bytes = sample().encode();
            let index = index % bytes.len();
            bytes[index] = value;
            let _ = decode(&bytes);
        }
    }
}
