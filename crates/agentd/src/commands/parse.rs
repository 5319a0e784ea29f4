//! `agentd parse`: the results of the parsers for a text.

use std::io::Read;
use std::path::Path;
use std::path::PathBuf;

use clap::Subcommand;
use codali_envelope::{ReadError, ReadErrorKind, ReadOptions, Reading, read_request};
use drop_folder::decode_text;
use serde_json::{Value, json};
use tag_session::REPLY_LIMIT_BYTES;
use tagproto::{Dialect, Strictness, read_in};

use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

#[derive(Debug, Subcommand)]
pub(crate) enum Format {
    /// A reply in the bracket-tag protocol.
    Tag {
        /// The text, or `-` for standard input.
        #[arg(value_name = "FILE|-", default_value = "-")]
        file: PathBuf,
        /// Leave out the repair of pasted text.
        #[arg(long)]
        strict: bool,
        /// The dialect of the session that the reply is for, with its near misses and other formats [default: what both
        /// dialects read alike].
        #[arg(long, value_name = "agentd|codingagent")]
        dialect: Option<tagproto::Dialect>,
    },
    /// A request in a Codali envelope, without text before it.
    Codali {
        /// The text, or `-` for standard input.
        #[arg(value_name = "FILE|-", default_value = "-")]
        file: PathBuf,
        /// Take YAML only.
        #[arg(long)]
        strict: bool,
    },
}

/// Prints the result of the parser of bracket tags.
pub(crate) fn tag(console: Console, file: &Path, strict: bool, dialect: Option<Dialect>) -> Outcome {
    let text = reply_text(file)?;
    let strictness = if strict { Strictness::Strict } else { Strictness::Repair };
    // Without a dialect, only the part that both read alike is printed.
    let reply = read_in(&text, strictness, dialect.unwrap_or(Dialect::CodingAgent));
    let mut output = json!(reply);
    if let Some(dialect) = dialect {
        output["dialect"] = json!(dialect);
    }
    console.json_result(&output);
    match &reply.refused {
        None => Ok(Exit::Done),
        Some(refusal) => {
            console.notice(&format!("agentd: line {}: {}", refusal.line_number, refusal.kind));
            Ok(Exit::Refused)
        }
    }
}

/// Prints the result of the parser of envelopes.
pub(crate) fn codali(console: Console, file: &Path, strict: bool) -> Outcome {
    use codali_envelope::Strictness::{Strict, Tolerant};
    let text = reply_text(file)?;
    let strictness = if strict { Strict } else { Tolerant };
    match read_request(&text, &ReadOptions { strictness, ..ReadOptions::default() }) {
        Ok(reading) => {
            console.json_result(&reading_json(&reading));
            Ok(Exit::Done)
        }
        Err(error) => {
            console.json_result(&refused(&error));
            console.notice(&format!("agentd: {error}"));
            Ok(Exit::Usage)
        }
    }
}

fn reading_json(reading: &Reading) -> Value {
    let mut request = json!(reading.request);
    // The key is always there, also if the request says nothing about its context.
    if request["context"].is_null() {
        request["context"] = Value::Null;
    }
    json!({ "request": request, "warnings": reading.warnings })
}

fn refused(error: &ReadError) -> Value {
    let mut value =
        json!({ "error": error.code().name(), "line": error.line_number, "column": error.column });
    if let ReadErrorKind::NoValidNeed { reading } = &error.kind {
        value["warnings"] = json!(reading.warnings);
    }
    value
}

/// Reads the text of a reply from a file or, for `-`, from standard input.
pub(crate) fn reply_text(file: &Path) -> Result<String, Failure> {
    let failed =
        |error: std::io::Error| Failure::new(Exit::Usage, format!("cannot read {}: {error}", file.display()));
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(REPLY_LIMIT_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let opened = std::fs::File::open(file).map_err(failed)?;
        opened.take(REPLY_LIMIT_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > REPLY_LIMIT_BYTES {
        return Err(Failure::new(Exit::Usage, format!("a reply has at most {REPLY_LIMIT_BYTES} bytes")));
    }
    decode_text(bytes).map_err(|error| Failure::new(Exit::Usage, error.to_string()))
}
