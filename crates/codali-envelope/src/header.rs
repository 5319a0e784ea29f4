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

    /// Parses a line that consists of a header, with optional whitespace around it.
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
        // Decoration is symmetric; a lone leading mark is not decoration.
        let (before, after) = (heading.find(bare)?, heading.len() - bare.len());
        if before * 2 != after { None } else { Header::parse_respelled(bare) }
    }

    /// Parses a header with a colon after its name, with `v1.0`, or with an escaped underscore.
    fn parse_respelled(line: &str) -> Option<Header> {
        let line = line.trim().replace("\\_", "_");
        let (name, version) = line.split_once([' ', '\t', ':'])?;
        let version = version.trim_start_matches([' ', '\t', ':']);
        let version = version.strip_suffix(".0").unwrap_or(version);
        Header::parse(&format!("{name} {version}"))
    }

    /// Checks whether a line was meant as the header of a request, of another version or without one.
    pub(crate) fn is_unknown_request(line: &str) -> bool {
        let bare = line.trim_start_matches(['#', '*', '`', '>']).trim_start();
        // An indented line may be quoted text, and a sentence may begin with the word.
        if line.starts_with([' ', '\t']) || Header::parse_decorated(line).is_some() {
            return false;
        }
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let item = bare[digits..].strip_prefix(['.', ')']).filter(|_| digits > 0).unwrap_or(bare);
        let words: Vec<String> = item.split_whitespace().map(|word| word.replace('\\', "")).collect();
        let is_name = |word: &String| word.trim_matches(['*', '`', ':']).eq_ignore_ascii_case(REQUEST);
        words.first().is_some_and(is_name) && words.len() <= 2
    }
}
