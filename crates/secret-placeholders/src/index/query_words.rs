//! The words of a query, and whether a hit shows one of them.

/// The longest word of which no other form matches.
const SHORT: usize = 3;

/// The letters that the ending of another form of a word may take.
const ENDING: usize = 4;

/// The words of a query.
///
/// An index decides which words match. This matches at least as much as any does, and is for one whose hits are not chosen by the
/// visible text.
#[derive(Debug)]
pub(super) struct QueryWords {
    /// Words that stand in a text as they are, or not at all.
    short: Vec<String>,
    /// The beginnings that all forms of the other words have.
    beginnings: Vec<String>,
}

impl QueryWords {
    pub(super) fn of(query: &str) -> QueryWords {
        let (short, long): (Vec<String>, Vec<String>) =
            parts(query).into_iter().partition(|word| word.chars().count() <= SHORT);
        let beginning = |word: String| word.chars().take((word.chars().count() - ENDING).max(2)).collect();
        QueryWords { short, beginnings: long.into_iter().map(beginning).collect() }
    }

    /// Checks whether a text may have a word of the query.
    pub(super) fn may_stand_in(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        self.beginnings.iter().any(|word| lower.contains(word))
            || !self.short.is_empty() && parts(text).iter().any(|part| self.short.contains(part))
    }
}

/// Returns the names of a text and their parts, in small letters.
fn parts(text: &str) -> Vec<String> {
    let names = text.split(|character: char| !character.is_alphanumeric()).filter(|name| !name.is_empty());
    let mut parts = Vec::new();
    for name in names {
        let mut part = String::new();
        let mut last: Option<char> = None;
        for character in name.chars() {
            let begins = last.is_some_and(|last| {
                character.is_uppercase() && !last.is_uppercase()
                    || character.is_numeric() != last.is_numeric()
            });
            if begins {
                parts.push(std::mem::take(&mut part).to_lowercase());
            }
            part.push(character);
            last = Some(character);
        }
        parts.extend([part.to_lowercase(), name.to_lowercase()]);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_and_part_of_a_word_may_stand_in_a_text_and_another_word_may_not() {
        for (query, text) in [
            ("running", "fn run()"),
            ("carries", "carry"),
            ("parseHttpHeader", "an http request"),
            ("read_file utf8", "UTF 16"),
            ("k7", "K7"),
            ("k7", "k7"),
            ("größe", "GRÖSSE größe"),
        ] {
            assert!(QueryWords::of(query).may_stand_in(text), "{query}: {text}");
        }
        for (query, text) in
            [("k7m", "aws_secret_access_key"), ("qqq zzz", "token = "), ("", "anything"), ("?!", "?!")]
        {
            assert!(!QueryWords::of(query).may_stand_in(text), "{query}: {text}");
        }
    }
}
