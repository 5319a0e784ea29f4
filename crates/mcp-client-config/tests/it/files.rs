//! Entries in files.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::thread;

use mcp_client_config::{ConfigError, McpClient, Placed, put_entry, with_entry};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use test_support::skip;

use crate::{ONE_OF_EACH, entry};

#[test]
fn a_file_is_made_changed_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for client in ONE_OF_EACH {
        let file = folder.path().join(format!("{client:?}/deep/settings"));
        let put = |name| put_entry(client, folder.path(), &file, name, &entry(client)).unwrap();
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
        assert_eq!(put_entry(client, folder.path(), &link, "a", &entry(client)).unwrap(), Placed::Changed);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn the_owner_stays_or_the_file_is_as_it_was() {
    if !rustix::process::geteuid().is_root() {
        return skip("the_owner_stays_or_the_file_is_as_it_was", "only root can give files away");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings");
    fs::write(&file, "{}").unwrap();
    chown(&file, Some(1_234), Some(2_345)).unwrap();
    let put = |name| put_entry(McpClient::Zed, folder.path(), &file, name, &entry(McpClient::Zed));
    assert_eq!(put("a").unwrap(), Placed::Changed);
    let now = fs::metadata(&file).unwrap();
    assert_eq!((now.uid(), now.gid()), (1_234, 2_345));
    // The rights belong to a thread, so that other tests keep theirs.
    let refused = thread::scope(|scope| {
        let without_rights = || {
            let mut sets = capabilities(None).unwrap();
            sets.effective.remove(CapabilitySet::CHOWN);
            set_capabilities(None, sets).unwrap();
            put("b")
        };
        scope.spawn(without_rights).join().unwrap()
    });
    assert!(matches!(refused, Err(ConfigError::OtherOwner)), "{refused:?}");
    assert!(!fs::read_to_string(&file).unwrap().contains("\"b\""));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_refused_is_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings");
    for client in ONE_OF_EACH {
        for bytes in [&b"{ [ \n"[..], b"\xff\xfe"] {
            fs::write(&file, bytes).unwrap();
            put_entry(client, folder.path(), &file, "a", &entry(client)).unwrap_err();
            assert_eq!(fs::read(&file).unwrap(), bytes);
        }
        fs::File::create(&file).unwrap().set_len((16 << 20) + 1).unwrap();
        let error = put_entry(client, folder.path(), &file, "a", &entry(client)).unwrap_err();
        assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_link_of_the_project_leads_nowhere_else_and_one_of_the_user_does() {
    let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let put = |client: McpClient, file: &str| {
        put_entry(client, project.path(), &project.path().join(file), "a", &entry(client))
    };
    // By the file, by its folder, and by the folder of a file that is new.
    fs::write(outside.path().join("settings"), "{}").unwrap();
    fs::write(outside.path().join("mcp.json"), "{}").unwrap();
    symlink(outside.path().join("settings"), project.path().join(".mcp.json")).unwrap();
    symlink(outside.path(), project.path().join(".vscode")).unwrap();
    for (client, file) in [
        (McpClient::ClaudeCode, ".mcp.json"),
        (McpClient::Vscode, ".vscode/mcp.json"),
        (McpClient::Cursor, ".vscode/new.json"),
    ] {
        let error = put(client, file).unwrap_err();
        assert!(matches!(error, ConfigError::LeadsOut), "{file}: {error}");
    }
    assert_eq!(fs::read_to_string(outside.path().join("settings")).unwrap(), "{}");
    assert_eq!(fs::read_to_string(outside.path().join("mcp.json")).unwrap(), "{}");
    assert!(!outside.path().join("new.json").exists());
    // Dotfiles of a user are links to anywhere.
    assert_eq!(put(McpClient::Zed, ".mcp.json").unwrap(), Placed::Changed);
}

#[test]
fn what_is_not_a_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (fifo, endless) = (folder.path().join("fifo"), folder.path().join("endless"));
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    symlink("/dev/zero", &endless).unwrap();
    for file in [fifo, endless] {
        let error = put_entry(McpClient::Zed, folder.path(), &file, "a", &entry(McpClient::Zed)).unwrap_err();
        assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    }
}
