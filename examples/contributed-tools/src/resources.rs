//! Two resources that stay the same, one that a tool changes, and one for each id.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;
use wap_mcp::ResourceChanges;

use crate::media::{PICTURE, PNG};

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const PLAIN: &str = "text/plain";
const JSON: &str = "application/json";

/// The resource that changes.
pub(crate) const WATCHED: &str = "test://watched-resource";

/// The resource that changes, and its followers.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedResource {
    version: Arc<AtomicU64>,
    changes: ResourceChanges,
}

impl WatchedResource {
    /// Changes the resource, and returns its new version.
    pub(crate) fn change(&self) -> u64 {
        let version = self.version.fetch_add(1, Ordering::SeqCst) + 1;
        self.changes.report(WATCHED);
        version
    }

    /// Returns the handle by which it is reported.
    pub(crate) fn changes(&self) -> &ResourceChanges {
        &self.changes
    }

    fn text(&self) -> String {
        format!("This is version {} of the watched resource.", self.version.load(Ordering::SeqCst))
    }
}

/// Returns the resources.
pub(crate) fn list() -> Vec<Resource> {
    vec![
        Resource::new(TEXT, "static text").with_description("A text").with_mime_type(PLAIN),
        Resource::new(BINARY, "static picture").with_description("A red point").with_mime_type(PNG),
        Resource::new(WATCHED, "watched text")
            .with_description("A text that a tool changes")
            .with_mime_type(PLAIN),
    ]
}

/// Returns the templates.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new("test://template/{id}/data", "data by id");
    vec![template.with_description("The data of an id").with_mime_type(JSON)]
}

/// Reads a resource; `None` if there is none of this name.
pub(crate) fn read(watched: &WatchedResource, uri: &str) -> Option<ReadResourceResult> {
    let contents = match uri {
        TEXT => ResourceContents::text("This is the content of the static text resource.", uri)
            .with_mime_type(PLAIN),
        WATCHED => ResourceContents::text(watched.text(), uri).with_mime_type(PLAIN),
        BINARY => ResourceContents::blob(PICTURE, uri).with_mime_type(PNG),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return None;
            }
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            ResourceContents::text(data.to_string(), uri).with_mime_type(JSON)
        }
    };
    Some(ReadResourceResult::new(vec![contents]))
}
