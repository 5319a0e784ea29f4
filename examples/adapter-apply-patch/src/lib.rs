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
//! All files of a patch are changed, or none is. `@@ line` says after which line a chunk's lines stand; without it they have
//! to stand in the rest of the file once. Lines are found by the matching of `text-edit`, and nothing is matched loosely: a
//! chunk that fits only but for its blanks is refused, and the refusal says what the file has, or what is most like it. `*** Move to:` and `*** End of File` are understood. Blank lines may stand between the
//! parts of a patch, all of it may be indented, and headers may be indented where no update is before them.

mod apply;
mod draft;
mod parse;
mod position;

pub use apply::{Refusal, apply};
pub use parse::{Chunk, ParseError, Section, parse};
