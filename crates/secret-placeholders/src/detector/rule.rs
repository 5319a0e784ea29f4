//! A rule by which values are found in a line.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use nosecrets_rules::{Rule, RuleValidate};
use regex::{Captures, Regex, RegexBuilder};

use super::Span;
use super::check::Check;
use super::field::Field;
use crate::addresses::is_template;

/// The end of the rules for addresses with a password: the name of the host up to a blank. The first byte of it is enough, and a
/// further address may follow without a blank.
pub(super) const HOST: &str = r#"@[^ \n'\"]+"#;

/// The most times that a rule looks at a line, since its value may reach to the end, not count, and hold the next one. The rest of the
/// line is hidden then.
pub(super) const MOST_LOOKS: usize = 32;

#[derive(Debug)]
pub(super) struct CompiledRule {
    pub(super) kind: Arc<str>,
    pub(super) pattern: Pattern,
    group: usize,
    validation: Validation,
    pub(super) allowed: Vec<Pattern>,
    allowed_values: Vec<String>,
    check: Check,
}

/// The pattern of a rule. Compiling all of them takes longer than starting the program, and a text has keywords of few.
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
        CompiledRule {
            kind: rule.id.as_str().into(),
            pattern: Pattern::of(if is_address(rule) {
                rule.pattern.trim_end_matches('+')
            } else {
                &rule.pattern
            }),
            group: rule.capture,
            validation: rule.validate.as_ref().map(Validation::of).unwrap_or_default(),
            allowed: allow.iter().flat_map(|allow| &allow.patterns).map(|text| Pattern::of(text)).collect(),
            allowed_values: allow.map(|allow| allow.values.clone()).unwrap_or_default(),
            check: check.unwrap_or(if is_address(rule) { Check::OfAddress } else { Check::None }),
        }
    }

    /// Finds the values of a line, which begins at `offset` of the text. Returns how many bytes were looked at: no pattern needs more
    /// than a few bytes behind a match to end it.
    pub(super) fn find(&self, line: &str, offset: usize, hits: &mut Vec<Span>) -> usize {
        let pattern = self.pattern.get();
        let kind = || Cow::Owned(self.kind.to_string());
        let most = line.len().saturating_mul(MOST_LOOKS);
        let line_end = line.trim_end().len();
        let (mut from, mut looked_at) = (0, 0);
        while let Some(captures) = pattern.captures_at(line, from) {
            let whole = captures.get_match();
            looked_at += whole.end() - from;
            let value = self.value(&line[..line_end], &captures, &mut looked_at);
            if whole.is_empty() {
                break;
            }
            let Some(Value { range, counts: true, .. }) = value else {
                // A match without a value may hold the name of one: `password: 'the password: '…`.
                let start = value.map_or(whole.end(), |value| value.range.start);
                from = if start > whole.start() { start } else { whole.end() };
                if looked_at > most {
                    let end = line.trim_end_matches(['\n', '\r']).len().max(from);
                    hits.push(Span { range: offset + from..offset + end, kind: kind() });
                    return looked_at;
                }
                continue;
            };
            from = range.end.max(whole.end());
            hits.push(Span { range: offset + range.start..offset + range.end, kind: kind() });
        }
        looked_at + line.len() - from
    }

    /// Returns the value of a match; `None` if it has none. Adds the bytes behind the match that are looked at to `looked_at`.
    fn value(&self, line: &str, captures: &Captures<'_>, looked_at: &mut usize) -> Option<Value> {
        let group = captures.get(self.group)?;
        if self.check.reads_field() {
            let start = captures.get_match().end();
            let field = Field::read(line, group.range(), start, |sign| self.check.allows(sign), looked_at)?;
            let counts = self.accepts(&field.value) && self.check.accepts_field(&field);
            return Some(Value { range: field.range, counts });
        }
        // A rule that allows any character but a quote would otherwise take the end of the line along.
        let text = group.as_str().trim_end_matches(['\n', '\r']);
        let range = group.start()..group.start() + text.len();
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

    // The rules' character sets repeat what their patterns say.
    fn accepts(&self, value: &str) -> bool {
        let is_long_enough =
            self.lengths.is_none_or(|(least, most)| (least..=most).contains(&value.chars().count()));
        let has_prefix =
            self.prefixes.is_empty() || self.prefixes.iter().any(|prefix| value.starts_with(prefix));
        is_long_enough && has_prefix
    }
}
