//! One line as an opening tag: its name and its attributes, regardless of bodies.

use std::borrow::Cow;

use nom::{
    IResult, Parser,
    branch::alt,
    bytes::complete::{take_till, take_till1, take_while, take_while1},
    character::complete::char,
    combinator::{map, map_opt, peek},
    sequence::{delimited, preceded, terminated},
};

use crate::BlockKind;

/// An opening tag with the attributes of all kinds of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpeningTag<'a> {
    pub(crate) kind: BlockKind,
    pub(crate) path: Attribute<'a>,
    pub(crate) start_line: Attribute<'a>,
    pub(crate) end_line: Attribute<'a>,
    pub(crate) was: Attribute<'a>,
    pub(crate) name: Attribute<'a>,
    pub(crate) background: Attribute<'a>,
    pub(crate) ready: Attribute<'a>,
    /// True if there is a quote that does not enclose an attribute's value.
    pub(crate) stray_quote: bool,
    /// True if there is a text in double quotes that no name precedes.
    pub(crate) has_unnamed_value: bool,
}

/// The value of an attribute, by its number of occurrences.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) enum Attribute<'a> {
    #[default]
    Absent,
    Once(Cow<'a, str>),
    Repeated,
}

impl Attribute<'_> {
    pub(crate) fn value(&self) -> Option<&str> {
        match self {
            Self::Once(value) => Some(value),
            Self::Absent | Self::Repeated => None,
        }
    }

    pub(crate) fn into_owned(self) -> Attribute<'static> {
        match self {
            Self::Absent => Attribute::Absent,
            Self::Once(value) => Attribute::Once(Cow::Owned(value.into_owned())),
            Self::Repeated => Attribute::Repeated,
        }
    }
}

impl<'a> OpeningTag<'a> {
    /// Parses a trimmed line as an opening tag; `None` for prose.
    ///
    /// The bracket that closes the tag must end the line. A bracket inside double quotes does not close it; an unclosed quote is
    /// an ordinary character.
    pub(crate) fn read(trimmed: &'a str) -> Option<Self> {
        Self::read_as(trimmed, |name| name.parse().ok())
    }

    /// Parses a trimmed line as a STOP_PROCESS tag, which strict parsing takes for prose.
    pub(crate) fn read_stop(trimmed: &'a str) -> Option<Self> {
        let kind = BlockKind::StopProcess;
        Self::read_as(trimmed, |name| (name == kind.name()).then_some(kind))
    }

    fn read_as(trimmed: &'a str, kind_of: impl Fn(&str) -> Option<BlockKind>) -> Option<Self> {
        if !trimmed.starts_with('[') || !trimmed.ends_with(']') {
            return None;
        }
        let (mut rest, kind) = name(trimmed, kind_of).ok()?;
        let mut tag = Self {
            kind,
            path: Attribute::Absent,
            start_line: Attribute::Absent,
            end_line: Attribute::Absent,
            was: Attribute::Absent,
            name: Attribute::Absent,
            background: Attribute::Absent,
            ready: Attribute::Absent,
            stray_quote: false,
            has_unnamed_value: false,
        };
        loop {
            let (tail, part) = part(rest).ok()?;
            rest = tail;
            match part {
                Part::Attribute { name, value } => tag.set(name, value),
                Part::StrayQuote => tag.stray_quote = true,
                Part::Unnamed(value) => {
                    tag.stray_quote = true;
                    tag.has_unnamed_value |= value.contains(char::is_alphanumeric);
                }
                Part::Other => {}
                // Text after the closing bracket makes the line prose.
                Part::Close => return rest.is_empty().then_some(tag),
            }
        }
    }

    /// Returns the path; `None` if it is absent, empty or given twice.
    pub(crate) fn usable_path(&self) -> Option<&str> {
        self.path.value().filter(|path| !path.is_empty())
    }

    pub(crate) fn into_owned(self) -> OpeningTag<'static> {
        OpeningTag {
            kind: self.kind,
            path: self.path.into_owned(),
            start_line: self.start_line.into_owned(),
            end_line: self.end_line.into_owned(),
            was: self.was.into_owned(),
            name: self.name.into_owned(),
            background: self.background.into_owned(),
            ready: self.ready.into_owned(),
            stray_quote: self.stray_quote,
            has_unnamed_value: self.has_unnamed_value,
        }
    }

    fn set(&mut self, name: &str, value: &'a str) {
        let attribute = if name.eq_ignore_ascii_case("path") {
            &mut self.path
        } else if name.eq_ignore_ascii_case("start_line") {
            &mut self.start_line
        } else if name.eq_ignore_ascii_case("end_line") {
            &mut self.end_line
        } else if name.eq_ignore_ascii_case("was") {
            &mut self.was
        } else if name.eq_ignore_ascii_case("name") {
            &mut self.name
        } else if name.eq_ignore_ascii_case("background") {
            &mut self.background
        } else if name.eq_ignore_ascii_case("ready") {
            &mut self.ready
        } else {
            return;
        };
        *attribute = match attribute {
            Attribute::Absent => Attribute::Once(Cow::Borrowed(value)),
            Attribute::Once(_) | Attribute::Repeated => Attribute::Repeated,
        };
    }
}

/// The parts of a tag, from left to right.
enum Part<'a> {
    Attribute {
        name: &'a str,
        value: &'a str,
    },
    /// A text in quotes without a name.
    Unnamed(&'a str),
    StrayQuote,
    Other,
    Close,
}

/// Parses `[NAME`, followed by a character that may follow a name.
fn name(input: &str, kind_of: impl Fn(&str) -> Option<BlockKind>) -> IResult<&str, BlockKind> {
    let word = take_while1(|c: char| c.is_ascii_uppercase() || c == '_');
    let kind = map_opt(word, kind_of);
    // Keeps `[DONE-ish]` from being a tag.
    let boundary = peek(nom::character::complete::satisfy(|c| c.is_whitespace() || c == '/' || c == ']'));
    terminated(preceded(char('['), kind), boundary).parse(input)
}

fn part(input: &str) -> IResult<&str, Part<'_>> {
    let attribute = map((terminated(token, equals), quoted), |(name, value)| Part::Attribute { name, value });
    // The order matters: an attribute begins like a token, and a lone quote like a quoted text.
    alt((
        attribute,
        map(quoted, Part::Unnamed),
        map(char('"'), |_| Part::StrayQuote),
        map(token, |_| Part::Other),
        map(char(']'), |_| Part::Close),
        map(take_while1(is_separator), |_| Part::Other),
    ))
    .parse(input)
}

/// Parses a whole word of the tag: `data-path` is one word, and does not contain the attribute `path`.
fn token(input: &str) -> IResult<&str, &str> {
    take_till1(|c| is_separator(c) || c == '"' || c == ']').parse(input)
}

fn equals(input: &str) -> IResult<&str, char> {
    delimited(take_while(char::is_whitespace), char('='), take_while(char::is_whitespace)).parse(input)
}

/// Parses a value in double quotes. There are no escapes: it ends at the next double quote.
fn quoted(input: &str) -> IResult<&str, &str> {
    delimited(char('"'), take_till(|c| c == '"'), char('"')).parse(input)
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || c == '=' || c == ','
}
