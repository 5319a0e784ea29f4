//! Programs that change a file while an entry is put into it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread;
use std::time::Duration;

use mcp_client_config::{ConfigError, McpClient, Placed, rewrite, with_entry};

use crate::entry;

/// The text that a client saves in the meantime.
const SAVED: &str = "{ \"b\": 2 }";

/// Puts an entry into the file of a client, and calls `meanwhile` between the read and the write.
fn put(
    client: McpClient,
    folder: &Path,
    file: &Path,
    meanwhile: impl FnOnce(),
) -> Result<Placed, ConfigError> {
    rewrite(client, folder, file, |text| {
        // Some systems stamp files with a clock that ticks every ten milliseconds.
        thread::sleep(Duration::from_millis(20));
        meanwhile();
        with_entry(client, text.unwrap_or_default(), "agentd", &entry(client))
    })
}

#[test]
fn what_a_client_saves_meanwhile_stays() {
    let save: fn(&Path) = |file| fs::write(file, SAVED).unwrap();
    let save_as_before = |file: &Path| {
        let time = fs::metadata(file).unwrap().modified().unwrap();
        fs::write(file, SAVED).unwrap();
        fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    };
    let save_by_rename = |file: &Path| {
        fs::write(file.with_extension("new"), SAVED).unwrap();
        fs::rename(file.with_extension("new"), file).unwrap();
    };
    for (at, save) in [save, save_as_before, save_by_rename].into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings");
        // As long as the saved text.
        fs::write(&file, "{ \"a\": 1 }").unwrap();
        let refused = put(McpClient::Zed, folder.path(), &file, || save(&file));
        assert!(matches!(refused, Err(ConfigError::ChangedMeanwhile)), "{at}: {refused:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), SAVED, "{at}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{at}");
        // Reading is not a change, and retrying helps.
        let read = || assert_eq!(fs::read_to_string(&file).unwrap(), SAVED);
        assert_eq!(put(McpClient::Zed, folder.path(), &file, read).unwrap(), Placed::Changed);
        assert!(fs::read_to_string(&file).unwrap().contains("\"b\": 2"));
    }
}

#[test]
fn a_file_that_is_removed_or_closed_meanwhile_does_not_reappear() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings");
    fs::write(&file, "{}").unwrap();
    let close = || fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let refused = put(McpClient::Zed, folder.path(), &file, close);
    assert!(matches!(refused, Err(ConfigError::ChangedMeanwhile)), "{refused:?}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = put(McpClient::Zed, folder.path(), &file, || fs::remove_file(&file).unwrap());
    assert!(matches!(refused, Err(ConfigError::ChangedMeanwhile)), "{refused:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_file_that_appears_meanwhile_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/settings");
    let save = || {
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, SAVED).unwrap();
    };
    let refused = put(McpClient::Zed, folder.path(), &file, save);
    assert!(matches!(refused, Err(ConfigError::ChangedMeanwhile)), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), SAVED);
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_file_that_replaces_its_link_meanwhile_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (target, file) = (folder.path().join("target"), folder.path().join("settings"));
    fs::write(&target, "{}").unwrap();
    symlink(&target, &file).unwrap();
    let save = || {
        fs::remove_file(&file).unwrap();
        fs::write(&file, SAVED).unwrap();
    };
    let refused = put(McpClient::Zed, folder.path(), &file, save);
    assert!(matches!(refused, Err(ConfigError::ChangedMeanwhile)), "{refused:?}");
    assert_eq!([&target, &file].map(|path| fs::read_to_string(path).unwrap()), ["{}", SAVED]);
}

#[test]
fn a_folder_of_the_project_that_becomes_a_link_meanwhile_leads_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    for is_file_there in [true, false] {
        let project = tempfile::tempdir().unwrap();
        let (folder, kept) = (project.path().join(".vscode"), project.path().join("kept"));
        if is_file_there {
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("mcp.json"), "{}").unwrap();
            fs::write(outside.path().join("mcp.json"), "{}").unwrap();
        }
        let relink = || {
            if is_file_there {
                fs::rename(&folder, &kept).unwrap();
            }
            symlink(outside.path(), &folder).unwrap();
        };
        let refused = put(McpClient::Vscode, project.path(), &folder.join("mcp.json"), relink);
        assert!(matches!(refused, Err(ConfigError::ChangedMeanwhile)), "{refused:?}");
        if is_file_there {
            assert_eq!(fs::read_to_string(outside.path().join("mcp.json")).unwrap(), "{}");
            fs::remove_file(outside.path().join("mcp.json")).unwrap();
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
