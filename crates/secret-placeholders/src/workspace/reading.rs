//! Reading and listing.

use std::borrow::Cow;

use wap_core::{
    Call, ExploreFiles, ExploreFilesResponse, FileStates, Moment, OUTPUT_PREFIX, PROCESS_PREFIX, ReadFile,
    ReadFileResponse, WapError, Workspace,
};

use super::PlaceholderWorkspace;
use super::growth::start_within_growth;
use super::putting_back::PuttingBack;
use super::running::output_key;
use super::veil::{Veil, is_gap, without_cut_words};
use crate::Secrets;
use crate::new_values::NewValues;
use crate::surroundings::{without_cut_end, without_cut_start, without_last_bytes};
use crate::withheld::{CUT_AT_GAPS, MASKED, Verdict, refusal, warning};

/// The maximum number of files in a listing whose content is examined; further ones are left out.
const MOST_LOOKED_AT: usize = 64;

impl<W: Workspace> PlaceholderWorkspace<W> {
    pub(super) fn read_masked(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        request: &ReadFile,
    ) -> Result<ReadFileResponse, WapError> {
        let path = PuttingBack::new(secrets).name(&request.path, "path")?;
        let veil = Veil::new(&self.inner, secrets, call, Some(&path));
        // Name the path as the request does: the restored path may contain a value.
        self.check_visible(call, secrets, &path).map_err(|_| refusal(&request.path))?;
        // Numbers are added last: before the lines, they would prevent secrets from being recognised.
        let plain = ReadFile { path: path.clone(), line_numbers: None, ..request.clone() };
        let read = self.inner.read_file(call, &plain).map_err(|error| veil.all(error))?;
        // A symlink with a harmless name may point to such a file.
        if read.metadata.path != path {
            self.check_visible(call, secrets, &read.metadata.path).map_err(|_| refusal(&request.path))?;
        }
        let ReadFileResponse { mut content, metadata, version, warnings, .. } = read;
        if read.is_truncated && !content.ends_with('\n') {
            content.truncate(without_last_bytes(secrets, &content).len());
        }
        // Command output has a gap where it was cut.
        let mut lacks_lines = false;
        let is_output = path.starts_with(OUTPUT_PREFIX) || path.starts_with(PROCESS_PREFIX);
        if is_output {
            content = self.without_cut_lines(
                secrets,
                call,
                (&plain, read.returned_lines),
                content,
                &mut lacks_lines,
            );
        }
        let mut warnings = veil.all(warnings);
        if lacks_lines {
            warnings.push(CUT_AT_GAPS.to_owned());
        }
        // Only a whole text has a version.
        let is_whole = version.is_some() && !read.is_truncated && read.returned_lines == read.total_lines;
        let masked = match is_whole {
            true => secrets.mask(&content),
            false => veil.excerpt(&content, request.start_line.unwrap_or(1)),
        };
        let given = is_output.then(|| output_key(&call.origin.conversation, &path));
        let given = given.and_then(|key| secrets.remembered_values(&key));
        let masked = match secrets.without_given(&masked, given.as_ref()) {
            Cow::Borrowed(_) => masked,
            Cow::Owned(masked) => Cow::Owned(masked),
        };
        // A text without secrets, as nearly all are, is not copied.
        let (mut is_truncated, mut returned_lines) = (read.is_truncated, read.returned_lines);
        if let Cow::Owned(masked) = masked {
            if let Some(version) = version.as_ref().filter(|_| is_whole) {
                self.held.add(&metadata.path, version, &content);
            }
            let kept = start_within_growth(&content, &masked);
            content = masked;
            warnings.push(MASKED.to_owned());
            if let Some(kept) = kept {
                content.truncate(kept);
                is_truncated = true;
                returned_lines = content.split_inclusive('\n').count() as u64;
            }
        }
        let response = ReadFileResponse {
            content,
            metadata: veil.all(metadata),
            version,
            warnings,
            is_truncated,
            total_lines: read.total_lines,
            returned_lines,
        };
        Ok(response.with_line_numbers(request))
    }

    /// Returns lines of an output without the words next to gaps within, before or after them.
    fn without_cut_lines(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        (request, returned_lines): (&ReadFile, u64),
        mut content: String,
        lacks_lines: &mut bool,
    ) -> String {
        if let Cow::Owned(without) = without_cut_words(secrets, &content, lacks_lines) {
            content = without;
        }
        let first = request.start_line.unwrap_or(1);
        let is_gap_at = |line: i64| {
            let request = ReadFile { start_line: Some(line), end_line: Some(line), ..request.clone() };
            self.inner.read_file(call, &request).is_ok_and(|read| is_gap(&read.content))
        };
        if first > 1 && is_gap_at(first - 1) {
            content = without_cut_start(secrets, &content).to_owned();
        }
        let next = first.saturating_add(i64::try_from(returned_lines).unwrap_or(i64::MAX));
        if let Some(line) = content.strip_suffix('\n').filter(|_| is_gap_at(next)) {
            content = format!("{}\n", without_cut_end(secrets, line));
        }
        content
    }

    pub(super) fn explore_masked(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        let path = PuttingBack::new(secrets).name(&request.path, "path")?;
        let veil = Veil::new(&self.inner, secrets, call, None);
        let listed = self.inner.explore_files(call, &ExploreFiles { path, ..request.clone() });
        let mut listed = listed.map_err(|error| veil.all(error))?;
        let count = listed.files.len();
        let mut looked_at = 0;
        listed.files.retain(|file| {
            if file.is_directory {
                return true;
            }
            match self.withheld.verdict(&file.path) {
                Verdict::Visible => true,
                Verdict::LeftOut => false,
                Verdict::IfSecret => {
                    looked_at += 1;
                    looked_at <= MOST_LOOKED_AT && !self.is_withheld(call, secrets, &file.path)
                }
            }
        });
        let left_out = count - listed.files.len();
        if left_out > 0 {
            listed.total_found -= left_out as u64;
            listed.warnings.push(warning(left_out));
        }
        let mut values = NewValues::default();
        veil.add_values(&listed, &mut values, 0);
        secrets.keep_all(&values);
        Ok(veil.all(listed))
    }

    pub(super) fn states_masked(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        let veil = Veil::new(&self.inner, secrets, call, None);
        let putting_back = PuttingBack::new(secrets);
        let paths: Vec<String> =
            paths.iter().map(|path| putting_back.name(path, "path")).collect::<Result<_, _>>()?;
        let states = self.inner.file_states(call, &paths, since).map_err(|error| veil.all(error))?;
        Ok(veil.all(states))
    }
}
