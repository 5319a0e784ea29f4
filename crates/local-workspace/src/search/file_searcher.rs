//! Searching files sequentially, on one thread, with its own buffers.

use std::io::{self, Read};
use std::time::Instant;

use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkMatch};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError, OpenFile};
use wap_core::CancelFlag;

use super::file_queue::{FileOrigin, FileQueue};
use super::file_sink::FileSink;
use super::query::Query;
use super::results::{FileOutcome, Results};
use crate::engine::LocalWorkspace;
use crate::git::credentials;
use crate::read::text_probe::TextProbe;
use crate::read::watched_reader::{Stop, WatchedReader};

/// The longest line that is searched, in bytes of UTF-8. A file is searched up to the first longer one.
pub(super) const LINE_LIMIT_BYTES: usize = 4 << 20;

/// The largest of git's own files that is searched.
const MASKED_LIMIT_BYTES: u64 = 4 << 20;

/// Files up to this size are searched in memory, larger ones as a stream.
const BUFFER_BYTES: usize = 256 << 10;

/// The bytes of a file that are read before it is examined.
const FIRST_READ_BYTES: usize = 64 << 10;

/// Searches files on one thread. Files are not mapped into memory: mapping costs more than reading for small files,
/// and a file that shrinks while mapped would kill the process.
pub(super) struct FileSearcher<'a> {
    workspace: &'a LocalWorkspace,
    cancel: &'a CancelFlag,
    deadline: Instant,
    results: &'a Results,
    matcher: RegexMatcher,
    /// Without line numbers and context, for matches that are only counted.
    counting: Searcher,
    showing: Searcher,
    buffer: Vec<u8>,
    /// The folder of the files being searched, as a separate root.
    folder: Option<Folder>,
}

/// A folder with several consecutive files. They are opened by name from its handle, which takes fewer and shorter
/// system calls than from the root.
struct Folder {
    path: RelPath,
    root: FileRoot,
}

impl<'a> FileSearcher<'a> {
    pub(super) fn new(
        workspace: &'a LocalWorkspace,
        cancel: &'a CancelFlag,
        deadline: Instant,
        query: &Query,
        results: &'a Results,
    ) -> FileSearcher<'a> {
        FileSearcher {
            workspace,
            cancel,
            deadline,
            results,
            // A separate copy: the caches of a shared matcher are passed from thread to thread.
            matcher: query.matcher.clone(),
            counting: searcher().line_number(false).build(),
            showing: searcher()
                .line_number(true)
                .before_context(query.context_lines)
                .after_context(query.context_lines)
                .build(),
            buffer: vec![0; BUFFER_BYTES],
            folder: None,
        }
    }

    /// Searches the files of the queue until it is closed. Ends the queue when the caller no longer waits for
    /// the answer.
    pub(super) fn run(&mut self, queue: &FileQueue) {
        while let Some(batch) = queue.next() {
            if self.batch(&batch).is_err() {
                queue.abandon();
            }
        }
    }

    /// Searches a few files.
    pub(super) fn batch(&mut self, batch: &[(RelPath, FileOrigin)]) -> Result<(), Stop> {
        // Most files have no match, so the shared state is not locked for each of them.
        let mut without_match = 0;
        let mut stopped = Ok(());
        for (index, (path, origin)) in batch.iter().enumerate() {
            let next = batch.get(index + 1);
            let has_neighbour = next.is_some_and(|(next, _)| folder_of(next) == folder_of(path));
            match self.file(path, *origin, has_neighbour) {
                Ok(FileOutcome::Text { total: 0, .. }) => without_match += 1,
                Ok(outcome) => {
                    let is_over = matches!(outcome, FileOutcome::OutOfTime { .. });
                    self.results.add(path, outcome);
                    if is_over {
                        stopped = Err(Stop::OutOfTime);
                        break;
                    }
                }
                Err(stop) => {
                    self.results.end_early();
                    stopped = Err(stop);
                    break;
                }
            }
        }
        self.results.add_without_match(without_match);
        stopped
    }

    fn file(&mut self, path: &RelPath, origin: FileOrigin, has_neighbour: bool) -> Result<FileOutcome, Stop> {
        let file = match self.open(path, has_neighbour) {
            Ok(Some(file)) => file,
            Ok(None)
            | Err(FsError::NotFound { .. } | FsError::ParentMissing { .. } | FsError::NotAFile { .. }) => {
                return Ok(FileOutcome::Gone);
            }
            Err(_) => return Ok(FileOutcome::Unreadable),
        };
        if credentials::may_be_in(path) {
            return Ok(self.masked(path, origin, &file));
        }
        let size_bytes = file.metadata().size_bytes;
        let mut reader = WatchedReader::new(file, self.cancel, Some(self.deadline));
        // Taken out for the call, because `read` borrows the whole searcher.
        let mut buffer = std::mem::take(&mut self.buffer);
        let outcome = self.read(path, origin, &mut reader, size_bytes, &mut buffer);
        self.buffer = buffer;
        match reader.stopped() {
            Some(Stop::OutOfTime) if matches!(outcome, FileOutcome::OutOfTime { .. }) => Ok(outcome),
            Some(stop) => Err(stop),
            None => Ok(outcome),
        }
    }

    /// Opens a file by its canonical path. `None` if a symlink has appeared since: its target was not checked
    /// for exclusions.
    fn open(&mut self, path: &RelPath, has_neighbour: bool) -> Result<Option<OpenFile>, FsError> {
        let workspace = self.workspace;
        let is_near = self.folder.as_ref().is_some_and(|folder| folder.path.as_bytes() == folder_of(path));
        if has_neighbour && !is_near {
            let parent = path.parent().unwrap_or_default();
            let root = workspace.root.subfolder(&parent, workspace.root.policy().clone())?;
            self.folder = Some(Folder { path: parent, root });
        }
        match (&self.folder, path.file_name()) {
            (Some(folder), Some(name)) if has_neighbour || is_near => {
                let name = RelPath::root().child(name)?;
                Ok(Some(folder.root.open_file(&name)?).filter(|file| *file.path() == name))
            }
            _ => Ok(Some(workspace.root.open_file(path)?).filter(|file| file.path() == path)),
        }
    }

    fn read(
        &mut self,
        path: &RelPath,
        origin: FileOrigin,
        reader: &mut WatchedReader<'_, OpenFile>,
        size_bytes: u64,
        buffer: &mut [u8],
    ) -> FileOutcome {
        let Ok(mut length) = fill(reader, &mut buffer[..FIRST_READ_BYTES], size_bytes) else {
            return FileOutcome::Unreadable;
        };
        if length == FIRST_READ_BYTES {
            if TextProbe::of(&buffer[..length]).is_binary() {
                return FileOutcome::Binary;
            }
            let Ok(more) = fill(reader, &mut buffer[length..], size_bytes.saturating_sub(length as u64))
            else {
                return FileOutcome::Unreadable;
            };
            length += more;
        }
        if length < buffer.len() {
            self.text(path, origin, &buffer[..length])
        } else {
            self.stream(path, origin, buffer, reader)
        }
    }

    /// Searches a file that is completely in memory.
    fn text(&mut self, path: &RelPath, origin: FileOrigin, bytes: &[u8]) -> FileOutcome {
        let probe = TextProbe::of(bytes);
        if probe.is_binary() {
            return FileOutcome::Binary;
        }
        if probe.is_undecodable() && origin == FileOrigin::Walked {
            return FileOutcome::Undecodable;
        }
        let mut count = CountSink::default();
        if let Err(error) = self.counting.search_slice(&self.matcher, bytes, &mut count) {
            return failed(&error, count.total, Vec::new());
        }
        // Hardly any file has to be searched a second time.
        if count.total == 0 || !self.results.wants(path) {
            return FileOutcome::Text { total: count.total, matches: Vec::new() };
        }
        let mut sink = FileSink::new(path.to_string(), self.results.most());
        match self.showing.search_slice(&self.matcher, bytes, &mut sink) {
            Ok(()) => FileOutcome::Text { total: sink.total, matches: sink.matches },
            Err(error) => failed(&error, sink.total, sink.matches),
        }
    }

    /// Searches a file that begins with `head` and continues in `reader`.
    fn stream(
        &mut self,
        path: &RelPath,
        origin: FileOrigin,
        head: &[u8],
        reader: &mut WatchedReader<'_, OpenFile>,
    ) -> FileOutcome {
        let shows = self.results.wants(path);
        let searcher = if shows { &mut self.showing } else { &mut self.counting };
        let mut sink = FileSink::new(path.to_string(), if shows { self.results.most() } else { 0 });
        let mut probe = TextProbe::new(head.chain(&mut *reader));
        let searched = searcher.search_reader(&self.matcher, &mut probe, &mut sink);
        let is_undecodable = probe.is_undecodable();
        let FileSink { total, matches, .. } = sink;
        match searched {
            Err(_) if reader.stopped() == Some(Stop::OutOfTime) => FileOutcome::OutOfTime { total, matches },
            Err(error) => failed(&error, total, matches),
            Ok(()) if is_undecodable && origin == FileOrigin::Walked => FileOutcome::Undecodable,
            Ok(()) => FileOutcome::Text { total, matches },
        }
    }

    /// Searches a file with its credentials masked, so that searches do not reveal them.
    fn masked(&mut self, path: &RelPath, origin: FileOrigin, file: &OpenFile) -> FileOutcome {
        match file.read_to_end(MASKED_LIMIT_BYTES) {
            Ok(bytes) if TextProbe::of(&bytes).is_binary() => FileOutcome::Binary,
            Ok(bytes) => self.text(path, origin, &credentials::mask(&bytes)),
            Err(_) => FileOutcome::Unreadable,
        }
    }
}

/// The bytes of the path of a file's folder.
fn folder_of(path: &RelPath) -> &[u8] {
    let bytes = path.as_bytes();
    &bytes[..memchr::memrchr(b'/', bytes).unwrap_or(0)]
}

fn searcher() -> SearcherBuilder {
    let mut builder = SearcherBuilder::new();
    builder
        // The same as the matcher's; it splits at line feeds.
        .line_terminator(LineTerminator::crlf())
        // Binary files are determined by the rule for all tools.
        .binary_detection(BinaryDetection::none())
        .memory_map(MmapChoice::never())
        .heap_limit(Some(LINE_LIMIT_BYTES))
        .bom_sniffing(true);
    builder
}

/// Reads until `buffer` is full, the file ends, or `expected_bytes` are there: the read that only finds the end of a
/// small file would be one system call in five. Returns how much was read.
fn fill(reader: &mut impl Read, buffer: &mut [u8], expected_bytes: u64) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match reader.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length as u64 == expected_bytes {
            break;
        }
    }
    Ok(length)
}

/// Returns the outcome of a search that ended with an error. Errors of the system have a number; the only other one is
/// that of a line that does not fit the buffer.
fn failed(error: &io::Error, total: u64, matches: Vec<wap_core::SearchMatch>) -> FileOutcome {
    if error.raw_os_error().is_some() {
        FileOutcome::Unreadable
    } else {
        FileOutcome::LongLine { total, matches }
    }
}

/// Counts matching lines.
#[derive(Debug, Default)]
struct CountSink {
    total: u64,
}

impl Sink for CountSink {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.total += 1;
        Ok(true)
    }
}
