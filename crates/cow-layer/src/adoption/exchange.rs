//! Exchanging an entry of the layer with one of the workspace, and looking at what came out.
//!
//! Somebody may save at any moment. From the exchange on, the layer may hold the only copy of their work, and it goes
//! back unless it is what was expected.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use crate::handle::{self, Entry, exchange, rename_new};

/// How often versions are exchanged back while somebody keeps saving.
const EXCHANGES: usize = 16;

/// An entry of a folder.
pub(crate) type At<'a> = (BorrowedFd<'a>, &'a [u8]);

/// How an exchange ended that could be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchanged {
    /// What came out is what was expected.
    Done,
    /// Something else came out; it is back in its place.
    PutBack,
    /// Something else came out, and its author kept saving: their last version stayed in the layer.
    Unsettled,
}

/// Looks at what came out of an exchange, just now or before a crash, and puts it back unless `is_expected` says so of
/// it. `inode` is that of the layer's entry, which is in the place of `theirs`.
pub(crate) fn look(
    ours: At<'_>,
    theirs: At<'_>,
    inode: u64,
    is_expected: &dyn Fn(&Entry) -> Result<bool, Errno>,
) -> Result<Exchanged, Errno> {
    let came_out = handle::stat_at(ours.0, ours.1)?;
    match came_out {
        Some(came_out) if !is_expected(&came_out)? => put_back(ours, theirs, inode),
        _ => Ok(Exchanged::Done),
    }
}

/// Exchanges back until what comes out is what was put in last.
fn put_back(ours: At<'_>, theirs: At<'_>, inode: u64) -> Result<Exchanged, Errno> {
    let mut put_in = inode;
    for _ in 0..EXCHANGES {
        let Some(goes_in) = handle::stat_at(ours.0, ours.1)? else { return Ok(Exchanged::PutBack) };
        match exchange(ours, theirs) {
            Ok(()) => {}
            // Somebody removed what was put in. What was there before goes back all the same: losing it would be worse
            // than having it once more.
            Err(Errno::NOENT) if rename_new(ours, theirs).is_ok() => return Ok(Exchanged::PutBack),
            Err(Errno::NOENT) => continue,
            Err(_) => return Ok(Exchanged::Unsettled),
        }
        match handle::stat_at(ours.0, ours.1)? {
            // A version that was saved since the last look: it is the newest, and goes back again.
            Some(came_out) if came_out.inode != put_in => put_in = goes_in.inode,
            _ => return Ok(Exchanged::PutBack),
        }
    }
    Ok(Exchanged::Unsettled)
}
