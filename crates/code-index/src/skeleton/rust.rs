//! Rust.

use memchr::memmem;

use super::{Content, Cuts, is_name_byte, past_line_comments, past_name, past_quoted, past_space};

/// Returns the ranges that may be cut from a text.
pub(super) fn cuts(text: &[u8]) -> Vec<(usize, usize)> {
    let mut scan = Scan {
        text,
        cuts: Cuts::default(),
        next: Content::Idle,
        is_in_use: false,
        is_in_impl: false,
        value: None,
        is_broken: false,
    };
    let mut at = 0;
    while at < text.len() {
        at = scan.step(at);
    }
    scan.cuts.ranges
}

/// A shorter list in brackets may be an array type.
const LONG_LIST_BYTES: usize = 256;

/// The longest type of a constant that is scanned for the start of its value.
const LONGEST_TYPE_BYTES: usize = 200;

struct Scan<'t> {
    text: &'t [u8],
    cuts: Cuts,
    /// The relevance of the next group.
    next: Content,
    /// True between `use` and its semicolon, where groups contain names.
    is_in_use: bool,
    /// True between `impl` and its brace, where groups are types.
    is_in_impl: bool,
    /// The offset at which the value of the current constant begins.
    value: Option<usize>,
    /// True after an attribute without an end, so that the text is not scanned to its end again.
    is_broken: bool,
}

impl Scan<'_> {
    /// Scans the token at an offset and returns the next offset, which is always larger.
    fn step(&mut self, at: usize) -> usize {
        let text = self.text;
        match text[at] {
            b'{' => {
                let content = if self.is_in_use {
                    Content::Relevant
                } else if self.next != Content::Idle && self.ends_with(at, b"=") {
                    // The default value of a const parameter of an enum is not its body.
                    Content::Idle
                } else {
                    std::mem::replace(&mut self.next, Content::Idle)
                };
                self.is_in_impl = false;
                self.cuts.open(b'}', at + 1, content);
                at + 1
            }
            b'(' => {
                // `pub(` does not parse without its content.
                let is_kept = self.is_in_impl || self.ends_with(at, b"pub");
                let content = match self.next {
                    Content::Opaque => std::mem::replace(&mut self.next, Content::Idle),
                    Content::Idle if is_kept => Content::Kept,
                    other => other,
                };
                self.cuts.open(b')', at + 1, content);
                at + 1
            }
            b'[' => {
                let is_list = self.ends_with(at, b"=") || self.ends_with(at, b"= &");
                let content = if is_list { Content::Idle } else { Content::Kept };
                self.cuts.open(b']', at + 1, content);
                at + 1
            }
            b']' => {
                if let Some(group) = self.cuts.open.last_mut()
                    && group.content == Content::Idle
                    && at - group.start < LONG_LIST_BYTES
                    && group.closing == b']'
                {
                    group.content = Content::Kept;
                }
                self.cuts.close(b']', at);
                at + 1
            }
            closing @ (b'}' | b')') => {
                self.cuts.close(closing, at);
                at + 1
            }
            // A constant parses without its value.
            b'=' if self.value == Some(at) => {
                self.cuts.open(b';', at, Content::Idle);
                at + 1
            }
            b';' => {
                self.cuts.close(b';', at);
                let is_in_list = self.cuts.open.last().is_some_and(|group| group.closing == b']');
                if !is_in_list {
                    (self.next, self.is_in_use, self.is_in_impl) = (Content::Idle, false, false);
                }
                at + 1
            }
            b'#' => self.past_attribute(at),
            b'"' => past_quoted(text, at + 1, b'"'),
            b'\'' => self.past_apostrophe(at),
            b'/' if text[at..].starts_with(b"//") => {
                let end = past_line_comments(text, at);
                self.cuts.cut(at, end);
                end
            }
            b'/' if text[at..].starts_with(b"/*") => {
                let end = past_block_comment(text, at);
                // The delimiters stay, to separate the tokens around the comment.
                self.cuts.cut(at + 2, end.saturating_sub(2));
                end
            }
            byte if is_name_byte(byte) => self.past_name(at),
            _ => at + 1,
        }
    }

    /// Returns the offset of the `=` of a constant, if the keyword in `at..end` begins one with a simple type.
    fn value_of_constant(&self, at: usize, end: usize) -> Option<usize> {
        let text = self.text;
        // A const parameter of a type follows one of these.
        if matches!(text[..at].trim_ascii_end().last(), Some(b'<' | b',' | b'(')) {
            return None;
        }
        let mut name = past_space(text, end);
        if text[name..].starts_with(b"mut ") {
            name = past_space(text, name + 4);
        }
        let colon = past_name(text, name);
        if colon == name || text.get(colon) != Some(&b':') {
            return None;
        }
        let mut depth = 0_usize;
        for (index, byte) in text[colon..].iter().enumerate().take(LONGEST_TYPE_BYTES) {
            match byte {
                b'[' => depth += 1,
                b']' => depth = depth.checked_sub(1)?,
                b'=' => return (depth == 0).then_some(colon + index),
                b';' if depth > 0 => {}
                b';' | b'{' | b'}' | b'<' | b'>' | b'"' | b'\'' | b'/' => return None,
                _ => {}
            }
        }
        None
    }

    /// Returns true if the text before an offset ends with `wanted`, ignoring white space between.
    fn ends_with(&self, at: usize, wanted: &[u8]) -> bool {
        self.text[..at].trim_ascii_end().ends_with(wanted)
    }

    /// Cuts an attribute, unless it names a file.
    fn past_attribute(&mut self, at: usize) -> usize {
        let text = self.text;
        let bracket = at + 1 + usize::from(text.get(at + 1) == Some(&b'!'));
        if text.get(bracket) != Some(&b'[') || self.is_broken {
            return at + 1;
        }
        let inside = past_space(text, bracket + 1);
        if text[inside..].starts_with(b"path") {
            return bracket + 1;
        }
        let mut depth = 0_usize;
        let mut end = bracket;
        while let Some(byte) = text.get(end) {
            match byte {
                b'[' => {
                    depth += 1;
                    end += 1;
                }
                b']' => {
                    depth -= 1;
                    end += 1;
                    if depth == 0 {
                        if memmem::find(&text[bracket..end], b"include").is_some() {
                            self.cuts.mark_relevant();
                        } else {
                            self.cuts.cut(at, end);
                        }
                        return end;
                    }
                }
                b'"' => end = past_quoted(text, end + 1, b'"'),
                b'\'' => end = self.past_apostrophe(end),
                b'r' => {
                    let name = past_name(text, end);
                    let is_raw = name == end + 1 && matches!(text.get(name), Some(b'"' | b'#'));
                    end = if is_raw { past_raw(text, name) } else { name };
                }
                byte if is_name_byte(*byte) => end = past_name(text, end),
                _ => end += 1,
            }
        }
        self.is_broken = true;
        bracket
    }

    fn past_name(&mut self, at: usize) -> usize {
        let text = self.text;
        let end = past_name(text, at);
        let follows = |end: usize| text.get(end).copied().unwrap_or(b' ');
        match (&text[at..end], follows(end)) {
            (b"r" | b"br" | b"cr", b'"' | b'#') => return past_raw(text, end),
            (name, b'!') => {
                let is_rules = name == b"macro_rules";
                let mut brace = past_space(text, end + 1);
                if is_rules {
                    brace = past_space(text, past_name(text, brace));
                }
                // These name files, which makes them imports.
                if matches!(name, b"include" | b"include_str" | b"include_bytes") {
                    self.next = Content::Relevant;
                    self.cuts.mark_relevant();
                } else if matches!(follows(brace), b'{' | b'(') {
                    // The parser sees only tokens in a macro call.
                    self.next = Content::Opaque;
                }
                if is_rules {
                    self.cuts.mark_relevant();
                }
            }
            (b"enum", _) => {
                self.next = Content::Relevant;
                self.cuts.mark_relevant();
            }
            (b"use", _) => {
                self.is_in_use = true;
                self.cuts.mark_relevant();
            }
            (b"const" | b"static", _) if !text[..at].ends_with(b"*") => {
                self.cuts.mark_relevant();
                self.value = self.value_of_constant(at, end);
            }
            // `fn(u8)` is a type, and `union` is also an ordinary name.
            (b"fn" | b"union", _) if is_name_byte(follows(past_space(text, end))) => {
                self.cuts.mark_relevant()
            }
            (b"impl", _) => {
                self.is_in_impl = true;
                self.cuts.mark_relevant();
            }
            (b"struct" | b"trait" | b"type" | b"mod" | b"extern", _) => self.cuts.mark_relevant(),
            _ => {}
        }
        end
    }

    /// Returns the end of a character literal or a lifetime.
    fn past_apostrophe(&self, at: usize) -> usize {
        let text = self.text;
        match text.get(at + 1) {
            Some(b'\\') => past_quoted(text, at + 1, b'\''),
            Some(first) => {
                // A lifetime has no closing apostrophe after its first character, unlike a literal.
                let length = match first {
                    0xf0.. => 4,
                    0xe0.. => 3,
                    0xc0.. => 2,
                    _ => 1,
                };
                if text.get(at + 1 + length) == Some(&b'\'') {
                    at + 2 + length
                } else {
                    past_name(text, at + 1)
                }
            }
            None => at + 1,
        }
    }
}

/// Returns the end of a raw string or a raw identifier; `at` is after its prefix.
fn past_raw(text: &[u8], at: usize) -> usize {
    // Without a quote after the hashes it is a raw identifier, such as `r#type`.
    let hashes = text[at..].iter().take_while(|byte| **byte == b'#').count();
    if text.get(at + hashes) != Some(&b'"') {
        return past_name(text, at + hashes);
    }
    let mut from = at + hashes + 1;
    while let Some(length) = memchr::memchr(b'"', &text[from..]) {
        from += length + 1;
        let closing = text[from..].iter().take(hashes).take_while(|byte| **byte == b'#').count();
        if closing == hashes {
            return from + hashes;
        }
    }
    text.len()
}

/// Returns the end of a block comment, which may contain others.
fn past_block_comment(text: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut from = at;
    while let Some(length) = memchr::memchr2(b'/', b'*', &text[from..]) {
        let position = from + length;
        match &text[position..text.len().min(position + 2)] {
            b"/*" => {
                depth += 1;
                from = position + 2;
            }
            b"*/" if depth <= 1 => return position + 2,
            b"*/" => {
                depth -= 1;
                from = position + 2;
            }
            _ => from = position + 1,
        }
    }
    text.len()
}
