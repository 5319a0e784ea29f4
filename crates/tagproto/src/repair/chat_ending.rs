//! Lines that chat windows add to an answer that was cut off: the end of its code block, and the label of a button or a note.
//! Also the marks with which models end a text.

use crate::repair::fence::Fence;

/// Labels in lower case, without the punctuation around them.
const LABELS: [&str; 8] = [
    "continue",
    "continue generating",
    "continue response",
    "response truncated",
    "output truncated",
    "message truncated",
    "truncated",
    "generation stopped",
];

/// The marks with which models end a text, which some programs leave in it.
const END_OF_TEXT: [&str; 9] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|end|>",
    "<|return|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<end_of_turn>",
    "</s>",
    "<eos>",
];

/// Returns a text without such marks at its end.
pub(crate) fn without_end_of_text(text: &str) -> &str {
    let mut rest = text;
    while let Some(shorter) = END_OF_TEXT.iter().find_map(|mark| rest.trim_end().strip_suffix(mark)) {
        rest = shorter;
    }
    rest
}

/// Returns a text without such lines and whitespace at its end. A text that was not cut off may contain them itself.
pub(crate) fn without_chat_ending(text: &str) -> &str {
    let mut text = without_end_of_text(text).trim_end();
    loop {
        let start = text.rfind('\n').map_or(0, |lf| lf + 1);
        if !is_added(text[start..].trim()) {
            return text;
        }
        text = text[..start].trim_end();
    }
}

fn is_added(line: &str) -> bool {
    let label = line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    Fence::read(line).is_some_and(Fence::is_bare) || LABELS.contains(&&*label)
}

#[cfg(test)]
mod tests {
    use super::{without_chat_ending, without_end_of_text};

    #[test]
    fn marks_of_the_end_are_left_out() {
        for (text, rest) in [("a</s>", "a"), ("a\n<|im_end|>\n</s>\n", "a\n"), ("a </s> b\n", "a </s> b\n")] {
            assert_eq!(without_end_of_text(text), rest);
        }
    }

    #[test]
    fn fences_and_labels_at_the_end_are_left_out() {
        for added in
            ["", "\n", "\n```", "\n~~~~\n\n", "\n```\n\nContinue generating\n", "\n[Response truncated]"]
        {
            assert_eq!(without_chat_ending(&format!("a\nline thr{added}")), "a\nline thr", "{added:?}");
        }
        for kept in ["a\n```text", "a\ncontinue with b", "", "a\nline"] {
            assert_eq!(without_chat_ending(kept), kept);
        }
    }
}
