//! Web pages that a docdex daemon fetched.

use std::collections::HashMap;

use serde_json::Value;
use wap_core::IndexError;

use super::wire::unreadable;

/// The most pages that are taken from an answer.
const MOST_PAGES: usize = 20;

/// The longest excerpt of a page in bytes; a longer one is truncated between lines.
const EXCERPT_BYTES: usize = 8 << 10;

/// The longest title and address in bytes.
const LINE_BYTES: usize = 2_000;

/// A web page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebPage {
    /// The title; empty if the daemon has none.
    pub title: String,
    /// The address, `http` or `https`.
    pub url: String,
    /// The daemon's digest of the page, or the beginning of its text; at most 8 KiB.
    pub text: String,
}

/// Converts the answer of a search with `webDiscovery`. Pages that the daemon could not fetch keep the excerpt of its search
/// engine, and are left out without one.
pub(super) fn pages(answer: &Value) -> Result<Vec<WebPage>, IndexError> {
    let discovery = answer.get("webDiscovery").filter(|value| value.is_object()).ok_or_else(unreadable)?;
    let results = list(discovery.pointer("/discovery/results"))?;
    let fetches = list(discovery.get("fetches"))?;
    if results.is_empty() && fetches.is_empty() {
        let status = discovery.get("status").and_then(Value::as_str).unwrap_or("served");
        return match status {
            "served" | "ok" => Ok(Vec::new()),
            "skipped" => Err(failed(
                "the repository answers the query, so the web was not searched; ask with force_web: true",
            )),
            "disabled" => Err(failed("the web search of the docdex daemon is switched off")),
            _ => Err(failed("the docdex daemon cannot search the web now")),
        };
    }
    let mut pages: Vec<WebPage> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    for one in fetches.iter().chain(results) {
        let page = page(one)?;
        match positions.get(&page.url).and_then(|position| pages.get_mut(*position)) {
            Some(earlier) => {
                // The search engine knows the title, the fetch the text.
                if earlier.title.is_empty() {
                    earlier.title = page.title;
                }
                if earlier.text.is_empty() {
                    earlier.text = page.text;
                }
            }
            None => {
                positions.insert(page.url.clone(), pages.len());
                pages.push(page);
            }
        }
    }
    pages.retain(|page| !page.text.is_empty());
    pages.truncate(MOST_PAGES);
    Ok(pages)
}

fn page(value: &Value) -> Result<WebPage, IndexError> {
    let text = |keys: &[&str]| {
        let texts = keys.iter().filter_map(|key| value.get(key)?.as_str());
        texts.map(str::trim).find(|text| !text.is_empty()).unwrap_or_default().to_owned()
    };
    let url = text(&["url"]);
    let is_address = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    if !is_address || url.len() > LINE_BYTES || url.chars().any(|one| one.is_control() || one.is_whitespace())
    {
        return Err(unreadable());
    }
    let title = text(&["title"]).split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(WebPage {
        title: cut(&title, LINE_BYTES).to_owned(),
        url,
        text: excerpt(&text(&["ai_digested_content", "content", "snippet", "description"])),
    })
}

/// Returns the lines of a text that fit, followed by a line of three dots if some are left out.
fn excerpt(text: &str) -> String {
    let kept = cut(text, EXCERPT_BYTES);
    if kept.len() == text.len() {
        return text.to_owned();
    }
    let kept = kept.rsplit_once('\n').map_or(kept, |(lines, _)| lines);
    format!("{}\n...", kept.trim_end())
}

fn cut(text: &str, most_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(most_bytes)]
}

fn list(value: Option<&Value>) -> Result<&[Value], IndexError> {
    match value {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(values)) => Ok(values),
        Some(_) => Err(unreadable()),
    }
}

fn failed(cause: &str) -> IndexError {
    IndexError::Failed { cause: cause.to_owned() }
}
