//! Seeds of the fuzz targets, made of the fixtures.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::TaskError;

/// Targets that read texts, and the vector files whose texts they begin with. The other targets make choices of their bytes, for
/// which no text is better than another.
const VECTORS: [(&str, &[&str]); 6] = [
    ("tag_parser", &["tagproto", "paste", "message-parts", "cut-off-replies"]),
    (
        "tag_repair",
        &["tagproto", "paste", "message-parts", "cut-off-replies", "text-edits", "unclear-blocks"],
    ),
    ("envelope_readers", &["codali", "envelope-replies"]),
    ("llm4s_messages", &["wap"]),
    ("mcp_messages", &["wap"]),
    ("path_rules", &["fs-attacks"]),
];

/// Texts shorter than this say nothing.
const LEAST_BYTES: usize = 8;

/// Writes the seeds of a target anew, and returns the folders that hold seeds: those, and the inputs that were found before.
pub(super) fn write(root: &Path, folder: &Path, name: &str) -> Result<Vec<PathBuf>, TaskError> {
    let seeds = folder.join("seeds").join(name);
    let unwritable = |path: &Path| {
        let path = path.to_owned();
        move |source| TaskError::Unwritable { path, source }
    };
    if seeds.exists() {
        fs::remove_dir_all(&seeds).map_err(unwritable(&seeds))?;
    }
    fs::create_dir_all(&seeds).map_err(unwritable(&seeds))?;
    let vectors = VECTORS.iter().find(|(target, _)| *target == name).map_or(&[][..], |(_, files)| files);
    let mut number = 0_u32;
    for file in vectors {
        let path = root.join(format!("fixtures/vectors/{file}.json"));
        let text = fs::read(&path).map_err(|source| TaskError::Unreadable { path: path.clone(), source })?;
        let value: Value = serde_json::from_slice(&text)
            .map_err(|source| TaskError::NotJson { what: format!("fixtures/vectors/{file}.json"), source })?;
        for text in texts(&value) {
            let seed = seeds.join(number.to_string());
            fs::write(&seed, text).map_err(unwritable(&seed))?;
            number += 1;
        }
    }
    let earlier = root.join("fixtures/fuzz").join(name);
    Ok([Some(seeds), earlier.exists().then_some(earlier)].into_iter().flatten().collect())
}

/// Collects every text in a value, and every object as JSON: messages are objects.
fn texts(value: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(values) => waiting.extend(values),
            Value::Object(fields) => {
                texts.push(value.to_string());
                waiting.extend(fields.values());
            }
            _ => {}
        }
    }
    texts.retain(|text| text.len() >= LEAST_BYTES);
    texts.sort_unstable();
    texts.dedup();
    texts
}
