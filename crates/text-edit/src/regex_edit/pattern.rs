//! A regular expression as given: pattern and flags, checked and compiled.

use regex_automata::hybrid::dfa;
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{PatternID, meta};
use regex_syntax::ast;

use crate::{EditErrorKind, EditLimits, UnsupportedConstruct};

/// The size at which a search clears its table of states.
const TABLE_BYTES: usize = 4 << 20;

/// A checked expression, for texts that are UTF-8 and for others.
#[derive(Debug)]
pub(crate) struct Pattern {
    flags: Flags,
    limit_bytes: usize,
    source: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    global: bool,
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
}

impl Pattern {
    /// Checks pattern and flags.
    pub(crate) fn parse(pattern: &str, flags: &str, limits: &EditLimits) -> Result<Self, EditErrorKind> {
        let flags = parse_flags(flags)?;
        if pattern.len() > limits.pattern_limit_bytes {
            return Err(EditErrorKind::PatternTooLong { limit_bytes: limits.pattern_limit_bytes });
        }
        refuse_escaped_angle_bracket(pattern)?;
        // The engine reports a bad pattern as text only; its parser says what is wrong with it and where.
        regex_syntax::ParserBuilder::new()
            .case_insensitive(flags.ignore_case)
            .multi_line(flags.multi_line)
            .dot_matches_new_line(flags.dot_all)
            .crlf(true)
            .build()
            .parse(pattern)
            .map_err(|error| syntax_error(&error, pattern))?;
        Ok(Self { flags, limit_bytes: limits.regex_limit_bytes, source: pattern.to_owned() })
    }

    /// True if the flags ask for all matches, not only the first.
    pub(crate) fn is_global(&self) -> bool {
        self.flags.global
    }

    /// Returns the engine for UTF-8 text, or for bytes that are not all UTF-8.
    pub(crate) fn compile(&self, is_text: bool) -> Result<Engine, EditErrorKind> {
        let syntax = syntax::Config::new()
            .case_insensitive(self.flags.ignore_case)
            .multi_line(self.flags.multi_line)
            .dot_matches_new_line(self.flags.dot_all)
            .crlf(true)
            .utf8(is_text);
        let too_large = || EditErrorKind::RegexTooLarge { limit_bytes: self.limit_bytes };
        let invalid = |reason: String| EditErrorKind::InvalidRegex { reason, offset_bytes: 0 };
        let groups = meta::Config::new().utf8_empty(is_text).nfa_size_limit(Some(self.limit_bytes));
        let regex = meta::Builder::new().configure(groups).syntax(syntax).build(&self.source);
        let regex = regex.map_err(|error| match error.size_limit() {
            Some(_) => too_large(),
            None => invalid(error.to_string()),
        })?;
        let states = thompson::Config::new()
            .utf8(is_text)
            .shrink(false)
            .which_captures(thompson::WhichCaptures::None)
            .nfa_size_limit(Some(self.limit_bytes));
        let nfa = thompson::Compiler::new().configure(states).syntax(syntax).build(&self.source);
        let nfa = nfa.map_err(|error| match error.size_limit() {
            Some(_) => too_large(),
            None => invalid(error.to_string()),
        })?;
        // A table that cannot hold a few states takes what it needs for them, which the limit on the compiled expression
        // bounds.
        let table = dfa::Config::new()
            .unicode_word_boundary(true)
            .cache_capacity(TABLE_BYTES)
            .skip_cache_capacity_check(true);
        let ends = dfa::Builder::new().configure(table).build_from_nfa(nfa);
        let ends = ends.map_err(|error| invalid(error.to_string()))?;
        Ok(Engine { regex, ends, is_text })
    }
}

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Engine {
    /// Finds a match and its groups.
    pub(crate) regex: meta::Regex,
    /// Finds where matches end.
    pub(crate) ends: dfa::DFA,
    /// True if it is for text: a match then never begins or ends within a character.
    pub(crate) is_text: bool,
}

impl Engine {
    /// The names of the groups, the whole match first.
    pub(crate) fn group_names(&self) -> Vec<Option<&str>> {
        self.regex.group_info().pattern_names(PatternID::ZERO).collect()
    }
}

fn parse_flags(text: &str) -> Result<Flags, EditErrorKind> {
    let mut flags = Flags::default();
    for (at, flag) in text.char_indices() {
        if text[..at].contains(flag) {
            return Err(EditErrorKind::BadFlag { flag });
        }
        match flag {
            'g' => flags.global = true,
            'i' => flags.ignore_case = true,
            'm' => flags.multi_line = true,
            's' => flags.dot_all = true,
            'u' => {}
            _ => return Err(EditErrorKind::BadFlag { flag }),
        }
    }
    Ok(flags)
}

/// `\<` is a word boundary to the engine and a plain `<` in JavaScript: it would silently match something else than intended.
fn refuse_escaped_angle_bracket(pattern: &str) -> Result<(), EditErrorKind> {
    let mut characters = pattern.char_indices();
    while let Some((offset_bytes, character)) = characters.next() {
        if character == '\\' && matches!(characters.next(), Some((_, '<' | '>'))) {
            let construct = UnsupportedConstruct::EscapedAngleBracket;
            return Err(EditErrorKind::UnsupportedRegex { construct, offset_bytes });
        }
    }
    Ok(())
}

fn syntax_error(error: &regex_syntax::Error, pattern: &str) -> EditErrorKind {
    let invalid = |reason: String, offset_bytes| EditErrorKind::InvalidRegex { reason, offset_bytes };
    match error {
        regex_syntax::Error::Parse(error) => {
            let offset_bytes = error.span().start.offset;
            match unsupported(error.kind(), &pattern[offset_bytes..]) {
                Some(construct) => EditErrorKind::UnsupportedRegex { construct, offset_bytes },
                None => invalid(error.kind().to_string(), offset_bytes),
            }
        }
        regex_syntax::Error::Translate(error) => invalid(error.kind().to_string(), error.span().start.offset),
        other => invalid(other.to_string(), 0),
    }
}

/// `at` is the rest of the pattern from where the parser stopped.
fn unsupported(kind: &ast::ErrorKind, at: &str) -> Option<UnsupportedConstruct> {
    match kind {
        ast::ErrorKind::UnsupportedLookAround => Some(UnsupportedConstruct::LookAround),
        ast::ErrorKind::UnsupportedBackreference => Some(UnsupportedConstruct::BackReference),
        ast::ErrorKind::EscapeUnrecognized if at.starts_with("\\k") => {
            Some(UnsupportedConstruct::BackReference)
        }
        ast::ErrorKind::FlagUnrecognized if at.starts_with('>') => Some(UnsupportedConstruct::AtomicGroup),
        _ => None,
    }
}
