//! Messages of one line each, up to a limit.

use std::io::{self, BufRead};

/// One line of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line that is in the buffer, without its ending.
    Whole,
    /// A line over the limit, which was skipped.
    TooLong,
    /// The end of the input.
    End,
}

/// Reads a line into `buffer`, which holds at most `limit_bytes` whatever arrives. A last line without an ending counts.
pub fn read_line(input: &mut impl BufRead, buffer: &mut Vec<u8>, limit_bytes: u64) -> io::Result<Line> {
    let limit = usize::try_from(limit_bytes).unwrap_or(usize::MAX);
    buffer.clear();
    // One message of many megabytes must not keep that memory allocated.
    buffer.shrink_to(1 << 20);
    let mut is_too_long = false;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(match (is_too_long, buffer.is_empty()) {
                (true, _) => Line::TooLong,
                (false, true) => Line::End,
                (false, false) => Line::Whole,
            });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let piece = &available[..end.unwrap_or(available.len())];
        is_too_long |= buffer.len() + piece.len() > limit;
        if is_too_long {
            // Frees the part that was read; the rest of the line is consumed without being kept.
            *buffer = Vec::new();
        } else {
            buffer.extend_from_slice(piece);
        }
        let used = end.map_or(available.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(if is_too_long { Line::TooLong } else { Line::Whole });
        }
    }
}
