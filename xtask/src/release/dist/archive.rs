//! The archive of a release: the same bytes for the same files.

use std::fs;
use std::path::Path;

use super::OUTPUT;
use crate::{Step, TaskError};

/// Writes `agentd-VERSION-TARGET.tar.gz` with its checksum, unpacks it and runs the program.
pub(super) fn write(root: &Path, stage: &Path, program: &Path) -> Result<(), TaskError> {
    let version = Step::new("version", &program.to_string_lossy(), &["--version"]).output()?;
    let version = String::from_utf8_lossy(&version).trim().replace(' ', "-");
    let name = format!("{version}-{}", target(program)?);
    let output = root.join(OUTPUT);
    let file = format!("{name}.tar.gz");

    let staged = stage.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // Owners, times and the order of files are not those of this machine and moment.
    let rename = format!("--transform=s,^{staged},{name},");
    let form = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", &rename];
    let arguments = [&form[..], &["--use-compress-program=gzip --no-name", "-cf", &file, staged]].concat();
    Step::new("archive", "tar", &arguments).folder(&output).run()?;
    let sum = Step::new("checksum", "sha256sum", &[&file]).folder(&output).output()?;
    super::write(&output.join(format!("{file}.sha256")), &sum)?;
    try_out(&output, &file, &name)
}

/// The target of the program, from the folder in which it was built; this machine's if the folder has no such name.
fn target(program: &Path) -> Result<String, TaskError> {
    let mut folders = program.iter().filter_map(|part| part.to_str());
    if let Some(triple) = folders.rfind(|part| part.matches('-').count() >= 2 && part.contains("linux")) {
        return Ok(triple.to_owned());
    }
    let text = Step::new("rustc", "rustc", &["-vV"]).output()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("unknown");
    Ok(host.to_owned())
}

/// Unpacks the archive as a user would, and runs what is in it.
fn try_out(output: &Path, file: &str, name: &str) -> Result<(), TaskError> {
    let folder = output.join("tried");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|source| TaskError::Unwritable { path: folder.clone(), source })?;
    let archive = output.join(file);
    Step::new("unpack", "tar", &["-xzf", &archive.to_string_lossy()]).folder(&folder).run()?;
    let program = folder.join(name).join("agentd");
    Step::new("the program of the archive", &program.to_string_lossy(), &["--version"]).run()?;
    fs::remove_dir_all(&folder).map_err(|source| TaskError::Unwritable { path: folder, source })
}
