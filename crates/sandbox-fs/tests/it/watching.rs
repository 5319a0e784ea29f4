//! The events of a file or folder, which the kernel queues before the call that causes them returns.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

pub(crate) struct Watch {
    handle: OwnedFd,
}

impl Watch {
    pub(crate) fn of(path: &Path, events: WatchFlags) -> Watch {
        let handle = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&handle, path, events).unwrap();
        Watch { handle }
    }

    /// Returns the events since the last call, with the names that they are about.
    pub(crate) fn events(&self) -> Vec<(ReadFlags, String)> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.handle, &mut buffer);
        let mut events = Vec::new();
        loop {
            match reader.next() {
                Ok(event) => {
                    let name = event.file_name().map(|name| name.to_str().unwrap().to_owned());
                    events.push((event.events(), name.unwrap_or_default()));
                }
                Err(Errno::AGAIN) => return events,
                Err(other) => panic!("{other}"),
            }
        }
    }
}
