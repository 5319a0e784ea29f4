//! The folders that all programs work on.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of each folder of a tree.
const FILES_EACH: usize = 100;

/// The line of a file that edits change, with the texts that it has in turn.
pub(crate) const EDITED: [&str; 2] = ["    let edited = \"one of two\";", "    let edited = \"two of two\";"];

/// The contents of a folder.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A tree of this many small files, [`FILES_EACH`] in each folder, and files to read and to edit.
    Tree(usize),
    /// This many empty files in one folder.
    Flat(usize),
}

/// A folder of code, and one for the state of a server.
pub(crate) struct CodeFolder {
    path: PathBuf,
}

impl CodeFolder {
    /// Makes it below `parent` if it does not exist yet.
    pub(crate) fn make(parent: &Path, shape: Shape) -> CodeFolder {
        let name = match shape {
            Shape::Tree(files) => format!("tree-{files}"),
            Shape::Flat(files) => format!("flat-{files}"),
        };
        let path = parent.join(name);
        fs::create_dir_all(&path).expect("a folder can be made");
        let code = CodeFolder { path: fs::canonicalize(path).expect("it is there") };
        // The state of an earlier run would be opened, which is not to be measured.
        let _ = fs::remove_dir_all(code.state());
        let done = code.path.join("done");
        if !done.exists() {
            match shape {
                Shape::Tree(files) => code.fill_tree(files),
                Shape::Flat(files) => code.fill_flat(files),
            }
            fs::write(done, "").expect("it can be written");
        }
        if matches!(shape, Shape::Tree(_)) {
            // Edited by an earlier run, perhaps to the other text.
            (0..3).for_each(|program| code.write(&edited_file(program), &lines(16 << 10, EDITED[0])));
        }
        code
    }

    fn fill_tree(&self, files: usize) {
        for folder in 0..files / FILES_EACH {
            fs::create_dir_all(self.folder().join(format!("tree/folder_{folder}")))
                .expect("it can be written");
            for file in 0..FILES_EACH {
                let mut text = String::new();
                for line in 0..20 {
                    let _ =
                        writeln!(text, "line {line} of file {file} in folder {folder}, of a usual length");
                }
                if file == folder % FILES_EACH {
                    let _ = writeln!(text, "needle {folder}_{file}");
                }
                self.write(&format!("tree/folder_{folder}/file_{folder}_{file}.txt"), &text);
            }
        }
        self.write("16k.txt", &lines(16 << 10, ""));
        self.write("1m.txt", &lines(1 << 20, ""));
    }

    fn fill_flat(&self, files: usize) {
        fs::create_dir_all(self.folder().join("flat")).expect("it can be written");
        (0..files).for_each(|file| self.write(&format!("flat/file_{file}.txt"), ""));
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder().join(name), text).expect("it can be written");
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

/// The file that one of the programs edits: each has its own.
pub(crate) fn edited_file(program: usize) -> String {
    format!("edited_{program}.txt")
}

/// Lines of code of this many bytes in all; `first` is the first one if it is not empty.
fn lines(bytes: usize, first: &str) -> String {
    let mut text = String::new();
    if !first.is_empty() {
        let _ = writeln!(text, "{first}");
    }
    while text.len() < bytes {
        let _ = writeln!(text, "    let value_{} = \"a line of code\";", text.len());
    }
    text.truncate(bytes);
    text
}
