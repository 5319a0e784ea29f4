//! The units of systemd are checked by systemd itself.

use std::fs;
use std::path::Path;

use super::write;
use crate::setup::is_installed;
use crate::{Step, TaskError};

/// The program as the units name it, where packages install it.
const PROGRAM: &str = "/usr/bin/agentd";

/// Checks the units beside the staged program; a template with a folder as its instance. Where there is no `systemd-analyze`,
/// that is said.
pub(super) fn verify(stage: &Path) -> Result<(), TaskError> {
    if !is_installed("systemd-analyze") {
        println!("== units: not checked, there is no systemd-analyze");
        return Ok(());
    }
    let folder = stage.with_file_name("units");
    let _ = fs::remove_dir_all(&folder);
    let unreadable = |path: &Path, source| TaskError::Unreadable { path: path.to_owned(), source };
    let unwritable = |source| TaskError::Unwritable { path: folder.clone(), source };
    // A manager of a user wants a folder for its sockets.
    let sockets = folder.join("sockets");
    fs::create_dir_all(&sockets).map_err(unwritable)?;
    let units = stage.join("systemd");
    for unit in fs::read_dir(&units).map_err(|source| unreadable(&units, source))? {
        let path = unit.map_err(|source| unreadable(&units, source))?.path();
        let text = fs::read_to_string(&path).map_err(|source| unreadable(&path, source))?;
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_template = name.contains("@.");
        let name = name.replace("@.", "@home-ada-project.");
        // Neither the program nor its manual is installed here.
        let program = stage.join("agentd").to_string_lossy().into_owned();
        let lines = text.lines().filter(|line| !line.starts_with("Documentation="));
        let text = lines.collect::<Vec<_>>().join("\n").replace(PROGRAM, &program) + "\n";
        let copy = folder.join(name);
        write(&copy, text.as_bytes())?;
        let whose = if is_template { "--user" } else { "--system" };
        Step::new("unit", "systemd-analyze", &[whose, "verify", &copy.to_string_lossy()])
            .variable("XDG_RUNTIME_DIR", &sockets.to_string_lossy())
            .run()?;
    }
    fs::remove_dir_all(&folder).map_err(unwritable)
}
