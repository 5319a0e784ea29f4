//! The tools by name, for transports: text in, request, response, text out.

pub(crate) mod delete_file;
pub(crate) mod denied;
pub(crate) mod environment;
pub(crate) mod execute_command;
pub(crate) mod explore_files;
pub(crate) mod file_change;
pub(crate) mod file_kind;
pub(crate) mod file_states;
pub(crate) mod judged_file;
pub(crate) mod line_choice;
pub(crate) mod metadata;
pub(crate) mod modify_file;
pub(crate) mod process;
pub(crate) mod read_file;
#[cfg(feature = "schema")]
pub(crate) mod schema;
pub(crate) mod search_files;
pub(crate) mod table;
#[cfg(feature = "schema")]
pub(crate) mod unknown_arguments;
pub(crate) mod workspace_info;
pub(crate) mod write_file;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Call, CommandObserver, DeleteFile, DeleteFileResponse, ExecuteCommand, ExecuteCommandResponse,
    ExploreFiles, ExploreFilesResponse, ModifyFile, ModifyFileResponse, OUTPUT_PREFIX, PROCESS_PREFIX,
    ReadFile, ReadFileResponse, Reason, SearchFiles, SearchFilesResponse, StopProcess, StopProcessResponse,
    WapError, Workspace, WorkspaceExt, WorkspaceInfo, WriteFile, WriteFileResponse,
};

/// The number of characters of a foreign text that an error quotes.
const MOST_CAUSE_CHARACTERS: usize = 300;

/// The seven tools of WAP 1.0, `deleteFile` and `stopProcess`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Lists a folder.
    ExploreFiles,
    /// Reads a file.
    ReadFile,
    /// Writes a whole file.
    WriteFile,
    /// Changes lines of a file.
    ModifyFile,
    /// Deletes a file.
    DeleteFile,
    /// Searches files.
    SearchFiles,
    /// Runs a shell command.
    ExecuteCommand,
    /// Ends a background process.
    StopProcess,
    /// Describes the workspace.
    GetWorkspaceInfo,
}

impl Tool {
    /// Every tool, in the document's order; `deleteFile` after the other file tools, `stopProcess` after `executeCommand`.
    pub const ALL: [Tool; 9] = [
        Tool::ExploreFiles,
        Tool::ReadFile,
        Tool::WriteFile,
        Tool::ModifyFile,
        Tool::DeleteFile,
        Tool::SearchFiles,
        Tool::ExecuteCommand,
        Tool::StopProcess,
        Tool::GetWorkspaceInfo,
    ];

    /// Returns the tool's name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tool::ExploreFiles => "exploreFiles",
            Tool::ReadFile => "readFile",
            Tool::WriteFile => "writeFile",
            Tool::ModifyFile => "modifyFile",
            Tool::DeleteFile => "deleteFile",
            Tool::SearchFiles => "searchFiles",
            Tool::ExecuteCommand => "executeCommand",
            Tool::StopProcess => "stopProcess",
            Tool::GetWorkspaceInfo => "getWorkspaceInfo",
        }
    }
}

impl std::str::FromStr for Tool {
    type Err = WapError;

    fn from_str(name: &str) -> Result<Tool, WapError> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name).ok_or_else(|| {
            let name: String = name.chars().take(MOST_CAUSE_CHARACTERS).collect();
            // Put the names into the text, because many clients show a model only the text.
            let names: Vec<_> = Tool::ALL.iter().map(|tool| tool.name()).collect();
            WapError::new(
                Reason::UnknownTool,
                format!("there is no tool '{name}'; the tools are {}", names.join(", ")),
            )
            .with("tools", names)
        })
    }
}

/// A request to any tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// `exploreFiles`.
    ExploreFiles(ExploreFiles),
    /// `readFile`.
    ReadFile(ReadFile),
    /// `writeFile`.
    WriteFile(WriteFile),
    /// `modifyFile`.
    ModifyFile(ModifyFile),
    /// `deleteFile`.
    DeleteFile(DeleteFile),
    /// `searchFiles`.
    SearchFiles(SearchFiles),
    /// `executeCommand`.
    ExecuteCommand(ExecuteCommand),
    /// `stopProcess`.
    StopProcess(StopProcess),
    /// `getWorkspaceInfo`.
    GetWorkspaceInfo,
}

impl Request {
    /// Reads a request from a tool's name and its arguments, an object. `null` stands for no arguments.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownTool`], or [`Reason::InvalidField`] with the field's name in `details.field`.
    pub fn parse(tool: &str, arguments: Value) -> Result<Request, WapError> {
        // Clients send `null`, or nothing, to a tool without required arguments.
        let arguments = if arguments.is_null() { Value::Object(serde_json::Map::new()) } else { arguments };
        Ok(match tool.parse()? {
            Tool::ExploreFiles => Request::ExploreFiles(read(arguments)?),
            Tool::ReadFile => Request::ReadFile(read(arguments)?),
            Tool::WriteFile => Request::WriteFile(read(arguments)?),
            Tool::ModifyFile => Request::ModifyFile(read(arguments)?),
            Tool::DeleteFile => Request::DeleteFile(read(arguments)?),
            Tool::SearchFiles => Request::SearchFiles(read(arguments)?),
            Tool::ExecuteCommand => Request::ExecuteCommand(read(arguments)?),
            Tool::StopProcess => Request::StopProcess(read(arguments)?),
            Tool::GetWorkspaceInfo => {
                // Read them nevertheless: arguments that are not an object are a mistake of the caller.
                let NoArguments {} = read(arguments)?;
                Request::GetWorkspaceInfo
            }
        })
    }

    /// Returns the tool that the request is for.
    #[must_use]
    pub fn tool(&self) -> Tool {
        match self {
            Request::ExploreFiles(_) => Tool::ExploreFiles,
            Request::ReadFile(_) => Tool::ReadFile,
            Request::WriteFile(_) => Tool::WriteFile,
            Request::ModifyFile(_) => Tool::ModifyFile,
            Request::DeleteFile(_) => Tool::DeleteFile,
            Request::SearchFiles(_) => Tool::SearchFiles,
            Request::ExecuteCommand(_) => Tool::ExecuteCommand,
            Request::StopProcess(_) => Tool::StopProcess,
            Request::GetWorkspaceInfo => Tool::GetWorkspaceInfo,
        }
    }

    /// Checks whether the request leaves something running that ends with its conversation.
    #[must_use]
    pub fn is_background(&self) -> bool {
        matches!(self, Request::ExecuteCommand(request) if request.background.is_some())
    }

    /// Answers the request from a workspace.
    ///
    /// # Errors
    ///
    /// Those of the [`Workspace`].
    pub fn answer<W: Workspace + ?Sized>(
        &self,
        workspace: &W,
        call: &Call<'_>,
        observer: &mut dyn CommandObserver,
    ) -> Result<Response, WapError> {
        Ok(match self {
            Request::ExploreFiles(request) => Response::ExploreFiles(workspace.explore_files(call, request)?),
            Request::ReadFile(request) => Response::ReadFile(workspace.read_file(call, request)?),
            Request::WriteFile(request) => Response::WriteFile(workspace.write_file(call, request)?),
            Request::ModifyFile(request) => Response::ModifyFile(workspace.modify_file(call, request)?),
            Request::DeleteFile(request) => Response::DeleteFile(workspace.delete_file(call, request)?),
            Request::SearchFiles(request) => Response::SearchFiles(workspace.search_files(call, request)?),
            Request::ExecuteCommand(request) => {
                Response::ExecuteCommand(workspace.execute_command(call, request, observer)?)
            }
            Request::StopProcess(request) => Response::StopProcess(workspace.stop_process(call, request)?),
            Request::GetWorkspaceInfo => Response::GetWorkspaceInfo(workspace.workspace_info(call)?),
        })
    }
}

#[derive(Deserialize)]
struct NoArguments {}

fn read<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, WapError> {
    if !arguments.is_object() {
        // Without this, an array would be read as the fields in order.
        return Err(WapError::new(Reason::InvalidField, "the arguments are not an object").with("field", "."));
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        // The parser's text quotes the value, which may be long.
        let cause: String = error.inner().to_string().chars().take(MOST_CAUSE_CHARACTERS).collect();
        // A missing field is reported at its parent, with its name in back-ticks.
        let field = match cause.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
            Some(missing) if path == "." => missing.to_owned(),
            Some(missing) => format!("{path}.{missing}"),
            None => path,
        };
        let text = if field == "." {
            format!("cannot read the arguments: {cause}")
        } else {
            format!("cannot read the argument '{field}': {cause}")
        };
        WapError::new(Reason::InvalidField, text).with("field", field)
    })
}

/// A response of any tool; on the wire it is the bare response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Response {
    /// The response of `exploreFiles`.
    ExploreFiles(ExploreFilesResponse),
    /// The response of `readFile`.
    ReadFile(ReadFileResponse),
    /// The response of `writeFile`.
    WriteFile(WriteFileResponse),
    /// The response of `modifyFile`.
    ModifyFile(ModifyFileResponse),
    /// The response of `deleteFile`.
    DeleteFile(DeleteFileResponse),
    /// The response of `searchFiles`.
    SearchFiles(SearchFilesResponse),
    /// The response of `executeCommand`.
    ExecuteCommand(ExecuteCommandResponse),
    /// The response of `stopProcess`.
    StopProcess(StopProcessResponse),
    /// The response of `getWorkspaceInfo`.
    GetWorkspaceInfo(WorkspaceInfo),
}

impl Response {
    /// Returns the warnings for the caller, to be extended.
    pub fn warnings_mut(&mut self) -> &mut Vec<String> {
        match self {
            Response::ExploreFiles(response) => &mut response.warnings,
            Response::ReadFile(response) => &mut response.warnings,
            Response::WriteFile(response) => &mut response.warnings,
            Response::ModifyFile(response) => &mut response.warnings,
            Response::DeleteFile(response) => &mut response.warnings,
            Response::SearchFiles(response) => &mut response.warnings,
            Response::ExecuteCommand(response) => &mut response.warnings,
            Response::StopProcess(response) => &mut response.warnings,
            Response::GetWorkspaceInfo(info) => &mut info.warnings,
        }
    }

    /// Applies the native dialect: `metadata.path` becomes absolute, below `root`, as the document says.
    #[must_use]
    pub fn with_absolute_metadata(mut self, root: &str) -> Response {
        let absolute = |path: &mut String| {
            // The reserved name of an output is not a file system path.
            if !path.starts_with(OUTPUT_PREFIX) && !path.starts_with(PROCESS_PREFIX) {
                *path = format!("{}/{path}", root.trim_end_matches('/'));
            }
        };
        match &mut self {
            Response::ReadFile(response) => absolute(&mut response.metadata.path),
            Response::ExploreFiles(response) => response
                .files
                .iter_mut()
                .filter_map(|file| file.metadata.as_mut())
                .for_each(|metadata| absolute(&mut metadata.path)),
            _ => {}
        }
        self
    }
}
