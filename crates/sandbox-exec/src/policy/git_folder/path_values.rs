//! Values of settings that are paths.

use std::path::{Path, PathBuf};

use super::settings_file;

/// The list of users, with the home folder of each.
const USERS: &str = "/etc/passwd";

/// The most bytes of that list.
const USERS_LIMIT_BYTES: u64 = 1 << 20;

/// Resolves a value to a path as git does: relative to `base`, `~` for the home folder and `~user` for that of another
/// user. `None` for a path of git's own installation, and for an unknown user.
pub(super) fn resolved(value: &str, base: &Path, home: &Path) -> Option<PathBuf> {
    // Newer versions of git skip such a path if it is missing.
    let value = value.strip_prefix(":(optional)").unwrap_or(value);
    if value.starts_with("%(prefix)/") {
        return None;
    }
    let Some(home_path) = value.strip_prefix('~') else { return Some(base.join(value)) };
    let (user, rest) = home_path.split_once('/').unwrap_or((home_path, ""));
    let folder = if user.is_empty() { home.to_owned() } else { home_of(user)? };
    Some(if rest.is_empty() { folder } else { folder.join(rest.trim_start_matches('/')) })
}

fn home_of(user: &str) -> Option<PathBuf> {
    let users = settings_file::read(Path::new(USERS), USERS_LIMIT_BYTES);
    let users = String::from_utf8_lossy(&users);
    let mut lines = users.lines().map(|line| line.split(':'));
    lines.find_map(|mut fields| (fields.next()? == user).then(|| fields.nth(4).map(PathBuf::from))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_git_reads_it() {
        let rows = [
            ("a/b", Some("/base/a/b")),
            ("/a", Some("/a")),
            ("~", Some("/home")),
            ("~/a", Some("/home/a")),
            ("~//a", Some("/home/a")),
            ("~no-such-user/a", None),
            (":(optional)~/a", Some("/home/a")),
            ("%(prefix)/a", None),
            ("./~/a", Some("/base/./~/a")),
        ];
        // The one user that every machine has, with a known home folder.
        assert!(
            resolved("~root/a", Path::new("/base"), Path::new("/home"))
                .is_some_and(|path| path.ends_with("a"))
        );
        for (value, expected) in rows {
            let path = resolved(value, Path::new("/base"), Path::new("/home"));
            assert_eq!(path.as_deref(), expected.map(Path::new), "{value}");
        }
    }
}
