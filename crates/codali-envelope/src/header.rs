//! The line that an envelope begins with.

/// The word that a request begins with.
const REQUEST: &str = "AGENT_REQUEST";
/// The word that a response begins with.
const RESPONSE: &str = "CODALI_RESPONSE";

/// What kind of envelope a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    Request,
    Response,
}

impl Header {
    /// Returns the line as it is written.
    pub(crate) fn line(self) -> &'static str {
        match self {
            Header::Request => "AGENT_REQUEST v1",
            Header::Response => "CODALI_RESPONSE v1",
        }
    }

    /// Reads a line that is a header and nothing else, blanks around it apart.
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

    /// Reads a header that a chat window or a model has decorated: as a heading, bold, or as code.
    pub(crate) fn parse_decorated(line: &str) -> Option<Header> {
        // Most lines are no header; they are told by this much.
        if !line.contains('_') {
            return None;
        }
        let heading = line.trim().trim_start_matches('#').trim();
        let bare = heading.trim_matches(['*', '`']);
        // Decoration stands on both sides, so that a lone mark in front is no decoration.
        let (before, after) = (heading.find(bare)?, heading.len() - bare.len());
        if before * 2 != after { None } else { Header::parse(bare) }
    }
}
