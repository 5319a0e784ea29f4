//! An outbox in parts, for chats that limit the length of a paste.

use super::structure::{
    ANSWER, ASK_AGAIN, CONTEXT, FAILED, FILES, LISTING, NOTE, PROMPT, PROTOCOL, RESULTS, REVIEW, SUCCEEDED,
    SUGGESTED, UNREADABLE, WORK, fence_dashes,
};

/// The minimum value of the limit of a part, in characters.
pub const LEAST_PASTE_CHARACTERS: usize = 2_000;

/// The maximum number of characters of the lines around the text of a part.
const FRAME_CHARACTERS: usize = 150;

/// Divides an outbox into parts of at most `limit_characters` each, or [`LEAST_PASTE_CHARACTERS`] if that is more. A shorter
/// outbox stays whole.
///
/// Each part begins with a line with its number and the request to answer only after the last. Parts begin with a section, a
/// result or a file. If such a unit is too long for a part, it is divided between lines; only a line that is too long makes a
/// part exceed the limit.
#[must_use]
pub fn paste_parts(outbox: &str, limit_characters: usize) -> Vec<String> {
    let limit = limit_characters.max(LEAST_PASTE_CHARACTERS);
    if outbox.chars().nth(limit).is_none() {
        return vec![outbox.to_owned()];
    }
    let texts = packed(&blocks(outbox), limit - FRAME_CHARACTERS);
    let count = texts.len();
    let part = |(index, text): (usize, &String)| {
        let number = index + 1;
        let is_last = number == count;
        let which = if is_last { ", which is this one" } else { "" };
        // Only the last text may end within a line.
        let end = match is_last {
            true => String::new(),
            false => format!("Part {number} of {count} ends here: answer only after the last\n"),
        };
        format!("Part {number} of {count}: answer only after the last{which}\n\n{text}{end}")
    };
    texts.iter().enumerate().map(part).collect()
}

/// Joins blocks as long as they fit into the room, and divides longer blocks between their lines.
fn packed(blocks: &[&str], room: usize) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut left = 0;
    let mut put = |text: &str, characters: usize, left: &mut usize| {
        match texts.last_mut() {
            Some(last) if characters <= *left => last.push_str(text),
            _ => {
                texts.push(text.to_owned());
                *left = room;
            }
        }
        *left = left.saturating_sub(characters);
    };
    for block in blocks {
        let characters = block.chars().count();
        if characters <= room {
            put(block, characters, &mut left);
            continue;
        }
        for line in block.split_inclusive('\n') {
            put(line, line.chars().count(), &mut left);
        }
    }
    texts
}

/// Divides an outbox before each section, result and shown file, and after each file.
fn blocks(outbox: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut section = "";
    // The beginning of the line that closes the file.
    let mut closing: Option<String> = None;
    for line in outbox.split_inclusive('\n') {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let mut ends_after = false;
        let begins = match &closing {
            Some(end) => {
                ends_after = text.starts_with(end.as_str());
                false
            }
            None if SECTIONS.contains(&text) => {
                section = text;
                true
            }
            None if matches!(section, FILES | SUGGESTED) && fence_dashes(text) > 0 => {
                let is_closed = text.ends_with(UNREADABLE) || text.ends_with(ASK_AGAIN);
                closing = (!is_closed).then(|| format!("{} end ", "-".repeat(fence_dashes(text))));
                true
            }
            None => section == RESULTS && [SUCCEEDED, FAILED, NOTE].iter().any(|mark| text.starts_with(mark)),
        };
        if begins && at > start {
            blocks.push(&outbox[start..at]);
            start = at;
        }
        at += line.len();
        if ends_after {
            closing = None;
            blocks.push(&outbox[start..at]);
            start = at;
        }
    }
    blocks.extend((start < outbox.len()).then(|| &outbox[start..]));
    blocks
}

/// The lines before which a part may begin.
const SECTIONS: [&str; 10] =
    [PROTOCOL, CONTEXT, LISTING, SUGGESTED, RESULTS, FILES, WORK, REVIEW, ANSWER, PROMPT];
