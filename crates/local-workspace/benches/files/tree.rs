//! A tree of small files that looks like source code.

use std::fs;
use std::path::{Path, PathBuf};

/// Files in one folder.
const FILES_PER_FOLDER: usize = 40;

/// A name that occurs in one file of a thousand.
pub(crate) const RARE: &str = "reconcile_ledger";
/// A word that occurs on many lines of every file.
pub(crate) const COMMON: &str = "return";

const WORDS: [&str; 16] = [
    "let", "buffer", "value", "match", "self", "return", "index", "reader", "fn", "state", "offset", "error",
    "u64", "struct", "length", "path",
];

/// A tree that was made, or found from last time.
pub(crate) struct Tree {
    folder: PathBuf,
    files: usize,
    bytes: u64,
}

impl Tree {
    /// Makes a tree of this many files below `parent`, unless it exists.
    pub(crate) fn make(parent: &Path, files: usize) -> Tree {
        let folder = parent.join(format!("tree-{files}"));
        // The tree is complete once this file says how large it is.
        let complete = parent.join(format!("tree-{files}.complete"));
        let recorded = fs::read_to_string(&complete).ok().and_then(|text| text.trim().parse().ok());
        if let Some(bytes) = recorded {
            return Tree { folder, files, bytes };
        }
        eprintln!("making a tree of {files} files, once");
        // What an interrupted run has left may be half a tree.
        let _ = fs::remove_dir_all(&folder);
        let mut random = Random(files as u64);
        let mut bytes = 0;
        for number in 0..files {
            let path = folder.join(path_of(number));
            if number % FILES_PER_FOLDER == 0 {
                let parent = path.parent().expect("a file has a folder");
                fs::create_dir_all(parent).expect("the target folder can be written");
            }
            let content = content(number, &mut random);
            bytes += content.len() as u64;
            fs::write(&path, content).expect("the target folder can be written");
        }
        fs::write(complete, bytes.to_string()).expect("the target folder can be written");
        Tree { folder, files, bytes }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn files(&self) -> usize {
        self.files
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Folders that hold files.
    pub(crate) fn folders(&self) -> usize {
        self.files.div_ceil(FILES_PER_FOLDER)
    }
}

fn path_of(number: usize) -> String {
    let folder = number / FILES_PER_FOLDER;
    format!("crate-{:02}/src/part_{:03}/module_{number}.rs", folder % 25, folder / 25)
}

/// Between nothing and 8 KB of lines; one file of 200 is binary.
fn content(number: usize, random: &mut Random) -> Vec<u8> {
    let lines = random.below(200);
    let mut text = String::new();
    for line in 0..lines {
        text.push_str(&"    ".repeat(random.below(4)));
        for _ in 0..random.below(8) {
            text.push_str(WORDS[random.below(WORDS.len())]);
            text.push(' ');
        }
        text.push_str(if line % 50 == 7 { "// \u{e9}\u{20ac}\n" } else { ";\n" });
    }
    if number.is_multiple_of(1000) {
        text.push_str(&format!("fn {RARE}_{number}() {{}}\n"));
    }
    if number % 200 == 199 {
        text.insert(0, '\0');
    }
    text.into_bytes()
}

/// The same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}
