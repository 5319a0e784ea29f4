//! The lines of an agent's log.

use cocode_env::{LINE_LIMIT_BYTES, LogLine, LogStream};

/// Checks that the lines of a stream do not depend on its chunks, are bounded, and contain every byte except the line endings.
///
/// The first byte is the length of the pieces.
pub fn log_lines(data: &[u8]) {
    let Some((piece_bytes, bytes)) = data.split_first() else { return };
    let whole = lines(std::iter::once(bytes));
    assert_eq!(lines(bytes.chunks(usize::from(*piece_bytes) + 1)), whole, "a stream in pieces");
    for line in &whole {
        assert!(!line.contains('\n'));
        // An invalid byte becomes three.
        assert!(line.len() <= 3 * LINE_LIMIT_BYTES, "{} bytes", line.len());
        let parsed = LogLine::parse(line);
        if parsed.level.is_none() && parsed.timestamp.is_none() && parsed.fields.is_empty() {
            let is_structured = line.trim_start().starts_with('{');
            assert!(is_structured || parsed.message == line.strip_suffix('\r').unwrap_or(line), "{line:?}");
        }
    }
    if std::str::from_utf8(bytes).is_ok() {
        let ends = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
        let kept: usize = whole.iter().map(String::len).sum();
        assert!(kept <= bytes.len() && kept + ends >= bytes.len(), "{kept} of {} bytes", bytes.len());
    }
}

fn lines<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let (mut stream, mut lines) = (LogStream::new(), Vec::new());
    for piece in pieces {
        stream.push(piece, |line| lines.push(line.to_owned()));
    }
    stream.finish(|line| lines.push(line.to_owned()));
    lines
}
