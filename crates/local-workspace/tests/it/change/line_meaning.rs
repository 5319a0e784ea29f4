//! No edit by number lands on lines that its conversation could not have meant, with real commands and files.

use std::fs;

use local_workspace::LocalWorkspace;
use test_support::{LineStories, NumberedFile};

use crate::fixture::workspace::*;

struct File {
    workspace: LocalWorkspace,
    fixture: Fixture,
}

impl File {
    fn new() -> File {
        let fixture = Fixture::new();
        File { workspace: fixture.open(), fixture }
    }
}

fn text(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

impl NumberedFile for File {
    type Workspace = LocalWorkspace;

    fn workspace(&self) -> &LocalWorkspace {
        &self.workspace
    }

    fn lines(&self) -> Vec<String> {
        self.fixture.text("a").unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn save(&self, lines: &[String]) {
        // As most editors do: another file under the same name.
        let new = self.fixture.outside().join("saved");
        fs::write(&new, text(lines)).unwrap();
        fs::rename(new, self.fixture.root().join("a")).unwrap();
    }

    fn command(&self, lines: Option<&[String]>) -> String {
        lines.map_or("true".to_owned(), |lines| format!("cat > a <<'END'\n{}END\n", text(lines)))
    }
}

#[test]
fn no_edit_by_number_lands_on_lines_that_were_not_meant() {
    let factor: u64 = std::env::var("SOAK_FACTOR").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let stories = LineStories::happen(File::new, 1..10 * factor + 1, 40, false);
    let LineStories { violations, edits, refusals } = stories;
    assert!(violations.is_empty(), "{} of {edits} edits:\n{}", violations.len(), violations[0]);
    // The property says nothing unless there are both.
    assert!(edits > 25 && refusals > 25, "{edits} edits, {refusals} refusals");
}

#[test]
fn control_without_what_the_conversation_remembers_lines_are_hit_that_were_not_meant() {
    let stories = LineStories::happen(File::new, 1..7, 40, true);
    assert!(stories.violations.len() > 2, "{:?}", stories.violations);
}
