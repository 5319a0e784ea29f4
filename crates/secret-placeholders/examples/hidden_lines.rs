//! Prints the lines of files that would be hidden: `hidden_lines FOLDER…`. Over sources of others, each is a false positive or an example.

#![expect(clippy::print_stdout, reason = "it prints its findings")]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use secret_placeholders::Detector;

/// The maximum number of bytes of a file that is searched.
const MOST_BYTES: u64 = 16 << 20;

/// The maximum number of characters that are printed of a line.
const MOST_CHARACTERS: usize = 200;

/// Numbers of files and lines that were searched and hidden.
#[derive(Default)]
struct Counts {
    files: usize,
    lines: usize,
    hidden_files: usize,
    hidden_lines: usize,
    by_kind: BTreeMap<String, usize>,
}

fn main() -> io::Result<()> {
    let mut counts = Counts::default();
    for folder in std::env::args_os().skip(1) {
        search_folder(Path::new(&folder), &mut counts)?;
    }
    let Counts { files, lines, hidden_files, hidden_lines, by_kind } = counts;
    println!("{hidden_lines} lines in {hidden_files} files are hidden, of {lines} in {files}: {by_kind:?}");
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "it reads what it searches")]
fn search_folder(folder: &Path, counts: &mut Counts) -> io::Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            search_folder(&path, counts)?;
        } else if kind.is_file() && entry.metadata()?.len() <= MOST_BYTES {
            // What is no text is not searched.
            if let Ok(text) = std::fs::read_to_string(&path) {
                search(&path, &text, counts);
            }
        }
    }
    Ok(())
}

fn search(path: &Path, text: &str, counts: &mut Counts) {
    counts.files += 1;
    counts.lines += text.lines().count();
    let mut last_line = None;
    for hit in Detector::usual().find(text) {
        counts.hidden_files += usize::from(last_line.is_none());
        let start = text[..hit.range.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[hit.range.end..].find('\n').map_or(text.len(), |length| hit.range.end + length);
        if last_line.replace(start) == Some(start) {
            continue;
        }
        counts.hidden_lines += 1;
        *counts.by_kind.entry(hit.kind.to_string()).or_default() += 1;
        let number = text[..start].matches('\n').count() + 1;
        let line: String = text[start..end].trim().chars().take(MOST_CHARACTERS).collect();
        println!("{}:{number}: {}: {} in {line}", path.display(), hit.kind, &text[hit.range]);
    }
}
