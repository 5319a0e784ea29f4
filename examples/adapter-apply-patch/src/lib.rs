//! The patch format that Codex models write, over any [`Workspace`](wap_core::Workspace).
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/greet.py
//! @@ def greet():
//! -    print("hi")
//! +    print("hello")
//! *** Add File: notes.txt
//! +a note
//! *** Delete File: old.txt
//! *** End Patch
//! ```
//!
//! All files of a patch are changed, or none is. `@@ line` names the line after which a chunk's lines are; without it they must
//! occur once in the rest of the file. `text-edit` finds the lines, and nothing is matched loosely: a chunk that fits except
//! for its blanks is refused, and the refusal shows the lines of the file, or the most similar ones. `*** Move to:` and
//! `*** End of File` are understood. Blank lines may separate the parts of a patch, all of it may be indented, and headers may
//! be indented where no update is before them.

mod apply;
mod draft;
mod parse;
mod position;

pub use apply::{Refusal, apply};
pub use parse::{Chunk, ParseError, Section, parse};
