//! One line as a tag, damaged or not: what chat windows add around and inside tags is removed and reported.

use std::borrow::Cow;

use crate::{BlockKind, RefusalKind, RepairKind, RepairSet, parse::tag::OpeningTag, repair::entity};

/// Characters without width that survive copying.
pub(crate) const ZERO_WIDTH: [char; 5] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];

/// Spaces that replace plain ones in rendered pages.
pub(crate) const NO_BREAK: [char; 2] = ['\u{a0}', '\u{202f}'];

/// Curly double quotes, which smart punctuation puts around values.
pub(crate) const CURLY_DOUBLE: [char; 4] = ['“', '”', '„', '‟'];

/// The characters with which smart punctuation replaces plain ones.
pub(crate) const SMART_PUNCTUATION: [char; 11] = ['“', '”', '„', '‟', '‘', '’', '‚', '‛', '–', '—', '…'];

/// An opening tag with the repaired damage.
#[derive(Clone, Debug)]
pub(crate) struct Opening<'a> {
    pub(crate) tag: OpeningTag<'a>,
    /// The name as it was spelled.
    pub(crate) name: Cow<'a, str>,
    pub(crate) damage: RepairSet,
    /// Kinds of damage that this tag would show if the paste had them, but does not show.
    pub(crate) unharmed: RepairSet,
    /// The reason why the tag cannot be trusted although it can be parsed.
    pub(crate) doubt: Option<RefusalKind>,
}

/// A closing tag with the repaired damage.
#[derive(Clone, Debug)]
pub(crate) struct Closing {
    pub(crate) kind: BlockKind,
    pub(crate) name: String,
    pub(crate) damage: RepairSet,
}

impl Opening<'_> {
    pub(crate) fn is_upper_case(&self) -> bool {
        !self.damage.contains(RepairKind::Case)
    }

    /// Checks whether another tag opens a block that the closing tag of this block would close.
    pub(crate) fn is_followed_by(&self, next: &Opening<'_>) -> bool {
        next.tag.kind == self.tag.kind && next.name == self.name && next.damage.is_within(self.damage)
    }

    /// Checks whether a closing tag closes this block: it has the same letters, and only damage that the opening tag has too.
    pub(crate) fn is_closed_by(&self, closing: &Closing) -> bool {
        closing.kind == self.tag.kind && closing.name == self.name && closing.damage.is_within(self.damage)
    }
}

/// Parses a line as an opening tag; `None` for prose.
pub(crate) fn opening(line: &str) -> Option<Opening<'_>> {
    let trimmed = line.trim();
    let (core, around) = peeled(trimmed)?;
    let plain = || {
        let tag = OpeningTag::read(trimmed)?;
        let name = Cow::Borrowed(tag.kind.name());
        let (damage, unharmed) = (RepairSet::EMPTY, unharmed(trimmed, RepairSet::EMPTY));
        let doubt = tag.path.value().is_some_and(is_link).then_some(RefusalKind::LinkedPath);
        Some(Opening { tag, name, damage, unharmed, doubt })
    };
    if around.is_empty()
        && !core.contains(['&', '\\', '“', '”', '„', '‟', '\u{a0}', '\u{202f}'])
        && core.starts_with('[')
    {
        // The most common line with a leading bracket by far; only its letters can be damaged.
        if let Some(opening) = plain() {
            return Some(opening);
        }
    }
    // If no repair yields a tag, the characters that look like damage may be content of a value.
    repaired(core, around).or_else(plain)
}

/// Parses a line as an undamaged STOP_PROCESS tag; `None` for anything else.
pub(crate) fn stop(line: &str) -> Option<Opening<'_>> {
    let tag = OpeningTag::read_stop(line.trim())?;
    let name = Cow::Borrowed(tag.kind.name());
    let (damage, unharmed) = (RepairSet::EMPTY, unharmed(line.trim(), RepairSet::EMPTY));
    Some(Opening { tag, name, damage, unharmed, doubt: None })
}

/// Parses a line as a closing tag; `None` for anything else.
pub(crate) fn closing(line: &str) -> Option<Closing> {
    let (core, mut damage) = peeled(line.trim())?;
    let core = without_entities(core, &mut damage);
    let core = without_escapes(core, &mut damage);
    let name = core.strip_prefix("[/")?.strip_suffix(']')?;
    let kind = kind_of(name, &mut damage)?;
    Some(Closing { kind, name: name.to_owned(), damage })
}

/// Returns the kind of block that a line closes, damaged or not.
pub(crate) fn closing_kind(line: &str) -> Option<BlockKind> {
    closing(line).map(|closing| closing.kind)
}

/// Returns the kind of block with a body that a line closes, damaged or not. Names of a single word also occur in prose.
pub(crate) fn stray_closing_kind(line: &str) -> Option<BlockKind> {
    let kind = closing_kind(line).filter(|kind| kind.has_body())?;
    (kind.name().contains('_') || line.trim() == kind.closing_tag()).then_some(kind)
}

/// Returns the kind of block that a line opens, with an upper-case name but otherwise damaged or not.
pub(crate) fn opening_kind(line: &str) -> Option<BlockKind> {
    opening(line).or_else(|| stop(line)).filter(Opening::is_upper_case).map(|opening| opening.tag.kind)
}

/// Removes the decoration around a tag; `None` if the rest cannot be a tag.
fn peeled(trimmed: &str) -> Option<(&str, RepairSet)> {
    // Decorations nest in any order, so they are removed one by one from the outside.
    let mut core = trimmed;
    let mut damage = RepairSet::EMPTY;
    loop {
        match core.chars().next()? {
            '[' | '\\' | '&' => break,
            c if ZERO_WIDTH.contains(&c) => {
                core = core[c.len_utf8()..].trim_start();
                damage.insert(RepairKind::ZeroWidth);
            }
            _ => {
                let (inner, kind) = without_decoration(core)?;
                // No chat window adds the same decoration twice: this is prose.
                if damage.contains(kind) {
                    return None;
                }
                damage.insert(kind);
                core = inner.trim();
            }
        }
    }
    Some((core, damage))
}

fn without_decoration(text: &str) -> Option<(&str, RepairKind)> {
    let both_ends = |mark: &str| {
        let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inner.is_empty()).then_some(inner)
    };
    let before_blank = |rest: &'_ str| rest.starts_with(char::is_whitespace);
    match text.as_bytes()[0] {
        b'>' => Some((&text[1..], RepairKind::Quote)),
        b'*' if text.starts_with("**") => Some((both_ends("**")?, RepairKind::Bold)),
        b'_' => Some((both_ends("__")?, RepairKind::Bold)),
        b'`' => {
            let ticks = text.len() - text.trim_start_matches('`').len();
            Some((both_ends(&text[..ticks])?, RepairKind::Backtick))
        }
        b'#' => {
            let rest = text.trim_start_matches('#');
            // Markdown has six levels of headings.
            (text.len() - rest.len() <= 6 && before_blank(rest)).then_some((rest, RepairKind::Heading))
        }
        b'-' | b'*' | b'+' => before_blank(&text[1..]).then_some((&text[1..], RepairKind::List)),
        b'0'..=b'9' => {
            let rest = text.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')'])?;
            before_blank(rest).then_some((rest, RepairKind::List))
        }
        _ => {
            let rest = text.strip_prefix('•')?;
            before_blank(rest).then_some((rest, RepairKind::List))
        }
    }
}

/// Repairs a tag without its decoration and parses it.
fn repaired(core: &str, around: RepairSet) -> Option<Opening<'static>> {
    let mut damage = around;
    let written = core;
    // Entities first: an escape may be written as an entity (`&bsol;`), but not vice versa.
    let core = without_entities(core, &mut damage);
    let mut core = without_escapes(core, &mut damage).into_owned();
    let name_end =
        core.find(|c: char| c != '[' && c != '_' && !c.is_ascii_alphabetic()).unwrap_or(core.len());
    let name = core.get(1..name_end)?.to_owned();
    kind_of(&name, &mut damage)?;
    core[1..name_end].make_ascii_uppercase();
    let curly_left = straighten(&mut core, &mut damage);
    let tag = OpeningTag::read(&core)?;
    let path = tag.path.value().unwrap_or_default();
    if has_outside_of_values(&core, &NO_BREAK) {
        damage.insert(RepairKind::Nbsp);
    }
    let stray = tag.stray_quote || curly_left;
    let ambiguous = [
        (RepairKind::SmartQuotes, stray || path.contains(SMART_PUNCTUATION)),
        (RepairKind::Entity, stray || quotes_an_entity_for_a_quote(written)),
        (RepairKind::Nbsp, path.contains(NO_BREAK)),
        (RepairKind::ZeroWidth, path.contains(ZERO_WIDTH)),
    ];
    let doubt = if ambiguous.iter().any(|(kind, doubtful)| damage.contains(*kind) && *doubtful) {
        Some(RefusalKind::AmbiguousPath)
    } else {
        is_link(path).then_some(RefusalKind::LinkedPath)
    };
    let unharmed = unharmed(written, damage);
    Some(Opening { tag: tag.into_owned(), name: Cow::Owned(name), damage, unharmed, doubt })
}

fn without_entities<'a>(core: &'a str, damage: &mut RepairSet) -> Cow<'a, str> {
    let decoded = entity::decoded(core);
    if matches!(decoded, Cow::Owned(_)) {
        damage.insert(RepairKind::Entity);
    }
    decoded
}

/// Removes the backslashes if a bracket or the name has one; a backslash in the path alone belongs to the path.
fn without_escapes<'a>(core: Cow<'a, str>, damage: &mut RepairSet) -> Cow<'a, str> {
    let head = core.find(|c: char| c.is_whitespace() || c == '"').map_or(&*core, |end| &core[..end]);
    if !(core.starts_with("\\[") || core.ends_with("\\]") || head.contains("\\_")) {
        return core;
    }
    damage.insert(RepairKind::MdEscape);
    Cow::Owned(core.replace("\\[", "[").replace("\\]", "]").replace("\\_", "_"))
}

fn kind_of(name: &str, damage: &mut RepairSet) -> Option<BlockKind> {
    let kind = BlockKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))?;
    if kind.name() != name {
        damage.insert(RepairKind::Case);
    }
    Some(kind)
}

/// Straightens the curly quotes around values; returns true if a curly quote is left that does not enclose a value.
fn straighten(core: &mut String, damage: &mut RepairSet) -> bool {
    if !core.contains(CURLY_DOUBLE) {
        return false;
    }
    let mut straight = String::with_capacity(core.len());
    let mut rest = core.as_str();
    let mut left_over = false;
    while let Some(at) = rest.find(|c| c == '"' || CURLY_DOUBLE.contains(&c)) {
        let quote = rest[at..].chars().next().expect("a quote starts at this offset");
        let inner = &rest[at + quote.len_utf8()..];
        straight.push_str(&rest[..at]);
        // Only a quote after `=` begins a value; others are apostrophes or prose.
        let is_value = straight.trim_end().ends_with('=');
        let closing = match quote {
            '"' => inner.find('"').map(|end| (end, '"')),
            _ if is_value => inner.char_indices().find(|(_, c)| *c == '"' || CURLY_DOUBLE.contains(c)),
            _ => None,
        };
        let Some((end, closing)) = closing else {
            // A lone straight quote is an ordinary character in strict parsing too.
            left_over |= quote != '"';
            straight.push(quote);
            rest = inner;
            continue;
        };
        if quote != '"' {
            damage.insert(RepairKind::SmartQuotes);
        }
        straight.push('"');
        straight.push_str(&inner[..end]);
        straight.push('"');
        rest = &inner[end + closing.len_utf8()..];
    }
    straight.push_str(rest);
    *core = straight;
    left_over
}

/// Checks whether the tag has one of these characters outside of double quotes.
fn has_outside_of_values(core: &str, wanted: &[char]) -> bool {
    let mut rest = core;
    loop {
        let (outside, quoted) = rest.split_once('"').unwrap_or((rest, ""));
        if outside.contains(wanted) {
            return true;
        }
        match quoted.split_once('"') {
            Some((_, next)) => rest = next,
            // An unclosed quote is an ordinary character.
            None => return quoted.contains(wanted),
        }
    }
}

/// Checks whether a value in plain quotes holds an entity for a double quote, so that decoding ends the value early.
fn quotes_an_entity_for_a_quote(written: &str) -> bool {
    written.split('"').skip(1).step_by(2).any(|value| entity::entities(value).any(|(_, _, c)| c == '"'))
}

/// Returns the kinds of damage that a tag proves the paste not to have.
fn unharmed(written: &str, damage: RepairSet) -> RepairSet {
    let plain_quotes = written.contains('"');
    let plain_space = has_outside_of_values(written, &[' ']);
    let evidence = [
        (RepairKind::Entity, plain_quotes),
        (RepairKind::SmartQuotes, plain_quotes),
        (RepairKind::Nbsp, plain_space),
        // Every tag has brackets, which an escaper would have changed.
        (RepairKind::MdEscape, true),
    ];
    evidence
        .into_iter()
        .filter(|(kind, is_proof)| *is_proof && !damage.contains(*kind))
        .map(|(kind, _)| kind)
        .collect()
}

/// Checks whether a path, or its file name alone, was turned into a Markdown link.
fn is_link(path: &str) -> bool {
    let Some((label, target)) = path.split_once("](") else { return false };
    label.contains('[') && target.ends_with(')') && (target.contains("://") || target.starts_with("mailto:"))
}
