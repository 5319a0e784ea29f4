//! Entries in files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use mcp_client_config::{ConfigError, Placed, put_entry, with_entry};

use crate::{ONE_OF_EACH, entry};

#[test]
fn a_file_is_made_changed_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for client in ONE_OF_EACH {
        let file = folder.path().join(format!("{client:?}/deep/settings"));
        let put = |name| put_entry(client, &file, name, &entry(client)).unwrap();
        assert_eq!([put("a"), put("a"), put("b"), put("a")], {
            use Placed::{Changed, Created, Unchanged};
            [Created, Unchanged, Changed, Unchanged]
        });
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(with_entry(client, &text, "b", &entry(client)).unwrap(), None);
        // Nothing is left beside it.
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn a_link_and_the_permissions_stay() {
    let folder = tempfile::tempdir().unwrap();
    for client in ONE_OF_EACH {
        let (target, link) =
            (folder.path().join(format!("{client:?}")), folder.path().join(format!("{client:?}-link")));
        fs::write(&target, "").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&target, &link).unwrap();
        assert_eq!(put_entry(client, &link, "a", &entry(client)).unwrap(), Placed::Changed);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_file_that_is_refused_is_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings");
    for client in ONE_OF_EACH {
        for bytes in [&b"{ [ \n"[..], b"\xff\xfe"] {
            fs::write(&file, bytes).unwrap();
            put_entry(client, &file, "a", &entry(client)).unwrap_err();
            assert_eq!(fs::read(&file).unwrap(), bytes);
        }
        fs::File::create(&file).unwrap().set_len((16 << 20) + 1).unwrap();
        let error = put_entry(client, &file, "a", &entry(client)).unwrap_err();
        assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
