//! Entries in files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use mcp_client_config::{ConfigError, McpClient, Placed, put_entry, with_entry};

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
        // Nothing is left next to it.
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
fn a_refused_file_is_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings");
    for client in ONE_OF_EACH {
        let refused =
            || put_entry(client, folder.path(), &file, "a", &entry(client)).unwrap_err().to_string();
        fs::write(&file, "{ [ \n").unwrap();
        assert!(refused().starts_with("it cannot be understood: "));
        assert_eq!(fs::read(&file).unwrap(), b"{ [ \n");
        fs::write(&file, b"\"\xff\xfe").unwrap();
        assert_eq!(refused(), "it cannot be understood: it is not UTF-8 text, from byte 1 on");
        assert_eq!(fs::read(&file).unwrap(), b"\"\xff\xfe");
        fs::File::create(&file).unwrap().set_len((16 << 20) + 1).unwrap();
        assert_eq!(refused(), "it cannot be understood: it is longer than 16 MiB");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_link_to_nothing_stays() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("dotfiles");
    let (file, way) = (folder.path().join("link"), folder.path().join("folder"));
    symlink(target.join("settings"), &file).unwrap();
    symlink(&target, &way).unwrap();
    let put = |file: &Path| put_entry(McpClient::Zed, folder.path(), file, "a", &entry(McpClient::Zed));
    for path in [&file, &way.join("settings"), &way.join("deep/settings")] {
        let error = put(path).unwrap_err();
        assert!(matches!(error, ConfigError::DanglingLink), "{}: {error}", path.display());
    }
    assert!(file.is_symlink() && way.is_symlink() && !target.exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    // With a target they are valid.
    fs::create_dir(&target).unwrap();
    assert_eq!(put(&way.join("deep/settings")).unwrap(), Placed::Created);
    fs::write(target.join("settings"), "{}").unwrap();
    assert_eq!(put(&file).unwrap(), Placed::Changed);
    assert!(file.is_symlink() && way.is_symlink());
}

#[test]
fn a_missing_folder_is_not_left_by_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let put = |file: &str| {
        put_entry(McpClient::Zed, folder.path(), &folder.path().join(file), "a", &entry(McpClient::Zed))
    };
    let error = put("missing/../settings").unwrap_err();
    assert!(matches!(error, ConfigError::Io(_)), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::create_dir(folder.path().join("missing")).unwrap();
    assert_eq!(put("missing/../settings").unwrap(), Placed::Created);
}

#[test]
fn a_link_of_the_project_leads_nowhere_else_and_one_of_the_user_does() {
    let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let put = |client: McpClient, file: &str| {
        put_entry(client, project.path(), &project.path().join(file), "a", &entry(client))
    };
    // Through the file, its folder, and the folder of a new file.
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
    // Dotfiles of a user may be links to anywhere.
    assert_eq!(put(McpClient::Zed, ".mcp.json").unwrap(), Placed::Changed);
}

#[test]
fn other_kinds_of_entries_are_refused_immediately() {
    let folder = tempfile::tempdir().unwrap();
    let (fifo, endless) = (folder.path().join("fifo"), folder.path().join("endless"));
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    symlink("/dev/zero", &endless).unwrap();
    for file in [fifo, endless] {
        let error = put_entry(McpClient::Zed, folder.path(), &file, "a", &entry(McpClient::Zed)).unwrap_err();
        assert!(matches!(error, ConfigError::Unreadable { .. }), "{error}");
    }
}
