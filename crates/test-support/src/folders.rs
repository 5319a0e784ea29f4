//! Folders and programs that a test makes.

use std::fs;
use std::path::Path;
use std::process::Command;

use walkdir::WalkDir;

/// Copies a folder with its files and folders and their permissions; `to` may exist. Symlinks are not expected.
pub fn copy_folder(from: &Path, to: &Path) {
    for entry in WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(&target).unwrap();
            fs::set_permissions(&target, entry.metadata().unwrap().permissions()).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns the paths of all entries beneath a folder, relative to it and sorted.
#[must_use]
pub fn names_beneath(folder: &Path) -> Vec<String> {
    let entries = WalkDir::new(folder).min_depth(1).sort_by_file_name().into_iter();
    let names = entries.map(|entry| entry.unwrap().path().strip_prefix(folder).unwrap().to_owned());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Makes an executable file.
pub fn write_program(path: &Path, text: &str) {
    // Another process writes it: a child that another test forks in that moment would inherit the open descriptor, and
    // the system refuses to execute a file that is open for writing (ETXTBSY).
    let script = "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"";
    let written = Command::new("/bin/sh").args(["-c", script, "sh", text]).arg(path).status();
    assert!(written.unwrap().success(), "{}", path.display());
}
