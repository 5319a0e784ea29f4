//! `readFile`: the content of a file, of a range of its lines, or of a command's whole output.

pub(crate) mod explore;
pub(crate) mod file_states;
mod info;
pub(crate) mod line_window;
pub(crate) mod text_probe;
pub(crate) mod timestamp;
pub(crate) mod watched_reader;

use std::io::Read;
use std::ops::Range;
use std::time::{Duration, Instant};

use change_journal::ContentHash;
use rel_path::RelPath;
use sandbox_fs::{FsError, Metadata, OpenFile};
use text_edit::{Encoding, Source};
use wap_core::{
    Call, FileMetadata, OUTPUT_PREFIX, PROCESS_PREFIX, ReadFile, ReadFileResponse, Reason, WapError,
};

use crate::change::held_versions::{HELD_FILE_BYTES, version};
use crate::engine::LocalWorkspace;
use crate::errors::fs_read_error;
use crate::git::credentials;
use crate::read::line_window::{Window, Windowed};
use crate::read::timestamp::iso;
use crate::read::watched_reader::{Stop, WatchedReader};

/// The time limit for reading the lines of a range, if the caller's is not shorter.
const TIME_BOUND: Duration = Duration::from_secs(10);

/// The number of attempts at reading a file that changes in the meantime.
const READ_ATTEMPTS: usize = 3;

/// The advice for a file that is read whole or not at all, because its credentials are masked.
const WHOLE_ONLY: &str = "files of a repository are read whole, up to 4 MiB, because credentials in them are masked: use a command of git";

const CHANGED_MEANWHILE: &str =
    "another program was writing the file while it was read, so this may be a mixture: read it again";

/// A file that is completely in memory.
struct SmallFile {
    bytes: Vec<u8>,
    metadata: Metadata,
    /// True if it was not written to while it was read.
    is_settled: bool,
}

impl LocalWorkspace {
    /// Returns lines of a file.
    ///
    /// Files up to 4 MiB are read completely. Larger ones are streamed: up to 256 MiB to their end; of even larger or
    /// slow ones, only as much as the range needs. Then `total_lines` is a lower bound, there is no version, and a
    /// warning says so.
    pub(crate) fn read(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        let window = self.window(request)?;
        if let Some(name) = request.path.strip_prefix(OUTPUT_PREFIX) {
            return self.read_output(call, request, name, window);
        }
        if let Some(name) = request.path.strip_prefix(PROCESS_PREFIX) {
            return self.read_process(call, request, name, window);
        }
        let path = self.file_path(&request.path)?;
        self.hidden.check(&path)?;
        let mut file = self.root.open_file(&path).map_err(|error| read_refused(&error, &request.path))?;
        // The path of the opened file: a symlink may point to a hidden one.
        self.hidden.check(file.path())?;
        let path = self.stored_path(file.path(), &request.path)?;
        self.check_size(request, &path, file.metadata().size_bytes)?;
        // Before the other ways of reading, which would return and hold the content unmasked.
        if credentials::may_be_in(&path) {
            let bytes = file.read_to_end(HELD_FILE_BYTES).map_err(|error| {
                let refused = fs_read_error(&error, &request.path);
                let is_large = matches!(error, FsError::TooLarge { .. });
                if is_large { refused.with("hint", WHOLE_ONLY) } else { refused }
            })?;
            return read_masked(request, window, metadata(&path, file.metadata()), &bytes);
        }
        let small = small_file(&file).map_err(|error| fs_read_error(&error, &request.path))?;
        let Some(small) = small else { return read_large(call, request, window, (&path, &mut file)) };
        let metadata = metadata(&path, &small.metadata);
        let mut response = self.read_small(call, request, window, metadata, small.bytes)?;
        if !small.is_settled {
            response.warnings.push(CHANGED_MEANWHILE.to_owned());
        }
        Ok(response)
    }

    /// Returns the canonical path of an opened file: another one may also lead to a hidden file.
    pub(crate) fn stored_path(&self, opened: &RelPath, requested: &str) -> Result<RelPath, WapError> {
        let path = self.root.stored_path(opened).map_err(|error| fs_read_error(&error, requested))?;
        self.hidden.check(&path)?;
        Ok(path)
    }

    /// Reads a planned version of a file, which is not on disk yet.
    pub(crate) fn read_planned(
        &self,
        call: &Call<'_>,
        request: &ReadFile,
        path: &RelPath,
        bytes: &[u8],
    ) -> Result<ReadFileResponse, WapError> {
        let window = self.window(request)?;
        let size = bytes.len() as u64;
        self.check_size(request, path, size)?;
        let metadata = FileMetadata {
            path: path.to_string(),
            size,
            is_directory: false,
            last_modified: iso(std::time::SystemTime::now()),
        };
        self.read_small(call, request, window, metadata, bytes.to_vec())
    }

    /// Reads a command's whole output. Nothing can be edited there, so it has no version.
    fn read_output(
        &self,
        call: &Call<'_>,
        request: &ReadFile,
        name: &str,
        window: Window,
    ) -> Result<ReadFileResponse, WapError> {
        let (file, size, modified) = self.outputs.read(name)?;
        // A command may print anything.
        let window = Window { takes_binary: true, ..window };
        let excerpt = Windowed { is_binary: false, ..watched(call, request, window, file)? };
        let metadata = FileMetadata {
            path: request.path.clone(),
            size,
            is_directory: false,
            last_modified: iso(modified),
        };
        Ok(ReadFileResponse { version: None, ..respond(request, metadata, excerpt, Vec::new())? })
    }

    fn check_size(&self, request: &ReadFile, path: &RelPath, size: u64) -> Result<(), WapError> {
        let has_range = request.start_line.is_some() || request.end_line.is_some();
        let limit = self.config.limits.max_file_size;
        if size > limit && !has_range {
            return Err(too_large(path, size, limit));
        }
        Ok(())
    }

    /// Reads a file that is completely in memory, and holds this version of it.
    fn read_small(
        &self,
        call: &Call<'_>,
        request: &ReadFile,
        window: Window,
        metadata: FileMetadata,
        bytes: Vec<u8>,
    ) -> Result<ReadFileResponse, WapError> {
        // Most texts are UTF-8, and need no further checks. A UTF-16 mark is not valid UTF-8.
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => return self.read_text(call, request, window, metadata, text),
            Err(error) => error.into_bytes(),
        };
        let source = Source::parse(&bytes).ok();
        let mut warnings = Vec::new();
        let encoding = source.as_ref().map(|source| source.format().encoding);
        if source.as_ref().is_some_and(Source::is_lossy) {
            warnings.push(
                "some bytes are not valid text and are shown as U+FFFD; editing other lines keeps them"
                    .to_owned(),
            );
        }
        let recoded = match (&source, encoding) {
            (Some(source), Some(encoding @ (Encoding::Utf16Le | Encoding::Utf16Be))) => {
                warnings.insert(
                    0,
                    format!("the file is {encoding}; it is shown as UTF-8 and edited in its own encoding"),
                );
                Some(source.text().into_owned().into_bytes())
            }
            _ => None,
        };
        let (mut excerpt, kept) = match &recoded {
            Some(text) => {
                let (excerpt, kept) = Window { takes_binary: true, ..window }.within(text);
                (Windowed { is_binary: false, hash: Some(ContentHash::of(&bytes)), ..excerpt }, kept)
            }
            None => window.within(&bytes),
        };
        check(request, &metadata, &excerpt)?;
        if let Some(hash) = excerpt.hash {
            // The file's own bytes, not the recoded text: edits apply to them.
            self.held.hold(hash, &bytes, call.origin.retention);
        }
        excerpt.bytes = part_of(recoded.unwrap_or(bytes), kept);
        respond(request, metadata, excerpt, warnings)
    }

    /// Reads a UTF-8 text without copying or checking its bytes again.
    fn read_text(
        &self,
        call: &Call<'_>,
        request: &ReadFile,
        window: Window,
        metadata: FileMetadata,
        text: String,
    ) -> Result<ReadFileResponse, WapError> {
        let (excerpt, kept) = window.within(text.as_bytes());
        check(request, &metadata, &excerpt)?;
        if let Some(hash) = excerpt.hash {
            self.held.hold(hash, text.as_bytes(), call.origin.retention);
        }
        // Lines and characters of a UTF-8 text are cut at character boundaries.
        let content = if kept == (0..text.len()) { text } else { text[kept].to_owned() };
        respond_with(request, metadata, excerpt, content, Vec::new())
    }

    /// Returns the lines that a request selects. Line numbers below 1 and reversed ranges are refused here, those past
    /// the end when the file has been read.
    fn window(&self, request: &ReadFile) -> Result<Window, WapError> {
        let line = |line: Option<i64>, absent: u64, field: &str| match line {
            None => Ok(absent),
            Some(line) => u64::try_from(line).ok().filter(|line| *line > 0).ok_or_else(|| {
                let text = format!("{field} is {line}, and lines are counted from 1");
                WapError::new(Reason::InvalidRange, text).with("field", field)
            }),
        };
        let first = line(request.start_line, 1, "startLine")?;
        let last = line(request.end_line, u64::MAX, "endLine")?;
        if last < first {
            let text = format!("endLine {last} is before startLine {first}");
            return Err(WapError::new(Reason::InvalidRange, text).with("field", "endLine"));
        }
        let limit_bytes = usize::try_from(self.config.limits.max_file_size).unwrap_or(usize::MAX - 1);
        Ok(Window { first, last, limit_bytes, takes_binary: false })
    }
}

/// Reads one of git's own files. The shown text differs from the file, so it has no version.
fn read_masked(
    request: &ReadFile,
    window: Window,
    metadata: FileMetadata,
    bytes: &[u8],
) -> Result<ReadFileResponse, WapError> {
    let masked = credentials::mask(bytes);
    let is_changed = *masked != *bytes;
    let warnings = if is_changed { vec!["credentials are masked with ***".to_owned()] } else { Vec::new() };
    let (excerpt, kept) = window.within(&masked);
    let excerpt = Windowed { bytes: masked[kept].to_vec(), ..excerpt };
    let response = respond(request, metadata, excerpt, warnings)?;
    Ok(ReadFileResponse { version: response.version.filter(|_| !is_changed), ..response })
}

/// Reads a small file, and retries if it is written to. `None` if it is too large to be held.
fn small_file(file: &OpenFile) -> Result<Option<SmallFile>, FsError> {
    let mut before = *file.metadata();
    let mut attempt = 1;
    while before.size_bytes <= HELD_FILE_BYTES {
        // One byte more than the limit shows that the file has grown beyond it.
        let bytes = file.read_range(0, HELD_FILE_BYTES + 1)?;
        let metadata = file.metadata_now()?;
        if bytes.len() as u64 > HELD_FILE_BYTES {
            break;
        }
        // The clock of a file system is coarse: a truncation and rewrite within a tick shows only in the length.
        let is_settled = metadata.stamp() == before.stamp() && bytes.len() as u64 == metadata.size_bytes;
        if is_settled || attempt == READ_ATTEMPTS {
            return Ok(Some(SmallFile { bytes, metadata, is_settled }));
        }
        before = metadata;
        attempt += 1;
    }
    Ok(None)
}

/// Reads a range of a file that is not held.
fn read_large(
    call: &Call<'_>,
    request: &ReadFile,
    window: Window,
    (path, file): (&RelPath, &mut OpenFile),
) -> Result<ReadFileResponse, WapError> {
    // A range is cut at bytes that are line feeds, which are not line ends in UTF-16.
    let mark = file.read_range(0, 2).map_err(|error| fs_read_error(&error, &request.path))?;
    if matches!(&mark[..], b"\xff\xfe" | b"\xfe\xff") {
        let text = format!("'{}' is UTF-16, which is read up to {HELD_FILE_BYTES} bytes only", path);
        return Err(WapError::new(Reason::FileTooLarge, text).with("limit", HELD_FILE_BYTES));
    }
    let excerpt = watched(call, request, window, &mut *file)?;
    let now = file.metadata_now().map_err(|error| fs_read_error(&error, &request.path))?;
    let is_settled = now.stamp() == file.metadata().stamp();
    let mut response = respond(request, metadata(path, &now), excerpt, Vec::new())?;
    if !is_settled {
        // A mixture is not a version of the file.
        response.version = None;
        response.warnings.push(CHANGED_MEANWHILE.to_owned());
    }
    Ok(response)
}

/// Reads a file of any size, as long as the caller waits.
fn watched(
    call: &Call<'_>,
    request: &ReadFile,
    window: Window,
    source: impl Read,
) -> Result<Windowed, WapError> {
    let deadline = Instant::now() + call.time_left.unwrap_or(TIME_BOUND).min(TIME_BOUND);
    let mut reader = WatchedReader::new(source, call.cancel, Some(deadline));
    let excerpt = window.read(&mut reader).map_err(|error| read_failed(&request.path, &error))?;
    match reader.stopped() {
        Some(Stop::Cancelled) => Err(WapError::new(Reason::Cancelled, "cancelled while the file was read")),
        Some(Stop::OutOfTime) if !excerpt.is_filled => {
            let text = format!(
                "timed out at line {} of '{}', before all lines of the range were found",
                excerpt.total_lines, request.path
            );
            Err(WapError::new(Reason::Timeout, text)
                .with("linesRead", excerpt.total_lines)
                .with("bytesRead", excerpt.read_bytes))
        }
        _ => Ok(excerpt),
    }
}

/// Refuses a file that cannot be shown.
fn check(request: &ReadFile, metadata: &FileMetadata, excerpt: &Windowed) -> Result<(), WapError> {
    if excerpt.is_binary {
        let text = format!(
            "'{}' is a binary file of {} bytes, which cannot be read as text",
            metadata.path, metadata.size
        );
        return Err(WapError::new(Reason::BinaryFile, text).with("size", metadata.size));
    }
    if let Some(start) = request.start_line
        && start.unsigned_abs() > excerpt.total_lines
    {
        let text = format!(
            "startLine {start} is past the end: '{}' has {} lines",
            metadata.path, excerpt.total_lines
        );
        return Err(WapError::new(Reason::InvalidRange, text).with("totalLines", excerpt.total_lines));
    }
    Ok(())
}

/// Returns a part of some bytes, without copying if it is all of them.
fn part_of(bytes: Vec<u8>, part: Range<usize>) -> Vec<u8> {
    if part == (0..bytes.len()) { bytes } else { bytes[part].to_vec() }
}

pub(crate) fn respond(
    request: &ReadFile,
    metadata: FileMetadata,
    mut excerpt: Windowed,
    warnings: Vec<String>,
) -> Result<ReadFileResponse, WapError> {
    let content = String::from_utf8(std::mem::take(&mut excerpt.bytes))
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    respond_with(request, metadata, excerpt, content, warnings)
}

/// Responds with the text of an excerpt.
fn respond_with(
    request: &ReadFile,
    metadata: FileMetadata,
    excerpt: Windowed,
    content: String,
    mut warnings: Vec<String>,
) -> Result<ReadFileResponse, WapError> {
    check(request, &metadata, &excerpt)?;
    if !excerpt.is_whole {
        warnings.push(format!(
            "only the first {} of {} bytes were read, so totalLines is a lower bound and there is no version",
            excerpt.read_bytes, metadata.size
        ));
    }
    let mut response = ReadFileResponse {
        content,
        metadata,
        is_truncated: excerpt.is_truncated,
        total_lines: excerpt.total_lines,
        returned_lines: excerpt.returned_lines,
        version: excerpt.hash.as_ref().map(version),
        warnings,
    };
    let cut = response.cut_warning(request.start_line.unwrap_or(1).unsigned_abs());
    response.warnings.extend(cut);
    Ok(response.with_line_numbers(request))
}

pub(crate) fn metadata(path: &RelPath, metadata: &Metadata) -> FileMetadata {
    FileMetadata {
        path: path.to_string(),
        size: if metadata.is_folder() { 0 } else { metadata.size_bytes },
        is_directory: metadata.is_folder(),
        last_modified: iso(metadata.modified()),
    }
}

fn too_large(path: &RelPath, size: u64, limit: u64) -> WapError {
    let text =
        format!("'{path}' has {size} bytes, more than {limit}: read a range with startLine and endLine");
    WapError::new(Reason::FileTooLarge, text).with("size", size).with("limit", limit)
}

fn read_refused(error: &FsError, requested: &str) -> WapError {
    match error {
        // For a reader, a missing folder means a missing file.
        FsError::ParentMissing { .. } | FsError::NotAFolder { .. } => {
            WapError::new(Reason::FileNotFound, format!("'{requested}' does not exist"))
                .with("path", requested)
        }
        other => fs_read_error(other, requested),
    }
}

fn read_failed(requested: &str, error: &std::io::Error) -> WapError {
    WapError::new(Reason::ReadError, format!("'{requested}' cannot be read: {}", error.kind()))
        .with("path", requested)
}
