//! The header line of an envelope.

/// The first word of a request.
const REQUEST: &str = "AGENT_REQUEST";
/// The first word of a response.
const RESPONSE: &str = "CODALI_RESPONSE";

/// The kind of an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    Request,
    Response,
}

impl Header {
    /// Returns the header line.
    pub(crate) fn line(self) -> &'static str {
        match self {
            Header::Request => "AGENT_REQUEST v1",
            Header::Response => "CODALI_RESPONSE v1",
        }
    }

    /// Parses a line that consists of a header, with optional blanks around it.
    pub(crate) fn parse(line: &str) -> Option<Header> {
        let mut words = line.split_whitespace();
        let kind = match words.next()? {
            word if word.eq_ignore_ascii_case(REQUEST) => Header::Request,
            word if word.eq_ignore_ascii_case(RESPONSE) => Header::Response,
            _ => return None,
        };
        let is_version = words.next().is_some_and(|word| word.eq_ignore_ascii_case(crate::VERSION));
        (is_version && words.next().is_none()).then_some(kind)
    }

    /// Parses a header that a chat window or a model has decorated: as a heading, bold, or as code.
    pub(crate) fn parse_decorated(line: &str) -> Option<Header> {
        // A cheap test that rejects most lines.
        if !line.contains('_') {
            return None;
        }
        let heading = line.trim().trim_start_matches('#').trim();
        let bare = heading.trim_matches(['*', '`']);
        // Decoration is the same on both sides; a lone mark in front is not decoration.
        let (before, after) = (heading.find(bare)?, heading.len() - bare.len());
        if before * 2 != after { None } else { Header::parse(bare) }
    }
}
