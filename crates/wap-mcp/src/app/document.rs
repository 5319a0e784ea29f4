//! The document of the app: markup, style and script in one text, with a policy that allows exactly these.

use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{MetaObject, ReadResourceResult, Resource, ResourceContents};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The name of the app.
pub(crate) const URI: &str = "ui://agentd/review";

/// The kind of all apps that the extension knows.
pub(super) const KIND: &str = "text/html;profile=mcp-app";

const MARKUP: &str = include_str!("../../app/review.html");
const STYLE: &str = include_str!("../../app/review.css");
const SCRIPT: &str = include_str!("../../app/review.js");

/// The document. It does not depend on a workspace: its content arrives as data.
static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    // Insert the script last, so that nothing in it is replaced.
    MARKUP.replace("{policy}", &policy).replace("{style}", STYLE).replace("{script}", SCRIPT)
});

/// Answers `resources/read` for the app.
pub(crate) fn read() -> ReadResourceResult {
    let contents = ResourceContents::text(DOCUMENT.as_str(), URI).with_mime_type(KIND).with_meta(meta());
    ReadResourceResult::new(vec![contents])
}

/// Returns the entry of the app in the list of resources.
pub(crate) fn listed() -> Resource {
    Resource::new(URI, "review")
        .with_title("Review")
        .with_description("Proposals that wait for a review, drawn next to the call")
        .with_mime_type(KIND)
        .with_meta(meta())
}

/// Returns the metadata: the app loads nothing and needs no permission.
fn meta() -> MetaObject {
    let nothing: [&str; 0] = [];
    let ui = json!({
        "csp": {
            "connectDomains": nothing,
            "resourceDomains": nothing,
            "frameDomains": nothing,
            "baseUriDomains": nothing
        },
        "prefersBorder": true
    });
    MetaObject([("ui".to_owned(), ui)].into_iter().collect::<serde_json::Map<String, Value>>())
}

#[cfg(test)]
mod tests {
    use super::{DOCUMENT, SCRIPT, STYLE};

    #[test]
    fn the_document_is_whole_and_names_no_address() {
        assert!(!["{policy}", "{style}", "{script}"].iter().any(|hole| DOCUMENT.contains(hole)));
        assert_eq!(DOCUMENT.matches("'sha256-").count(), 2);
        assert_eq!((DOCUMENT.matches("<script").count(), DOCUMENT.matches("<style").count()), (1, 1));
        for outside in ["http:", "https:", "//agentd", "@import", "url("] {
            assert!(!DOCUMENT.contains(outside), "{outside}");
        }
    }

    #[test]
    fn the_script_makes_no_markup_and_the_parts_do_not_end_their_elements() {
        for sink in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "import("]
        {
            assert!(!SCRIPT.contains(sink), "{sink}");
        }
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--") && !STYLE.contains("</"));
    }
}
