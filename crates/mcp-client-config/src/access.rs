//! The owner, permissions and access list of a written file.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{
    AtFlags, Gid, Mode, Stat, Uid, XattrFlags, chownat, fchmod, fgetxattr, fremovexattr, fsetxattr, fstat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::ConfigError;
use crate::folder::{Current, Folder};

/// The name of the attribute in which Linux stores the POSIX access list of a file.
const ACCESS_LIST: &str = "system.posix_acl_access";

/// The longest value of such an attribute, in bytes.
const LIST_BYTES: usize = 64 << 10;

/// Gives a file the owner, the access list and the permissions of the file that it replaces: its client can still read and write
/// it, and it does not become more accessible, because it may hold secrets of other servers.
pub(crate) fn keep(file: &File, before: &Current) -> Result<(), ConfigError> {
    change_owner(file, &before.stat)?;
    keep_list(file, &before.file).map_err(|error| ConfigError::AccessList(error.into()))?;
    // Do this last: a new owner clears bits, and an access list takes the place of the group's permissions.
    Ok(fchmod(file, Mode::from_raw_mode(before.stat.st_mode)).map_err(io::Error::from)?)
}

/// Gives files that root creates in a folder the owner of the folder, whose client could not write them otherwise.
pub(crate) fn inherit_owner(handle: impl AsFd, folder: &Folder) -> Result<(), ConfigError> {
    if !geteuid().is_root() {
        return Ok(());
    }
    change_owner(handle, &fstat(&folder.handle).map_err(io::Error::from)?)
}

fn change_owner(handle: impl AsFd, wanted: &Stat) -> Result<(), ConfigError> {
    let current = fstat(&handle).map_err(io::Error::from)?;
    let user = (current.st_uid != wanted.st_uid).then(|| Uid::from_raw(wanted.st_uid));
    let group = (current.st_gid != wanted.st_gid).then(|| Gid::from_raw(wanted.st_gid));
    if user.is_none() && group.is_none() {
        return Ok(());
    }
    chownat(handle, c"", user, group, AtFlags::EMPTY_PATH).map_err(|error| match error {
        // The second: a user namespace lacks the user or group.
        Errno::PERM | Errno::INVAL if user.is_some() => ConfigError::OtherOwner,
        Errno::PERM | Errno::INVAL => ConfigError::OtherGroup,
        error => ConfigError::Io(error.into()),
    })
}

fn keep_list(file: &File, before: &File) -> Result<(), Errno> {
    match list(before)? {
        Some(list) => fsetxattr(file, ACCESS_LIST, &list, XattrFlags::empty()),
        // The file may have inherited one from the folder.
        None if list(file)?.is_some() => fremovexattr(file, ACCESS_LIST),
        None => Ok(()),
    }
}

/// Returns the access list of a file; `None` if it only has permissions.
fn list(file: &File) -> Result<Option<Vec<u8>>, Errno> {
    let mut list = vec![0; LIST_BYTES];
    match fgetxattr(file, ACCESS_LIST, &mut list[..]) {
        Ok(length) => {
            list.truncate(length);
            Ok(Some(list))
        }
        Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error),
    }
}
