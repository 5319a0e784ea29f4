//! The header of a git bundle.

use std::io::{Cursor, Read};

use cocode_runner::BundleHeader;

/// Checks that a parsed header renders as itself, and that reading stops at its end and within the limit.
pub fn bundle_header(data: &[u8]) {
    let mut reader = Cursor::new(data);
    let Ok((header, bytes)) = BundleHeader::read(&mut reader) else { return };
    assert!(bytes <= BundleHeader::LIMIT_BYTES, "{bytes} bytes");
    assert!(header.prerequisites.len() <= BundleHeader::MOST_PREREQUISITES);
    assert_eq!(reader.position(), bytes, "the pack follows");
    let rendered = header.render().expect("a header that was read can be written");
    let (again, _) =
        BundleHeader::read(&mut rendered.as_bytes()).expect("a header that was written can be read");
    assert_eq!(again, header);
    let mut pack = Vec::new();
    reader.read_to_end(&mut pack).expect("bytes in memory");
    assert_eq!(bytes as usize + pack.len(), data.len());
}
