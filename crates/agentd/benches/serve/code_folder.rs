//! The folder that all programs work on.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: usize = 200;
const FILES: usize = 100;

/// A tree of 20,000 small files, and a file of 1 MiB.
pub(crate) struct CodeFolder {
    path: PathBuf,
}

impl CodeFolder {
    /// Makes it if it does not exist yet.
    pub(crate) fn make(path: &Path) -> CodeFolder {
        let path = fs::canonicalize(fs::create_dir_all(path).map(|()| path).expect("a folder can be made"))
            .expect("it is there");
        let code = CodeFolder { path };
        let done = code.path.join("done");
        // The state of an earlier run would be opened, which is not to be measured.
        let _ = fs::remove_dir_all(code.state());
        if done.exists() {
            return code;
        }
        for folder in 0..FOLDERS {
            let path = code.folder().join(format!("tree/folder_{folder}"));
            fs::create_dir_all(&path).expect("the folder can be written");
            for file in 0..FILES {
                let mut text = String::new();
                for line in 0..20 {
                    let _ =
                        writeln!(text, "line {line} of file {file} in folder {folder}, of a usual length");
                }
                if file % FILES == folder % FILES {
                    let _ = writeln!(text, "needle {folder}_{file}");
                }
                fs::write(path.join(format!("file_{folder}_{file}.txt")), text).expect("it can be written");
            }
        }
        let mut big = String::new();
        while big.len() < 1 << 20 {
            let _ = writeln!(big, "    let value_{} = \"a line of code\";", big.len());
        }
        big.truncate(1 << 20);
        fs::write(code.folder().join("big.txt"), big).expect("it can be written");
        fs::write(done, "").expect("it can be written");
        code
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.path.join("code")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path.join("state")
    }

    pub(crate) fn in_folder(&self, name: &str) -> String {
        self.folder().join(name).to_string_lossy().into_owned()
    }

    /// The path for a token.
    pub(crate) fn token_file(&self) -> PathBuf {
        self.path.join("token")
    }
}
