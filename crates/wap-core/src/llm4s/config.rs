//! The limits of a workspace, from the configuration of that dialect's servers.

use serde::Deserialize;
use serde_json::Value;

use crate::{Limits, Reason, WapError};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireConfig {
    max_file_size: Option<i64>,
    max_directory_entries: Option<i64>,
    max_search_results: Option<i64>,
    max_output_size: Option<i64>,
    default_command_timeout_ms: Option<i64>,
}

/// Reads limits from a configuration; limits that it does not name have the recommended value. Unknown fields are ignored.
///
/// # Errors
///
/// [`Reason::InvalidField`] with the field's name in `details.field`: a limit that is not positive or is too large, or a timeout
/// over [`Limits::MAX_TIMEOUT_MILLISECONDS`].
pub fn limits_from_config(config: &Value) -> Result<Limits, WapError> {
    let config: WireConfig = serde_path_to_error::deserialize(config).map_err(|error| {
        let field = error.path().to_string();
        WapError::new(Reason::InvalidField, format!("cannot read the limit '{field}'")).with("field", field)
    })?;
    let usual = Limits::default();
    let most_items = u64::from(u32::MAX);
    let items = |field, value, usual: u32| {
        let limit = limit(field, value, u64::from(usual), most_items)?;
        Ok(u32::try_from(limit).unwrap_or(u32::MAX))
    };
    Ok(Limits {
        max_file_size: limit("maxFileSize", config.max_file_size, usual.max_file_size, u64::MAX)?,
        max_directory_entries: items(
            "maxDirectoryEntries",
            config.max_directory_entries,
            usual.max_directory_entries,
        )?,
        max_search_results: items("maxSearchResults", config.max_search_results, usual.max_search_results)?,
        max_output_size: limit("maxOutputSize", config.max_output_size, usual.max_output_size, u64::MAX)?,
        max_execution_time: limit(
            "defaultCommandTimeoutMs",
            config.default_command_timeout_ms,
            usual.max_execution_time,
            Limits::MAX_TIMEOUT_MILLISECONDS,
        )?,
    })
}

fn limit(field: &str, value: Option<i64>, usual: u64, most: u64) -> Result<u64, WapError> {
    // The value is signed and checked here, so that the error of a negative limit names the field.
    let Some(value) = value else { return Ok(usual) };
    u64::try_from(value).ok().filter(|value| (1..=most).contains(value)).ok_or_else(|| {
        let text = format!("the limit '{field}' is {value}, and has to be from 1 to {most}");
        WapError::new(Reason::InvalidField, text).with("field", field)
    })
}
