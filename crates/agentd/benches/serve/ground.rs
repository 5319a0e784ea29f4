//! The folder that all programs work on.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: usize = 200;
const FILES: usize = 100;

/// A tree of 20,000 small files, and a file of 1 MiB.
pub(crate) struct Ground {
    place: PathBuf,
}

impl Ground {
    /// Makes it where it is not there yet.
    pub(crate) fn make(place: &Path) -> Ground {
        let place =
            fs::canonicalize(fs::create_dir_all(place).map(|()| place).expect("a folder can be made"))
                .expect("it is there");
        let ground = Ground { place };
        let done = ground.place.join("done");
        // The state of an earlier run would be opened, and it is not what is measured.
        let _ = fs::remove_dir_all(ground.state());
        if done.exists() {
            return ground;
        }
        for folder in 0..FOLDERS {
            let path = ground.folder().join(format!("tree/folder_{folder}"));
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
        fs::write(ground.folder().join("big.txt"), big).expect("it can be written");
        fs::write(done, "").expect("it can be written");
        ground
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.place.join("code")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.place.join("state")
    }

    pub(crate) fn in_folder(&self, name: &str) -> String {
        self.folder().join(name).to_string_lossy().into_owned()
    }

    /// Where a token may be made.
    pub(crate) fn token_file(&self) -> PathBuf {
        self.place.join("token")
    }
}
