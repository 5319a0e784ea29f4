//! Exchanging an entry of the layer with one of the workspace, and checking the displaced entry.
//!
//! Another program may save at any moment. From the exchange on, the layer may hold the only copy of that
//! save, and returns it unless it is the expected entry.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use crate::handle::{self, Entry, exchange, rename_new};

/// The number of times that versions are exchanged back while another program keeps saving.
const EXCHANGES: usize = 16;

/// An entry of a folder.
pub(crate) type At<'a> = (BorrowedFd<'a>, &'a [u8]);

/// The result of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchanged {
    /// The displaced entry is the expected one.
    Done,
    /// The displaced entry is another one; it is back in the workspace.
    PutBack,
    /// The displaced entry is another one and could not be put back, because its author kept saving or the system refused. A
    /// version of the workspace may be in the layer.
    Unsettled,
}

/// Inspects the entry that an exchange displaced, just now or before a crash, and returns it to the workspace
/// unless `is_expected` accepts it. `inode` is that of the layer's entry, which is now at `theirs`; the caller holds it
/// open since before the exchange, because a save that replaces it could get the same number.
///
/// A failed check is repeated, and if it fails again leaves both entries where they are.
pub(crate) fn verify(
    ours: At<'_>,
    theirs: At<'_>,
    inode: u64,
    is_expected: &dyn Fn(&Entry) -> Result<bool, Errno>,
) -> Result<Exchanged, Errno> {
    match twice(|| handle::stat_at(ours.0, ours.1)?.map_or(Ok(true), |displaced| is_expected(&displaced))) {
        Ok(true) => Ok(Exchanged::Done),
        Ok(false) => Ok(put_back(ours, theirs, inode)),
        Err(errno) => Err(errno),
    }
}

/// As [`verify`], for an exchange that the caller has just made: if the check fails, the exchange is reversed, so that a failure
/// leaves the workspace's entry where it was.
pub(crate) fn verify_or_reverse(
    ours: At<'_>,
    theirs: At<'_>,
    inode: u64,
    is_expected: &dyn Fn(&Entry) -> Result<bool, Errno>,
) -> Result<Exchanged, Errno> {
    verify(ours, theirs, inode, is_expected).or_else(|errno| match put_back(ours, theirs, inode) {
        Exchanged::Unsettled => Ok(Exchanged::Unsettled),
        Exchanged::Done | Exchanged::PutBack => Err(errno),
    })
}

/// Repeats a failed check once: after an entry has moved, a transient failure must not be the answer.
pub(crate) fn twice<T>(look: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
    look().or_else(|_| look())
}

/// Exchanges back until the displaced entry is the one that was put in last.
fn put_back(ours: At<'_>, theirs: At<'_>, inode: u64) -> Exchanged {
    // Each round swaps the newest known version back. It ends once the swap displaces the version that the
    // previous round put in, because then no save came between.
    let mut put_in = inode;
    let mut held = None;
    for _ in 0..EXCHANGES {
        let goes_in = match handle::hold_at(ours.0, ours.1) {
            Ok(Some((handle, goes_in))) => Some((Some(handle), goes_in.inode)),
            Ok(None) => return Exchanged::PutBack,
            // Without a free descriptor the number alone must do: the exchange is more urgent than a save that gets the same one.
            Err(_) => handle::stat_at(ours.0, ours.1).ok().flatten().map(|goes_in| (None, goes_in.inode)),
        };
        match exchange(ours, theirs) {
            Ok(()) => {}
            // The entry that was put in has been removed. The earlier version goes back all the same:
            // restoring it once too often is better than losing it.
            Err(Errno::NOENT) if rename_new(ours, theirs).is_ok() => return Exchanged::PutBack,
            Err(Errno::NOENT) => continue,
            Err(_) => return Exchanged::Unsettled,
        }
        match (handle::stat_at(ours.0, ours.1), goes_in) {
            // A version saved since the last check: it is the newest, and goes back again.
            (Ok(Some(displaced)), Some((handle, goes_in))) if displaced.inode != put_in => {
                put_in = goes_in;
                // Held until the next check, so that no save gets its number.
                held = handle;
            }
            (Ok(Some(displaced)), None) if displaced.inode != put_in => return Exchanged::Unsettled,
            (Ok(_), _) => return Exchanged::PutBack,
            (Err(_), _) => return Exchanged::Unsettled,
        }
    }
    drop(held);
    Exchanged::Unsettled
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::os::fd::AsFd;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;

    /// Exchanges two files and verifies that with this look. Returns the result and whether the exchange was reversed.
    fn verified(look: &dyn Fn(&Entry) -> Result<bool, Errno>) -> (Result<Exchanged, Errno>, bool) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ours", "theirs"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let handle = fs::File::open(folder.path()).unwrap();
        let (ours, theirs): (At<'_>, At<'_>) = ((handle.as_fd(), b"ours"), (handle.as_fd(), b"theirs"));
        let inode = handle::stat_at(ours.0, ours.1).unwrap().unwrap().inode;
        exchange(ours, theirs).unwrap();
        let result = verify_or_reverse(ours, theirs, inode, look);
        (result, handle::stat_at(ours.0, ours.1).unwrap().unwrap().inode == inode)
    }

    #[test]
    fn a_look_that_fails_once_is_repeated_and_one_that_fails_twice_reverses_the_exchange() {
        let failing = |times: u32| {
            let left = Cell::new(times);
            verified(&|_| {
                let is_over = left.get() == 0;
                left.set(left.get().saturating_sub(1));
                if is_over { Ok(true) } else { Err(Errno::IO) }
            })
        };
        assert_eq!(failing(0), (Ok(Exchanged::Done), false));
        assert_eq!(failing(1), (Ok(Exchanged::Done), false));
        assert_eq!(failing(2), (Err(Errno::IO), true));
    }

    /// Set for the process in which [`worker`] works.
    const WORKER: &str = "COW_LAYER_EXCHANGE_TEST";

    /// Reverses an exchange after a check that found no free descriptor, in a separate process, which the test below starts.
    #[test]
    fn worker() {
        if std::env::var_os(WORKER).is_none() {
            return;
        }
        let result = verified(&|_| {
            setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..getrlimit(Resource::Nofile) }).unwrap();
            assert_eq!(fs::File::open("/").unwrap_err().raw_os_error(), Some(Errno::MFILE.raw_os_error()));
            Err(Errno::MFILE)
        });
        assert_eq!(result, (Err(Errno::MFILE), true));
    }

    #[test]
    fn an_exchange_is_reversed_without_a_free_descriptor() {
        // The worker cannot remove its own folder: that takes a descriptor.
        let folder = tempfile::tempdir().unwrap();
        let mut worker = std::process::Command::new(std::env::current_exe().unwrap());
        worker.args(["--exact", "adoption::exchange::tests::worker"]).env(WORKER, "1");
        let output = worker.env("TMPDIR", folder.path()).output();
        let output = output.unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    }
}
