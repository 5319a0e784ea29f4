//! Placeholders in regular expressions.

use std::borrow::Cow;
use std::convert::Infallible;

use regex_syntax::ast::{Ast, LiteralKind, Visitor, parse, visit};
use wap_core::{Reason, WapError};

use crate::markers;

/// Returns an expression in which each placeholder is a group, so that a quantifier after it applies to the whole
/// value, as to the whole placeholder.
///
/// # Errors
///
/// [`Reason::InvalidRegex`] for a placeholder that would not stand for its whole value: in a character class, the
/// expression would reveal the characters of the value.
pub(super) fn with_grouped_markers<'p>(pattern: &'p str, field: &str) -> Result<Cow<'p, str>, WapError> {
    let mut markers = markers(pattern).map(|(range, _)| range).peekable();
    if markers.peek().is_none() {
        return Ok(Cow::Borrowed(pattern));
    }
    let refused = |text: String, offset: usize| {
        WapError::new(Reason::InvalidRegex, text).with("field", field).with("offset", offset)
    };
    let ast = parse::Parser::new().parse(pattern).map_err(|error| {
        let offset = error.span().start.offset;
        refused(format!("the regular expression is not valid at byte {offset}: {}", error.kind()), offset)
    })?;
    let literals = match visit(&ast, Literals(Vec::new())) {
        Ok(literals) => literals,
        Err(impossible) => match impossible {},
    };
    let mut grouped = String::with_capacity(pattern.len());
    let mut end = 0;
    for range in markers {
        let mut characters = pattern[range.clone()].char_indices().map(|(at, _)| range.start + at);
        if !characters.all(|at| literals.binary_search(&at).is_ok()) {
            let text = format!(
                "the placeholder at byte {} is not searched for as a whole: a placeholder stands for its value outside of the \
                brackets of a character class, and not after a backslash",
                range.start
            );
            return Err(refused(text, range.start));
        }
        grouped.push_str(&pattern[end..range.start]);
        grouped.push_str("(?:");
        grouped.push_str(&pattern[range.clone()]);
        grouped.push(')');
        end = range.end;
    }
    grouped.push_str(&pattern[end..]);
    Ok(Cow::Owned(grouped))
}

/// Collects the positions of literal characters outside of classes, in order.
struct Literals(Vec<usize>);

impl Visitor for Literals {
    type Output = Vec<usize>;
    type Err = Infallible;

    fn finish(self) -> Result<Vec<usize>, Infallible> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        if let Ast::Literal(literal) = ast
            && literal.kind == LiteralKind::Verbatim
        {
            self.0.push(literal.span.start.offset);
        }
        Ok(())
    }
}
