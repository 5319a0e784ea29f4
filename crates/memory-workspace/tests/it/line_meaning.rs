//! No edit by number changes lines that its conversation could not have meant, whatever happens in between.

use memory_workspace::MemoryWorkspace;
use serde_json::json;
use test_support::{LineStories, NumberedFile};

struct File(MemoryWorkspace);

impl File {
    fn new() -> File {
        let workspace = MemoryWorkspace::new();
        let ended =
            json!({ "stdout": "", "stderr": "", "exitCode": 0, "isOutputTruncated": false, "durationMs": 0 });
        workspace.on_command("true", Ok(serde_json::from_value(ended).unwrap()));
        File(workspace)
    }
}

impl NumberedFile for File {
    type Workspace = MemoryWorkspace;

    fn workspace(&self) -> &MemoryWorkspace {
        &self.0
    }

    fn lines(&self) -> Vec<String> {
        self.0.text("a").unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn save(&self, lines: &[String]) {
        self.0.set_file("a", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    }

    fn command(&self, lines: Option<&[String]>) -> String {
        // Commands in memory do nothing, so apply the effect first.
        if let Some(lines) = lines {
            self.save(lines);
        }
        "true".to_owned()
    }
}

#[test]
fn no_edit_by_number_changes_lines_that_were_not_meant() {
    let factor: u64 = std::env::var("SOAK_FACTOR").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let stories = LineStories::happen(File::new, 1..401 * factor, 40, false);
    let LineStories { violations, edits, refusals } = stories;
    assert!(violations.is_empty(), "{} of {edits} edits:\n{}", violations.len(), violations[0]);
    // The property is only meaningful if there are both.
    assert!(edits > 1_000 && refusals > 1_000, "{edits} edits, {refusals} refusals");
}

#[test]
fn control_without_the_conversation_edits_change_lines_that_were_not_meant() {
    let stories = LineStories::happen(File::new, 1..51, 40, true);
    assert!(stories.violations.len() > 25, "{:?}", stories.violations);
}
