//! A scenario: files, a patch, and the files afterwards.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::super::script_suite::names_in;
use crate::TaskError;

/// The contents of files by their paths. Folders alone are not compared.
pub(super) type Files = BTreeMap<String, String>;

/// One scenario, a folder with `patch.txt`, `input/` and `expected/`.
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) patch: String,
    pub(super) input: Files,
    pub(super) expected: Files,
}

/// Reads the scenarios of a folder in the order of their names: its folders with a patch.
///
/// # Errors
///
/// [`TaskError::Unreadable`], also if a file is not UTF-8, or a link.
pub(super) fn read_all(folder: &Path) -> Result<Vec<Scenario>, TaskError> {
    let names = names_in(folder).into_iter().filter(|name| folder.join(name).join("patch.txt").is_file());
    let scenario = |name: String| {
        let own = folder.join(&name);
        let (mut input, mut expected) = (Files::new(), Files::new());
        // A scenario that begins or ends without files has no such folder.
        read_files(&own.join("input"), "", &mut input)?;
        read_files(&own.join("expected"), "", &mut expected)?;
        Ok(Scenario { name, patch: read(&own.join("patch.txt"))?, input, expected })
    };
    names.map(scenario).collect()
}

fn read_files(folder: &Path, prefix: &str, files: &mut Files) -> Result<(), TaskError> {
    for name in names_in(folder) {
        let (path, relative) = (folder.join(&name), format!("{prefix}{name}"));
        let unreadable = |source| TaskError::Unreadable { path: path.clone(), source };
        // A link may lead around in circles, and a pipe never ends.
        let kind = path.symlink_metadata().map_err(unreadable)?.file_type();
        if kind.is_dir() {
            read_files(&path, &format!("{relative}/"), files)?;
        } else if kind.is_file() {
            files.insert(relative, read(&path)?);
        } else {
            return Err(unreadable(io::Error::other("it is neither a file nor a folder")));
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, TaskError> {
    std::fs::read_to_string(path).map_err(|source| TaskError::Unreadable { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::read_all;

    #[test]
    fn folders_with_a_patch_are_scenarios() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("b/patch.txt", "p"),
            ("b/input/x/y.txt", "in"),
            ("a/patch.txt", "q"),
            ("a/expected/z.txt", "out"),
            ("none/input/z.txt", ""),
            ("README.md", ""),
        ];
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let scenarios = read_all(folder.path()).unwrap();
        let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(scenarios[0].expected["z.txt"], "out");
        assert!(scenarios[0].input.is_empty());
        assert_eq!(scenarios[1].input["x/y.txt"], "in");
        let link = folder.path().join("b/input/loop");
        std::os::unix::fs::symlink(folder.path().join("b"), &link).unwrap();
        assert!(read_all(folder.path()).is_err(), "it would be followed for ever");
        std::fs::remove_file(link).unwrap();
        assert!(read_all(folder.path()).is_ok());
        std::fs::write(folder.path().join("b/patch.txt"), b"\xff").unwrap();
        assert!(read_all(folder.path()).is_err());
    }
}
