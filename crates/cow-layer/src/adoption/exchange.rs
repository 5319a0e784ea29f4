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
    /// The displaced entry is another one, and its author kept saving: the last version stayed in the layer.
    Unsettled,
}

/// Inspects the entry that an exchange displaced, just now or before a crash, and returns it to the workspace
/// unless `is_expected` accepts it. `inode` is that of the layer's entry, which is now at `theirs`; the caller holds it
/// open since before the exchange, because a save that replaces it could get the same number.
///
/// A look that fails is repeated. If it fails again, the exchange is reversed, so that a failure leaves the workspace's entry where
/// it was.
pub(crate) fn verify(
    ours: At<'_>,
    theirs: At<'_>,
    inode: u64,
    is_expected: &dyn Fn(&Entry) -> Result<bool, Errno>,
) -> Result<Exchanged, Errno> {
    match twice(|| handle::stat_at(ours.0, ours.1)?.map_or(Ok(true), |displaced| is_expected(&displaced))) {
        Ok(true) => Ok(Exchanged::Done),
        Ok(false) => put_back(ours, theirs, inode),
        Err(errno) => {
            let _ = put_back(ours, theirs, inode);
            Err(errno)
        }
    }
}

/// Looks again if a look fails: after an entry has moved, a passing failure must not be the answer.
pub(crate) fn twice<T>(look: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
    look().or_else(|_| look())
}

/// Exchanges back until the displaced entry is the one that was put in last.
fn put_back(ours: At<'_>, theirs: At<'_>, inode: u64) -> Result<Exchanged, Errno> {
    // Each round swaps the newest known version back. It ends once the swap displaces the version that the
    // previous round put in, because then no save came between.
    let mut put_in = inode;
    let mut held = None;
    for _ in 0..EXCHANGES {
        let Some((handle, goes_in)) = handle::hold_at(ours.0, ours.1)? else { return Ok(Exchanged::PutBack) };
        match exchange(ours, theirs) {
            Ok(()) => {}
            // The entry that was put in has been removed. The earlier version goes back all the same:
            // restoring it once too often is better than losing it.
            Err(Errno::NOENT) if rename_new(ours, theirs).is_ok() => return Ok(Exchanged::PutBack),
            Err(Errno::NOENT) => continue,
            Err(_) => return Ok(Exchanged::Unsettled),
        }
        match handle::stat_at(ours.0, ours.1)? {
            // A version saved since the last check: it is the newest, and goes back again.
            Some(displaced) if displaced.inode != put_in => {
                put_in = goes_in.inode;
                // Until the next look, so that no save gets its number.
                held = Some(handle);
            }
            _ => return Ok(Exchanged::PutBack),
        }
    }
    drop(held);
    Ok(Exchanged::Unsettled)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::os::fd::AsFd;

    use super::*;

    /// Exchanges two files and verifies that, with a look whose first `failures` fail. Returns the result and both contents.
    fn verified(failures: u32) -> (Result<Exchanged, Errno>, [String; 2]) {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["ours", "theirs"].map(|name| folder.path().join(name));
        fs::write(&paths[0], "the layer's").unwrap();
        fs::write(&paths[1], "the workspace's").unwrap();
        let handle = fs::File::open(folder.path()).unwrap();
        let (ours, theirs): (At<'_>, At<'_>) = ((handle.as_fd(), b"ours"), (handle.as_fd(), b"theirs"));
        let inode = handle::stat_at(ours.0, ours.1).unwrap().unwrap().inode;
        exchange(ours, theirs).unwrap();
        let left = Cell::new(failures);
        let result = verify(ours, theirs, inode, &|_| match left.get() {
            0 => Ok(true),
            failures => {
                left.set(failures - 1);
                Err(Errno::IO)
            }
        });
        (result, paths.map(|path| fs::read_to_string(path).unwrap()))
    }

    #[test]
    fn a_look_that_fails_once_is_repeated_and_one_that_fails_twice_reverses_the_exchange() {
        let exchanged = ["the workspace's", "the layer's"].map(str::to_owned);
        let as_before = ["the layer's", "the workspace's"].map(str::to_owned);
        assert_eq!(verified(0), (Ok(Exchanged::Done), exchanged.clone()));
        assert_eq!(verified(1), (Ok(Exchanged::Done), exchanged));
        assert_eq!(verified(2), (Err(Errno::IO), as_before));
    }
}
