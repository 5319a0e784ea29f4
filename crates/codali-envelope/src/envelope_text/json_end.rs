//! Finds the end of a JSON object.

/// Scans JSON up to its closing bracket. Each byte is scanned once.
#[derive(Debug, Default)]
pub(super) struct JsonEnd {
    depth: usize,
    is_text: bool,
    is_escaped: bool,
}

/// Creates a scanner that starts before the first bracket.
pub(super) fn json_end() -> JsonEnd {
    JsonEnd::default()
}

impl JsonEnd {
    /// Scans the next line; returns the offset after the closing bracket if the object ends there.
    pub(super) fn push(&mut self, line: &str) -> Option<usize> {
        for (at, byte) in line.bytes().enumerate() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_text => self.is_escaped = true,
                b'"' => self.is_text = !self.is_text,
                _ if self.is_text => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
