//! A rule that finds values in a line.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use nosecrets_rules::{Rule, RuleValidate};
use regex::{Regex, RegexBuilder};

use super::Span;
use super::check::Check;
use super::field::Field;
use super::joint::end_between;
use crate::addresses::is_template;

/// The end of the rules for addresses with a password: the host name up to a space. Its first byte is enough, and
/// another address may follow without a space.
pub(super) const HOST: &str = r#"@[^ \n'\"]+"#;

/// The maximum number of matches of a rule on a line: a rejected value may reach the end of the line and contain the
/// next one. The rest of the line is hidden then.
pub(super) const MOST_LOOKS: usize = 32;

/// The cost of judging a byte of a value, relative to searching it.
pub(super) const COST_OF_JUDGING: usize = 2;

/// The beginning of a pattern whose value starts a word, and the alternative: a word, or an escape that ends with a
/// letter or a digit, as in JSON (`\n`), in an address (`%3D`) and in a written-out colour sequence (`\e[1m`).
const WORD_START: &str = r"\b";
const ESCAPE: &str =
    r"(?:\b|_|\\(?:[nrtbfave0]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[0-3][0-7]{2})|\[[0-9;]*[mK]|%[0-9A-Fa-f]{2})";

#[derive(Debug)]
pub(super) struct CompiledRule {
    pub(super) kind: Arc<str>,
    pub(super) pattern: Pattern,
    /// The pattern without the alternative before the value: few lines need that, and the search is faster without.
    pub(super) within_words: Option<Pattern>,
    group: usize,
    validation: Validation,
    pub(super) allowed: Vec<Pattern>,
    allowed_values: Vec<String>,
    check: Check,
}

/// The pattern of a rule. Compiled on first use: compiling all takes longer than starting the program, and a text has
/// keywords of few.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    compiled: OnceLock<Regex>,
}

/// The bounds of a rule's value.
#[derive(Debug, Default)]
struct Validation {
    prefixes: Vec<String>,
    lengths: Option<(usize, usize)>,
}

/// The part of a match that is its value.
struct Value {
    range: Range<usize>,
    counts: bool,
}

impl CompiledRule {
    pub(super) fn of(rule: &Rule, check: Option<Check>) -> CompiledRule {
        let allow = rule.allow.as_ref();
        let pattern = if is_address(rule) { rule.pattern.trim_end_matches('+') } else { &rule.pattern };
        let (flags, rest) = pattern.strip_prefix("(?i)").map_or(("", pattern), |rest| ("(?i)", rest));
        let rest = rest.strip_prefix(WORD_START);
        CompiledRule {
            kind: rule.id.as_str().into(),
            pattern: rest
                .map_or_else(|| Pattern::of(pattern), |rest| Pattern::of(&[flags, ESCAPE, rest].concat())),
            within_words: rest.map(|rest| Pattern::of(&[flags, rest].concat())),
            group: rule.capture,
            validation: rule.validate.as_ref().map(Validation::of).unwrap_or_default(),
            allowed: allow.iter().flat_map(|allow| &allow.patterns).map(|text| Pattern::of(text)).collect(),
            allowed_values: allow.map(|allow| allow.values.clone()).unwrap_or_default(),
            check: check.unwrap_or(if is_address(rule) { Check::OfAddress } else { Check::None }),
        }
    }

    /// Finds the values of a line, which begins at `offset` of the text. Returns how many bytes were examined: no
    /// pattern needs more than a few bytes after a match to end it.
    pub(super) fn find(&self, line: &str, offset: usize, hits: &mut Vec<Span>) -> usize {
        if self.within_words.as_ref().is_some_and(|pattern| !pattern.get().is_match(line)) {
            return line.len();
        }
        let pattern = self.pattern.get();
        let kind = || Cow::Owned(self.kind.to_string());
        let most = line.len().saturating_mul(MOST_LOOKS);
        let line_end = line.trim_end().len();
        let (mut from, mut looked_at) = (0, 0);
        while let Some((whole, group)) = self.next_match(pattern, line, from) {
            looked_at += whole.end - from;
            let value = self.value(&line[..line_end], &whole, group, &mut looked_at);
            if whole.is_empty() {
                break;
            }
            let Some(Value { range, counts: true, .. }) = value else {
                // A match without a value may contain the name of another: `password: 'the password: '…`.
                let start = value.map_or(whole.end, |value| value.range.start);
                from = if start > whole.start { start } else { whole.end };
                if looked_at > most {
                    let end = line.trim_end_matches(['\n', '\r']).len().max(from);
                    hits.push(Span { range: offset + from..offset + end, kind: kind() });
                    return looked_at;
                }
                continue;
            };
            from = range.end.max(whole.end);
            hits.push(Span { range: offset + range.start..offset + range.end, kind: kind() });
        }
        looked_at + line.len() - from
    }

    /// Returns the range of the next match and of its group: the value, or the name of a field.
    fn next_match(
        &self,
        pattern: &Regex,
        line: &str,
        mut from: usize,
    ) -> Option<(Range<usize>, Range<usize>)> {
        if !self.check.reads_field() {
            let captures = pattern.captures_at(line, from)?;
            let whole = captures.get_match().range();
            return Some((
                whole.clone(),
                captures.get(self.group).map_or(whole.end..whole.end, |group| group.range()),
            ));
        }
        loop {
            // A separate step: locating a group takes many times as long as finding the match.
            let name = pattern.find_at(line, from)?.range();
            if let Some(end) = end_between(line, name.end) {
                return Some((name.start..end, name));
            }
            from = name.start + 1;
        }
    }

    /// Returns the value of a match; `None` if it has none. Adds the bytes examined after the match to `looked_at`.
    fn value(
        &self,
        line: &str,
        whole: &Range<usize>,
        group: Range<usize>,
        looked_at: &mut usize,
    ) -> Option<Value> {
        if self.check.reads_field() {
            let field = Field::read(line, group, whole.end, |c| self.check.allows(c), looked_at)?;
            *looked_at += COST_OF_JUDGING * field.value.len();
            let counts = self.accepts(&field.value) && self.check.accepts_field(&field);
            return Some(Value { range: field.range, counts });
        }
        // A rule that allows any character but a quote would otherwise include the end of the line.
        let end = group.end.min(line.len()).max(group.start);
        let text = line.get(group.start..end)?.trim_end_matches(['\n', '\r']);
        let range = group.start..group.start + text.len();
        Some(Value { range, counts: !text.is_empty() && self.accepts(text) })
    }

    fn accepts(&self, value: &str) -> bool {
        self.validation.accepts(value)
            && !self.allowed_values.iter().any(|allowed| allowed == value)
            && !self.allowed.iter().any(|allowed| allowed.get().is_match(value))
            && (self.check.reads_field() || !is_template(value))
            && self.check.accepts(value)
    }
}

/// Checks whether a rule is one for addresses with a password.
fn is_address(rule: &Rule) -> bool {
    rule.pattern.ends_with(HOST)
}

impl Pattern {
    fn of(text: &str) -> Pattern {
        Pattern { text: text.to_owned(), compiled: OnceLock::new() }
    }

    pub(super) fn get(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            let built = RegexBuilder::new(&self.text).unicode(true).build();
            // A test compiles all of them.
            built.unwrap_or_else(|error| panic!("a rule of the library: {error}"))
        })
    }
}

impl Validation {
    fn of(rule: &RuleValidate) -> Validation {
        let (least, most) = match rule.length {
            Some(length) => (length, length),
            None => (rule.min_length.unwrap_or(0), rule.max_length.unwrap_or(usize::MAX)),
        };
        Validation { prefixes: rule.prefix.clone(), lengths: Some((least, most)) }
    }

    // The rules' character sets repeat their patterns.
    fn accepts(&self, value: &str) -> bool {
        let is_long_enough =
            self.lengths.is_none_or(|(least, most)| (least..=most).contains(&value.chars().count()));
        let has_prefix =
            self.prefixes.is_empty() || self.prefixes.iter().any(|prefix| value.starts_with(prefix));
        is_long_enough && has_prefix
    }
}

#[cfg(test)]
mod tests {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::string::string_regex;
    use proptest::test_runner::TestRunner;

    use super::super::Detector;

    /// Texts that may precede a token without being part of it.
    const IN_FRONT: [&str; 16] = [
        "",
        " ",
        "a\\n",
        "\\t",
        "\\r\\n",
        "\\\\n",
        "\\u003d",
        "\\u001b[1m",
        "\\x1b[0;31m",
        "\\e[1m",
        "\\033[1m",
        "^[[K",
        "%3D",
        "%0a",
        "pre_",
        "\"a\\nb=",
    ];

    /// Pseudo-random values that a pattern matches, the same in each run.
    fn examples(pattern: &str) -> impl Iterator<Item = String> {
        let pattern = pattern.replace(r"\b", "").replace(r"[^A-Za-z0-9+/=]|$", " ");
        // Only ASCII for word characters.
        let strategy = string_regex(&pattern.replace(r"[\w-]", "[A-Za-z0-9-]")).expect("a pattern of a rule");
        let mut runner = TestRunner::deterministic();
        (0..60).map(move |_| strategy.new_tree(&mut runner).expect("a text").current())
    }

    #[test]
    fn a_token_is_found_after_each_escape() {
        let mut tokens = 0;
        for rule in &Detector::usual().rules {
            let Some(pattern) = &rule.within_words else { continue };
            let values = |line: &str| {
                let mut hits = Vec::new();
                rule.find(&format!("{line}\n"), 0, &mut hits);
                hits.into_iter().map(|hit| line[hit.range].to_owned()).collect::<Vec<_>>()
            };
            // Some matches are example values, or have too few digits.
            let example = examples(&pattern.text).find(|example| !values(example).is_empty());
            let example = example.unwrap_or_else(|| panic!("{}: {}", rule.kind, pattern.text));
            let value = values(&example);
            for before in IN_FRONT {
                assert_eq!(
                    values(&format!("{before}{example} b")),
                    value,
                    "{}: {before}{example}",
                    rule.kind
                );
            }
            // The control: a longer word does not match.
            for before in ["q", "\\qq", "%q", "\\u003Q"] {
                assert_eq!(
                    values(&format!("{before}{example}")),
                    [""; 0],
                    "{}: {before}{example}",
                    rule.kind
                );
            }
            tokens += 1;
        }
        assert!(tokens > 50, "{tokens}");
    }
}
