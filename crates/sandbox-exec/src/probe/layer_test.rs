//! Checks that commands can work on a copy-on-write layer: mounts one, writes to it, and inspects it from outside.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use crate::init::layer_mount::LayerMount;
use crate::launcher::{Launcher, SpawnError};
use crate::policy::Policy;
use crate::policy::isolation::Isolation;
use crate::policy::shell_command::{ShellCommand, Timeout};

/// The time that the command may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A command that changes one file, removes one and makes one.
const COMMAND: &str = "echo changed > kept && rm gone && echo made > made && test ! -e gone";

/// Tries a layer in `folder`; the error is a few words for the report.
pub(crate) fn try_out(launcher: &Launcher, isolation: Isolation, folder: &Path) -> Result<(), String> {
    if !isolation.contains(Isolation::ROOT) {
        return Err("no root of the command's own".into());
    }
    let folder = folder.join("layer");
    let tried = attempt(launcher, isolation, &folder);
    // The kernel leaves a folder without permissions behind, which an ordinary user could not remove.
    open_up(&folder.join("work"));
    tried
}

fn attempt(launcher: &Launcher, isolation: Isolation, folder: &Path) -> Result<(), String> {
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| folder.join(name));
    prepare(&[&lower, &upper, &work]).map_err(|error| error.to_string())?;
    let layer = LayerMount::new(lower.clone(), upper.clone(), work);
    let policy = Policy::for_workspace(&lower).with_layer(layer);
    let timeout = Timeout::new(TIME_LIMIT).expect("the limit is more than nothing");
    let command = ShellCommand::new(COMMAND).expect("the self-test's own commands are well formed");
    let running = launcher
        .start_task(&policy, &command.with_timeout(timeout), isolation, folder, None)
        .map_err(|error| match error {
            SpawnError::Step(error) => error.to_string(),
            other => other.to_string(),
        })?;
    let outcome = running.wait().map_err(|error| error.to_string())?;
    if !outcome.ending.is_success() {
        return Err(format!("a command on it ended with {}", outcome.ending));
    }
    if !is_untouched(&lower) {
        return Err("the lower folder was changed".into());
    }
    if !holds_changes(&upper) {
        return Err("it does not hold what was changed".into());
    }
    Ok(())
}

fn prepare(folders: &[&Path; 3]) -> io::Result<()> {
    for folder in folders {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    fs::write(folders[0].join("kept"), "kept\n")?;
    fs::write(folders[0].join("gone"), "gone\n")
}

fn is_untouched(lower: &Path) -> bool {
    let holds =
        |name: &str, text: &str| fs::read_to_string(lower.join(name)).is_ok_and(|content| content == text);
    holds("kept", "kept\n") && holds("gone", "gone\n") && !lower.join("made").exists()
}

fn holds_changes(upper: &Path) -> bool {
    let holds =
        |name: &str, text: &str| fs::read_to_string(upper.join(name)).is_ok_and(|content| content == text);
    let is_removed = fs::symlink_metadata(upper.join("gone"))
        .is_ok_and(|metadata| metadata.file_type().is_char_device() && metadata.rdev() == 0);
    holds("kept", "changed\n") && holds("made", "made\n") && is_removed
}

/// Restores the owner's permissions on every folder in the tree, as far as possible.
fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
