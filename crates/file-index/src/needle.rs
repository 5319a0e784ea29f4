//! The texts that a file must contain so that a query can match in it.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::gram::{Gram, gram_of};

/// The most grams of one text that are looked up; more add no selectivity.
const MOST_OF_A_TEXT: usize = 64;

/// The most grams of a query. One with more is answered by scanning.
const MOST_GRAMS: usize = 1024;

/// The most texts into which a part of an expression is expanded.
const MOST_TEXTS: usize = 32;

/// The most bytes of those texts together.
const MOST_TEXT_BYTES: usize = 128 << 10;

/// The largest class of characters that is expanded.
const LARGEST_CLASS: usize = 16;

/// The texts that a file must contain so that a query can match on one of its lines.
///
/// ```
/// use file_index::Needle;
///
/// assert!(Needle::literal(b"needle").is_selective());
/// assert!(Needle::expression(r"fn \w+_ledger\(").is_selective());
/// assert!(!Needle::literal(b"if").is_selective());
/// assert!(!Needle::expression(r"\w+").is_selective());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needle(Part);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Any file can match.
    Anything,
    Gram(Gram),
    All(Vec<Part>),
    Any(Vec<Part>),
}

impl Needle {
    /// Returns the needle of a literal query.
    #[must_use]
    pub fn literal(text: &[u8]) -> Needle {
        Needle(grams_of(text)).bounded()
    }

    /// Returns the needle of a regular expression of the crate `regex` that matches within lines. If it
    /// cannot be parsed, any file can match.
    #[must_use]
    pub fn expression(expression: &str) -> Needle {
        let parsed = ParserBuilder::new().utf8(false).multi_line(true).crlf(true).build().parse(expression);
        let part = parsed.map_or(Part::Anything, |hir| Language::of(&hir).opened().part);
        Needle(part).bounded()
    }

    /// Returns the needle of an unknown query: any file can match.
    #[must_use]
    pub fn anything() -> Needle {
        Needle(Part::Anything)
    }

    /// Returns whether the needle rules out any file.
    #[must_use]
    pub fn is_selective(&self) -> bool {
        self.0 != Part::Anything
    }

    /// Returns the files that can match, as a bit each. `row` returns the files that have a gram.
    pub(crate) fn lanes(&self, row: &impl Fn(Gram) -> u64) -> u64 {
        self.0.lanes(row)
    }

    fn bounded(self) -> Needle {
        if self.0.count() > MOST_GRAMS { Needle::anything() } else { self }
    }
}

impl Part {
    fn lanes(&self, row: &impl Fn(Gram) -> u64) -> u64 {
        match self {
            Part::Anything => u64::MAX,
            Part::Gram(gram) => row(*gram),
            Part::All(parts) => {
                let mut lanes = u64::MAX;
                for part in parts {
                    lanes &= part.lanes(row);
                    if lanes == 0 {
                        break;
                    }
                }
                lanes
            }
            Part::Any(parts) => parts.iter().fold(0, |lanes, part| lanes | part.lanes(row)),
        }
    }

    fn count(&self) -> usize {
        match self {
            Part::Anything => 0,
            Part::Gram(_) => 1,
            Part::All(parts) | Part::Any(parts) => parts.iter().map(Part::count).sum(),
        }
    }

    fn and(self, other: Part) -> Part {
        match (self, other) {
            // "Anything" adds no requirement to a conjunction, and makes a disjunction useless.
            (Part::Anything, part) | (part, Part::Anything) => part,
            (Part::All(mut parts), Part::All(more)) => {
                parts.extend(more.into_iter().filter(|part| !parts.contains(part)).collect::<Vec<_>>());
                Part::All(parts)
            }
            (Part::All(mut parts), part) | (part, Part::All(mut parts)) => {
                if !parts.contains(&part) {
                    parts.push(part);
                }
                Part::All(parts)
            }
            (part, other) if part == other => part,
            (part, other) => Part::All(vec![part, other]),
        }
    }

    fn or(self, other: Part) -> Part {
        match (self, other) {
            (Part::Anything, _) | (_, Part::Anything) => Part::Anything,
            (Part::Any(mut parts), Part::Any(more)) => {
                parts.extend(more);
                Part::Any(parts)
            }
            (Part::Any(mut parts), part) | (part, Part::Any(mut parts)) => {
                parts.push(part);
                Part::Any(parts)
            }
            (part, other) if part == other => part,
            (part, other) => Part::Any(vec![part, other]),
        }
    }
}

/// Returns all grams of a text; of a long one, a sample spread over its length.
fn grams_of(text: &[u8]) -> Part {
    let Some(count) = text.len().checked_sub(2).filter(|count| *count > 0) else { return Part::Anything };
    // The sample is spread over the text, because neighbouring grams of prose tend to occur together.
    let step = count.div_ceil(MOST_OF_A_TEXT);
    let mut parts: Vec<Part> = Vec::new();
    for run in text.windows(3).step_by(step) {
        let part = Part::Gram(gram_of([run[0], run[1], run[2]]));
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    if parts.len() == 1 { parts.remove(0) } else { Part::All(parts) }
}

/// Requires one of the texts.
fn any_of(texts: &[Vec<u8>]) -> Part {
    texts.iter().map(|text| grams_of(text)).reduce(Part::or).unwrap_or(Part::Anything)
}

/// Facts about the texts that an expression matches.
#[derive(Clone, Debug)]
struct Language {
    /// Exactly these texts, if they are few.
    exact: Option<Vec<Vec<u8>>>,
    /// Each text begins with one of these. Empty where `exact` is set.
    beginnings: Vec<Vec<u8>>,
    /// Each text ends with one of these.
    endings: Vec<Vec<u8>>,
    /// The grams that each text contains.
    part: Part,
}

impl Language {
    fn of(hir: &Hir) -> Language {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Language::exactly(vec![Vec::new()]),
            HirKind::Literal(literal) => Language::exactly(vec![literal.0.to_vec()]),
            HirKind::Class(class) => texts_of(class).map_or_else(Language::unknown, Language::exactly),
            HirKind::Capture(capture) => Language::of(&capture.sub),
            HirKind::Repetition(repetition) => {
                let sub = || Language::of(&repetition.sub);
                match (repetition.min, repetition.max) {
                    // An optional part may be absent, so nothing in it is required; the empty text says so.
                    (0, Some(1)) => sub().or(Language::exactly(vec![Vec::new()])),
                    // With zero repetitions allowed, no text of the part is required.
                    (0, _) => Language::unknown(),
                    (min, Some(max)) if min == max && min <= 8 => {
                        let sub = sub();
                        (1..min).fold(sub.clone(), |all, _| all.then(sub.clone()))
                    }
                    // It begins and ends with the repeated part, whatever comes between.
                    _ => sub().opened(),
                }
            }
            HirKind::Concat(parts) => {
                parts.iter().map(Language::of).reduce(Language::then).unwrap_or_else(Language::unknown)
            }
            HirKind::Alternation(parts) => {
                parts.iter().map(Language::of).reduce(Language::or).unwrap_or_else(Language::unknown)
            }
        }
    }

    fn exactly(texts: Vec<Vec<u8>>) -> Language {
        Language { exact: Some(texts), beginnings: Vec::new(), endings: Vec::new(), part: Part::Anything }
    }

    fn unknown() -> Language {
        let nothing = vec![Vec::new()];
        Language { exact: None, beginnings: nothing.clone(), endings: nothing, part: Part::Anything }
    }

    /// Converts exact texts into beginnings, endings and grams.
    fn opened(self) -> Language {
        match self.exact {
            None => self,
            Some(texts) => Language {
                exact: None,
                part: self.part.and(any_of(&texts)),
                beginnings: beginnings(texts.clone()),
                endings: endings(texts),
            },
        }
    }

    fn then(self, next: Language) -> Language {
        // As long as both parts are short lists of texts, the whole can be listed as well, which keeps every
        // gram.
        if let (Some(texts), Some(more)) = (&self.exact, &next.exact)
            && let Some(both) = joined(texts, more)
        {
            return Language::exactly(both);
        }
        // A text that spans the seam of both has grams of its own.
        let last = self.exact.as_ref().unwrap_or(&self.endings);
        let first = next.exact.as_ref().unwrap_or(&next.beginnings);
        // The texts of both sides meet at the seam; those of an open side are cut to two bytes.
        let meeting = joined(last, first);
        let part = meeting.as_deref().map_or(Part::Anything, any_of);
        let first_texts = match (&self.exact, &meeting) {
            (Some(_), Some(meeting)) => beginnings(meeting.clone()),
            (Some(texts), None) => beginnings(texts.clone()),
            (None, _) => self.beginnings.clone(),
        };
        let last_texts = match (&next.exact, &meeting) {
            (Some(_), Some(meeting)) => endings(meeting.clone()),
            (Some(texts), None) => endings(texts.clone()),
            (None, _) => next.endings.clone(),
        };
        let part = part.and(self.opened().part).and(next.opened().part);
        Language { exact: None, beginnings: first_texts, endings: last_texts, part }
    }

    fn or(self, other: Language) -> Language {
        if let (Some(texts), Some(more)) = (&self.exact, &other.exact)
            && texts.len() + more.len() <= MOST_TEXTS
        {
            return Language::exactly([texts.as_slice(), more].concat());
        }
        let (one, other) = (self.opened(), other.opened());
        Language {
            exact: None,
            beginnings: beginnings([one.beginnings, other.beginnings].concat()),
            endings: endings([one.endings, other.endings].concat()),
            part: one.part.or(other.part),
        }
    }
}

/// Concatenates every text with every other; returns `None` if there are too many.
fn joined(texts: &[Vec<u8>], more: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let bytes = |texts: &[Vec<u8>]| texts.iter().map(Vec::len).sum::<usize>();
    let all_bytes = bytes(texts) * more.len() + bytes(more) * texts.len();
    if texts.len() * more.len() > MOST_TEXTS || all_bytes > MOST_TEXT_BYTES {
        return None;
    }
    Some(texts.iter().flat_map(|text| more.iter().map(|more| [text.as_slice(), more].concat())).collect())
}

/// Returns the first two bytes of each: a gram that spans the seam has no more of them.
fn beginnings(texts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    few(texts, |text| text.truncate(2))
}

fn endings(texts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    few(texts, |text| drop(text.drain(..text.len().saturating_sub(2))))
}

fn few(mut texts: Vec<Vec<u8>>, shorten: impl Fn(&mut Vec<u8>)) -> Vec<Vec<u8>> {
    texts.iter_mut().for_each(shorten);
    texts.sort_unstable();
    texts.dedup();
    // The empty text stands for "anything": too many beginnings select no better.
    if texts.len() > MOST_TEXTS { vec![Vec::new()] } else { texts }
}

/// Returns the characters of a class, if they are few.
fn texts_of(class: &Class) -> Option<Vec<Vec<u8>>> {
    match class {
        Class::Unicode(class) => {
            let mut texts = Vec::new();
            for range in class.ranges() {
                if range.len() + texts.len() > LARGEST_CLASS {
                    return None;
                }
                texts.extend((range.start()..=range.end()).map(|one| one.to_string().into_bytes()));
            }
            Some(texts)
        }
        Class::Bytes(class) => {
            let mut texts = Vec::new();
            for range in class.ranges() {
                if range.len() + texts.len() > LARGEST_CLASS {
                    return None;
                }
                texts.extend((range.start()..=range.end()).map(|one| vec![one]));
            }
            Some(texts)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::bytes::RegexBuilder;

    use super::*;
    use crate::gram::GramCollector;
    use crate::signatures::Signatures;

    fn is_candidate(needle: &Needle, content: &[u8]) -> bool {
        let mut signatures = Signatures::default();
        signatures.add(7, GramCollector::new().collect(content));
        let mut is_candidate = false;
        signatures.candidates(needle, |_| is_candidate = true);
        is_candidate
    }

    #[test]
    fn expressions_with_required_text_are_selective() {
        let selective = [
            "needle",
            r"fn \w+_ledger\(",
            "(?i)needle",
            "(one|two|three)",
            "x(abc|abd)+y",
            "[ab]cd",
            "n.?eedle",
            "(abc){2,}",
            r"\bthe\b",
            "a(b|c)d",
        ];
        for expression in selective {
            assert!(Needle::expression(expression).is_selective(), "{expression}");
        }
        for expression in ["", "ab", ".*", "(one|t)", "(abc)?", "[a-z]{9}", "a.b.c", "(", "(?i)[a-z]"] {
            assert!(!Needle::expression(expression).is_selective(), "{expression}");
        }
    }

    #[test]
    fn file_without_the_text_is_not_a_candidate() {
        let cases = [
            ("needle", "haystack"),
            ("fn .*_ledger", "fn reconcile_ledgre"),
            ("(?i)NEEDLE", "nee dle"),
            ("one two|three four", "ones twos three\nfour"),
            ("x[ab]y", "xcy xay\u{0}"),
        ];
        for (expression, content) in &cases[..4] {
            assert!(!is_candidate(&Needle::expression(expression), content.as_bytes()), "{expression}");
        }
        assert!(is_candidate(&Needle::expression(cases[4].0), cases[4].1.as_bytes()));
    }

    /// Expressions over few letters, so that they match often.
    fn expression() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "[abk]{1,5}",
            Just(".".to_owned()),
            Just("[ab]".to_owned()),
            Just("[^a]".to_owned()),
            Just(r"\w".to_owned()),
            Just(r"\b".to_owned()),
            Just("^".to_owned()),
            Just("$".to_owned()),
            Just("é".to_owned()),
            Just(r"\s".to_owned()),
            Just("(?i:kb)".to_owned()),
        ];
        leaf.prop_recursive(5, 40, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
                proptest::collection::vec(inner.clone(), 1..4)
                    .prop_map(|parts| format!("({})", parts.join("|"))),
                (inner, prop::sample::select(vec!["?", "*", "+", "{2}", "{1,3}", "{3,}", "{0,2}", "+?"]))
                    .prop_map(|(part, count)| format!("(?:{part}){count}")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn whatever_matches_on_a_line_is_a_candidate(
            expression in expression(),
            lines in proptest::collection::vec("[abkKé\u{212a} \r]{0,12}", 0..12),
            before_mark in any::<bool>(),
        ) {
            let regex = RegexBuilder::new(&expression).multi_line(true).crlf(true).build();
            prop_assume!(regex.is_ok());
            let regex = regex.unwrap();
            let content = format!("{}{}", if before_mark { "\u{feff}" } else { "" }, lines.join("\n"));
            let matches = lines.iter().any(|line| regex.is_match(line.as_bytes()));
            let needle = Needle::expression(&expression);
            prop_assert!(!matches || is_candidate(&needle, content.as_bytes()), "{expression}: {needle:?}");
        }

        #[test]
        fn text_is_found_where_it_is(before in "[a-d\n]{0,40}", text in "[a-d]{1,90}", after in "[a-d\n]{0,40}") {
            let content = format!("{before}{text}{after}");
            prop_assert!(is_candidate(&Needle::literal(text.as_bytes()), content.as_bytes()));
        }
    }
}
