//! The words of a query, to check whether a hit shows one of them.

/// The longest word that matches only in its exact form.
const SHORT: usize = 3;

/// The maximum number of letters in an inflected ending.
const ENDING: usize = 4;

/// The words of a query.
///
/// Each index has its own rules for matching words. This type matches at least as much as any of them, for indexes that
/// do not choose hits by the visible text.
#[derive(Debug)]
pub(super) struct QueryWords {
    /// Words that match only exactly.
    short: Vec<String>,
    /// The common beginnings of all forms of the other words.
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

/// Returns the names of a text and their parts, in lower case.
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
    fn every_form_and_part_of_a_word_may_occur_in_a_text_and_another_word_may_not() {
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
