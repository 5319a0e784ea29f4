//! The path under which clients of llm4s address the workspace.

use std::str::FromStr;

use wap_core::{Request, Response};

/// An absolute path that stands for the root of the workspace, such as `/workspace`.
///
/// The original server runs in a container with the workspace at this path, and its clients use it in file names. Only paths in
/// requests are mapped, as text and before all checks: a path that leaves the workspace after the prefix is refused as without
/// it. Shell commands are not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspacePrefix(String);

/// A text that is not a prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a prefix is an absolute path without '.' and '..', and not '/', such as /workspace")]
pub struct PrefixError;

impl FromStr for WorkspacePrefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<WorkspacePrefix, PrefixError> {
        let names = text.strip_prefix('/').ok_or(PrefixError)?.trim_end_matches('/');
        let is_plain = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(char::is_control);
        if !names.split('/').all(is_plain) {
            return Err(PrefixError);
        }
        Ok(WorkspacePrefix(format!("/{names}")))
    }
}

impl WorkspacePrefix {
    /// Makes the paths of a request relative to the workspace.
    pub(crate) fn remove_from(&self, request: &mut Request) {
        match request {
            Request::ExploreFiles(request) => self.shorten(&mut request.path),
            Request::ReadFile(request) => self.shorten(&mut request.path),
            Request::WriteFile(request) => self.shorten(&mut request.path),
            Request::ModifyFile(request) => self.shorten(&mut request.path),
            Request::DeleteFile(request) => self.shorten(&mut request.path),
            Request::SearchFiles(request) => request.paths.iter_mut().for_each(|path| self.shorten(path)),
            Request::ExecuteCommand(request) => {
                if let Some(folder) = &mut request.working_directory {
                    self.shorten(folder);
                }
            }
            Request::StopProcess(_) | Request::GetWorkspaceInfo => {}
        }
    }

    /// Replaces the root in a response by the prefix.
    pub(crate) fn add_to(&self, response: &mut Response) {
        if let Response::GetWorkspaceInfo(info) = response {
            info.root.clone_from(&self.0);
        }
    }

    fn shorten(&self, path: &mut String) {
        let Some(rest) = path.strip_prefix(&self.0) else { return };
        if rest.is_empty() {
            *path = ".".to_owned();
        } else if let Some(rest) = rest.strip_prefix('/') {
            // Strip all slashes: a remaining one would make the path absolute.
            let rest = rest.trim_start_matches('/');
            *path = if rest.is_empty() { ".".to_owned() } else { rest.to_owned() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WorkspacePrefix;

    fn shortened(prefix: &str, path: &str) -> String {
        let mut path = path.to_owned();
        prefix.parse::<WorkspacePrefix>().unwrap().shorten(&mut path);
        path
    }

    #[test]
    fn only_whole_components_of_the_prefix_are_removed() {
        for prefix in ["/workspace", "/workspace/"] {
            assert_eq!(shortened(prefix, "/workspace/src/a.txt"), "src/a.txt");
            assert_eq!(shortened(prefix, "/workspace"), ".");
            assert_eq!(shortened(prefix, "/workspace//"), ".");
            assert_eq!(shortened(prefix, "/workspace//etc/passwd"), "etc/passwd");
            // These paths are not below the prefix, and are checked like any other path.
            for path in ["/workspaces/a", "/etc/passwd", "workspace/a", "a", ""] {
                assert_eq!(shortened(prefix, path), path);
            }
            assert_eq!(shortened(prefix, "/workspace/../etc/passwd"), "../etc/passwd");
        }
    }

    #[test]
    fn a_prefix_is_a_plain_absolute_path() {
        for text in ["", "/", "workspace", "/a/../b", "/a//b", "/.", "//", "/a\nb"] {
            assert!(text.parse::<WorkspacePrefix>().is_err(), "{text}");
        }
    }
}
