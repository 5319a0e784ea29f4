//! Errors that a model can act on: six codes, finer reasons, and details that help with the next step.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The detail that names the [`Reason`] on the wire.
const REASON: &str = "reason";

/// Details that quote the request, which may be long.
const QUOTES: [&str; 6] = ["path", "field", "pattern", "target", "expectedVersion", "cause"];
/// The length of the longest possible path.
const MOST_QUOTED_CHARACTERS: usize = 4_096;
const MOST_MESSAGE_CHARACTERS: usize = 8_192;

/// The six error codes of WAP 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// The file, folder or parent folder does not exist.
    FileNotFound,
    /// The operation is not allowed.
    PermissionDenied,
    /// A size or count limit was exceeded.
    SizeLimitExceeded,
    /// An argument is invalid.
    InvalidArgument,
    /// The operation was tried and failed.
    ExecutionFailed,
    /// The operation took too long.
    Timeout,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident $name:literal => $code:ident,)+) => {
        /// The finer cause of a [`WapError`]; each belongs to one [`ErrorCode`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* #[serde(rename = $name)] $reason,)+
        }

        impl Reason {
            /// Every reason, in the order of the codes.
            pub const ALL: &[Reason] = &[$(Reason::$reason,)+];

            /// Returns the code that the reason belongs to.
            #[must_use]
            pub fn code(self) -> ErrorCode {
                match self { $(Reason::$reason => ErrorCode::$code,)+ }
            }

            /// Returns the reason's name on the wire.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Reason::$reason => $name,)+ }
            }
        }
    };
}

reasons! {
    /// The file does not exist.
    FileNotFound "FILE_NOT_FOUND" => FileNotFound,
    /// The path does not exist, neither as a file nor as a folder.
    PathNotFound "PATH_NOT_FOUND" => FileNotFound,
    /// The parent folder does not exist.
    DirectoryNotFound "DIRECTORY_NOT_FOUND" => FileNotFound,
    /// The path leaves the workspace, or tries to.
    PathEscapeAttempt "PATH_ESCAPE_ATTEMPT" => PermissionDenied,
    /// The path is protected against changes.
    Protected "PROTECTED" => PermissionDenied,
    /// The workspace or the file is read-only.
    ReadOnly "READ_ONLY" => PermissionDenied,
    /// The operating system refused.
    OsPermission "OS_PERMISSION" => PermissionDenied,
    /// The caller may not use the workspace at all, or not from its location.
    Unauthorized "UNAUTHORIZED" => PermissionDenied,
    /// A variable of that name may not be set.
    EnvironmentNotAllowed "ENVIRONMENT_NOT_ALLOWED" => PermissionDenied,
    /// The file is too large to be returned.
    FileTooLarge "FILE_TOO_LARGE" => SizeLimitExceeded,
    /// The request is too large to be accepted.
    RequestTooLarge "REQUEST_TOO_LARGE" => SizeLimitExceeded,
    /// The form or a value of a request is wrong; `details.field` names the field.
    InvalidField "INVALID_FIELD" => InvalidArgument,
    /// The path is not a regular file.
    NotAFile "NOT_A_FILE" => InvalidArgument,
    /// The path is not a folder.
    NotADirectory "NOT_A_DIRECTORY" => InvalidArgument,
    /// The path is a symbolic link, which is not written through.
    IsSymlink "IS_SYMLINK" => InvalidArgument,
    /// The file already exists.
    FileExists "FILE_EXISTS" => InvalidArgument,
    /// The file is not text.
    BinaryFile "BINARY_FILE" => InvalidArgument,
    /// A range of lines does not fit the file.
    InvalidRange "INVALID_RANGE" => InvalidArgument,
    /// A regular expression, its flags or its replacement cannot be used.
    InvalidRegex "INVALID_REGEX" => InvalidArgument,
    /// A glob cannot be used.
    InvalidGlob "INVALID_GLOB" => InvalidArgument,
    /// A file of that name is not created.
    InvalidName "INVALID_NAME" => InvalidArgument,
    /// The file is not in the state that the caller expects, or two operations touch the same lines.
    Conflict "CONFLICT" => InvalidArgument,
    /// The query is empty.
    EmptyQuery "EMPTY_QUERY" => InvalidArgument,
    /// The command is empty.
    EmptyCommand "EMPTY_COMMAND" => InvalidArgument,
    /// There is no tool of that name.
    UnknownTool "UNKNOWN_TOOL" => InvalidArgument,
    /// Reading failed.
    ReadError "READ_ERROR" => ExecutionFailed,
    /// Writing failed.
    WriteError "WRITE_ERROR" => ExecutionFailed,
    /// The disk or its inode table is full.
    NoSpace "NO_SPACE" => ExecutionFailed,
    /// Commands cannot be confined as required.
    SandboxUnavailable "SANDBOX_UNAVAILABLE" => ExecutionFailed,
    /// The command could not be started.
    SpawnFailed "SPAWN_FAILED" => ExecutionFailed,
    /// The command was killed for using too much memory.
    KilledForMemory "KILLED_FOR_MEMORY" => ExecutionFailed,
    /// The user reviewed the request and left this part out.
    LeftOut "LEFT_OUT" => ExecutionFailed,
    /// The user has not reviewed the request yet; the same request again waits for the review.
    PendingReview "PENDING_REVIEW" => ExecutionFailed,
    /// The caller cancelled.
    Cancelled "CANCELLED" => ExecutionFailed,
    /// Another caller is using the resource; try again.
    Busy "BUSY" => ExecutionFailed,
    /// The engine ended while the command ran; its progress is unknown, and it is not run again.
    OutcomeUnknown "OUTCOME_UNKNOWN" => ExecutionFailed,
    /// It took too long.
    Timeout "TIMEOUT" => Timeout,
}

/// A failure as an answer: text for the model, a code and a reason for programs, details that help with the next step.
///
/// On the wire `{"error": text, "code": code, "details": {"reason": reason, …}}`. The text never holds a path outside
/// of the workspace, nor the workspace's own absolute path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct WapError {
    message: String,
    reason: Reason,
    details: Map<String, Value>,
}

impl WapError {
    /// Returns an error without further details. A message may quote the request, so it is truncated at 8,192 characters.
    pub fn new(reason: Reason, message: impl Into<String>) -> WapError {
        let mut message = message.into();
        cut(&mut message, MOST_MESSAGE_CHARACTERS);
        WapError { message, reason, details: Map::new() }
    }

    /// Adds a detail, or replaces the one of the same name. The name `reason` is reserved and changes nothing. Details that quote
    /// the request, such as `path`, are truncated at 4,096 characters.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> WapError {
        if name != REASON {
            let mut value = value.into();
            if let Value::String(text) = &mut value
                && QUOTES.contains(&name)
            {
                cut(text, MOST_QUOTED_CHARACTERS);
            }
            self.details.insert(name.to_owned(), value);
        }
        self
    }

    /// Returns the text for the model.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.reason.code()
    }

    /// Returns the finer reason.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// Returns one of the details other than `reason`.
    #[must_use]
    pub fn detail(&self, name: &str) -> Option<&Value> {
        self.details.get(name)
    }

    /// Returns every detail other than `reason`, sorted by name.
    pub fn details(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.details.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// Truncates a text to a number of characters.
fn cut(text: &mut String, most_characters: usize) {
    // Count bytes first: a text with no more bytes than that cannot have more characters.
    if text.len() > most_characters
        && let Some((end, _)) = text.char_indices().nth(most_characters)
    {
        text.truncate(end);
        text.push('…');
    }
}

impl fmt::Display for WapError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

// Borrowed twins of the error: `WapError` keeps its fields private, and its code is derived from the reason.
/// A failure: a text for the model, a code and a reason for programs, and details that lead to the next step.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "WapError"))]
struct Wire<'a> {
    error: &'a str,
    code: ErrorCode,
    details: WireDetails<'a>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "WapErrorDetails"))]
struct WireDetails<'a> {
    reason: Reason,
    #[serde(flatten)]
    others: &'a Map<String, Value>,
}

/// The error as a peer may send it: the document does not specify the form of the details.
#[derive(Deserialize)]
struct ForeignWire {
    error: String,
    code: ErrorCode,
    #[serde(default)]
    details: Value,
}

impl Serialize for WapError {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let details = WireDetails { reason: self.reason, others: &self.details };
        Wire { error: &self.message, code: self.code(), details }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WapError {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<WapError, D::Error> {
        let wire = ForeignWire::deserialize(deserializer)?;
        let mut details = match wire.details {
            Value::Object(details) => details,
            Value::Null => Map::new(),
            other => Map::from_iter([("details".to_owned(), other)]),
        };
        // Remove the name from the details: it is written from the reason, and must not be in the object twice.
        let named = details.remove(REASON).and_then(|name| serde_json::from_value::<Reason>(name).ok());
        // A peer may send only the six codes, or reasons of a newer version: use the broadest reason of the code.
        let reason = named.filter(|reason| reason.code() == wire.code).unwrap_or(match wire.code {
            ErrorCode::FileNotFound => Reason::PathNotFound,
            ErrorCode::PermissionDenied => Reason::OsPermission,
            ErrorCode::SizeLimitExceeded => Reason::RequestTooLarge,
            ErrorCode::InvalidArgument => Reason::InvalidField,
            ErrorCode::ExecutionFailed => Reason::ReadError,
            ErrorCode::Timeout => Reason::Timeout,
        });
        Ok(WapError { message: wire.error, reason, details })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for WapError {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Wire::<'_>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Wire::<'_>::json_schema(generator)
    }
}
