//! The lines that report a recovery after a crash.

use local_workspace::Recovery;

/// Returns the lines about a recovery. A command may have changed thousands of files; each kind names a few.
pub(super) fn recovery_notices(recovery: &Recovery) -> Vec<String> {
    const NAMED: usize = 8;
    let mut lines = Vec::new();
    let mut add = |all: Vec<String>, what: &str| {
        let more = all.len().saturating_sub(NAMED);
        lines.extend(all.into_iter().take(NAMED));
        if more > 0 {
            lines.push(format!("{more} more {what}"));
        }
    };
    let each =
        |paths: &[String], text: &dyn Fn(&str) -> String| paths.iter().map(|path| text(path)).collect();
    let redone =
        each(&recovery.redone, &|path| format!("recovered: {path} was written again from the journal"));
    add(redone, "were recovered as well");
    let conflicts = each(&recovery.conflicts, &|path| {
        format!("{path} was changed by another program before it was synced: that version stays")
    });
    add(conflicts, "were changed by another program as well");
    let repositories = each(&recovery.repositories, &|path| {
        format!(
            "{path} was used by another program since a command or an undo was cut short: it stays as it is, without the rest of what \
             that was to do to branches and the index"
        )
    });
    add(repositories, "repositories were used as well");
    let kept = each(&recovery.kept, &|path| {
        format!("{path} was saved by another program during a crash: that version is kept, look at it")
    });
    add(kept, "were kept as well");
    let failed = recovery.failed.iter();
    let failed = failed.map(|(path, error)| format!("{path} could not be written again yet: {error}"));
    add(failed.collect(), "could not be written either");
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_names_a_few_of_its_paths() {
        let mut recovery = Recovery::default();
        recovery.redone = (0..8).map(|number| number.to_string()).collect();
        assert_eq!(recovery_notices(&recovery).len(), 8);
        recovery.redone.extend((8..5_000).map(|number| number.to_string()));
        recovery.repositories = vec![".git".to_owned()];
        let lines = recovery_notices(&recovery);
        assert_eq!(lines.len(), 10, "{lines:?}");
        assert_eq!(lines[8], "4992 more were recovered as well");
        assert!(lines[9].starts_with(".git was used by another program"), "{lines:?}");
    }
}
