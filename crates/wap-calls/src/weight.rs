//! The size of a request while it waits.
//!
//! Every text counts, since a client chooses its length: a path of many megabytes is refused, but only when its call runs.

use wap_core::{
    DeleteFile, ExecuteCommand, ExploreFiles, FileVersion, ModifyFile, ModifyOperation, ReadFile, Request,
    SearchFiles, SeenVersions, StopProcess, WriteFile,
};

/// Estimates the size of a request in bytes from below, without the overhead of the allocator.
pub(crate) fn weight_bytes(request: &Request) -> usize {
    let texts = match request {
        Request::ExploreFiles(ExploreFiles { path, pattern, exclude_patterns, .. }) => {
            path.len() + option(pattern.as_ref()) + exclude_patterns.as_deref().map_or(0, list)
        }
        Request::ReadFile(ReadFile { path, .. }) | Request::DeleteFile(DeleteFile { path, .. }) => path.len(),
        Request::WriteFile(WriteFile { path, content, .. }) => path.len() + content.len(),
        Request::ModifyFile(request) => modification(request),
        Request::SearchFiles(SearchFiles { paths, query, exclude_patterns, withheld, .. }) => {
            let withheld = withheld.as_ref().map_or(0, |files| list(&files.granted) + list(&files.harmless));
            list(paths) + query.len() + exclude_patterns.as_deref().map_or(0, list) + withheld
        }
        Request::ExecuteCommand(request) => command(request),
        Request::StopProcess(StopProcess { name }) => name.len(),
        Request::GetWorkspaceInfo => 0,
    };
    size_of::<Request>() + texts
}

fn option(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}

fn list(texts: &[String]) -> usize {
    texts.iter().map(|text| size_of::<String>() + text.len()).sum()
}

fn version(version: Option<&FileVersion>) -> usize {
    version.map_or(0, |FileVersion(text)| text.len())
}

fn modification(request: &ModifyFile) -> usize {
    let ModifyFile { path, operations, expected_version, seen_versions, .. } = request;
    let versions = seen_versions.as_ref().map_or(0, |SeenVersions { by_operation, last_answer, .. }| {
        let each = |one: &Option<FileVersion>| size_of::<Option<FileVersion>>() + version(one.as_ref());
        by_operation.iter().map(each).sum::<usize>() + version(last_answer.as_ref())
    });
    let operations: usize = operations.iter().map(operation).sum();
    path.len() + operations + version(expected_version.as_ref()) + versions
}

fn operation(operation: &ModifyOperation) -> usize {
    let texts = match operation {
        ModifyOperation::Replace { new_content, was, .. }
        | ModifyOperation::Insert { new_content, was, .. } => new_content.len() + option(was.as_ref()),
        ModifyOperation::Delete { was, .. } => option(was.as_ref()),
        ModifyOperation::ReplaceText { old_text, new_text, .. } => old_text.len() + new_text.len(),
        ModifyOperation::RegexReplace { pattern, replacement, flags } => {
            pattern.len() + replacement.len() + option(flags.as_ref())
        }
    };
    size_of::<ModifyOperation>() + texts
}

fn command(request: &ExecuteCommand) -> usize {
    let ExecuteCommand {
        command, working_directory, environment, background, recorded_command, ready, ..
    } = request;
    let variables = environment.iter().flatten();
    let variables: usize =
        variables.map(|(name, value)| 2 * size_of::<String>() + name.len() + value.len()).sum();
    let texts = [working_directory, background, recorded_command, ready];
    command.len() + variables + texts.into_iter().map(|text| option(text.as_ref())).sum::<usize>()
}
