//! The outcomes of one recorded call in both programs.

use super::super::applied::{Applied, apply};
use super::edits::{Edit, ReadEdits, of_blocks, of_diffs, ours};
use super::record::Call;
use crate::conformance::Problem;

/// The outcome of a comparison. Texts say nothing of what the reply holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// Both do the same.
    Same,
    /// Both find no edit in the reply.
    NoEdit,
    /// Both refuse.
    BothRefuse,
    /// They differ.
    Different {
        /// The outcome of aider.
        theirs: String,
        /// Our outcome.
        ours: String,
    },
    /// The call is the end of a test, which compares nothing.
    Nothing,
}

/// Compares our outcome of a call with aider's.
///
/// # Errors
///
/// A problem if a session cannot be held at all.
pub(super) fn compare(call: &Call) -> Result<Comparison, Problem> {
    Ok(match call {
        Call::Blocks { reply, result } => read(result.as_deref().map(of_blocks), ours(reply)),
        Call::Diffs { reply, result } => read(result.as_deref().map(of_diffs), ours(reply)),
        Call::Replace { whole, part, replacement, result } => {
            let reply = format!("file.txt\n<<<<<<< SEARCH\n{part}=======\n{replacement}>>>>>>> REPLACE\n");
            let before = [("file.txt".to_owned(), whole.clone())].into();
            let after = result.as_ref().map(|text| [("file.txt".to_owned(), text.clone())].into());
            applied(apply(&before, &reply)?, after.as_ref(), &before)
        }
        Call::Reply { is_dry_run: true, before, reply, .. } => {
            // Nothing is written, so that what would be is compared with what is.
            let applied = apply(before, reply)?;
            match applied.is_done {
                true => Comparison::Same,
                false => different("would change the file", "refused"),
            }
        }
        Call::Reply { reply, before, after, .. } => applied(apply(before, reply)?, Some(after), before),
        Call::End { .. } => Comparison::Nothing,
    })
}

fn different(theirs: impl Into<String>, ours: impl Into<String>) -> Comparison {
    Comparison::Different { theirs: theirs.into(), ours: ours.into() }
}

fn read(theirs: Option<Vec<Edit>>, ours: ReadEdits) -> Comparison {
    let Some(theirs) = theirs else {
        return match ours.refusals.is_empty() {
            true => different("refused", count(ours.edits.len())),
            false => Comparison::BothRefuse,
        };
    };
    let what = match (ours.edits.len(), ours.refusals.first()) {
        (0, Some(why)) => format!("refused: {why}"),
        (edits, Some(why)) => format!("{}, and refused: {why}", count(edits)),
        (edits, None) => count(edits),
    };
    if !ours.refusals.is_empty() || theirs.len() != ours.edits.len() {
        return different(count(theirs.len()), what);
    }
    let of_field = |field: fn(&Edit) -> &str, name: &str| {
        let are_same = theirs.iter().zip(&ours.edits).all(|(theirs, ours)| field(theirs) == field(ours));
        (!are_same).then(|| name.to_owned())
    };
    let fields = [
        of_field(|edit| &edit.path, "another path"),
        of_field(|edit| &edit.search, "other lines to find"),
        of_field(|edit| &edit.replacement, "other new lines"),
    ];
    let others: Vec<String> = fields.into_iter().flatten().collect();
    if theirs.is_empty() && ours.edits.is_empty() {
        return Comparison::NoEdit;
    }
    if others.is_empty() { Comparison::Same } else { different(count(theirs.len()), others.join(", ")) }
}

fn count(edits: usize) -> String {
    match edits {
        0 => "no edit".to_owned(),
        1 => "1 edit".to_owned(),
        _ => format!("{edits} edits"),
    }
}

type Files = std::collections::BTreeMap<String, String>;

fn applied(ours: Applied, theirs: Option<&Files>, before: &Files) -> Comparison {
    let theirs = theirs.filter(|after| *after != before);
    match (theirs, ours.is_done) {
        (None, false) => Comparison::BothRefuse,
        (None, true) => different("nothing is changed", "the files are changed"),
        (Some(_), false) => different("the files are changed", format!("refused: {}", ours.why)),
        (Some(after), true) if *after == ours.after => Comparison::Same,
        (Some(_), true) => different("the files are changed", "the files are changed in another way"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Call, Comparison, compare};

    const REPLY: &str = "a.py\n<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n";

    fn blocks(reply: &str, result: Option<serde_json::Value>) -> Comparison {
        let result = result.map(|edits| edits.as_array().unwrap().clone());
        compare(&Call::Blocks { reply: reply.to_owned(), result }).unwrap()
    }

    #[test]
    fn what_is_read_alike_is_the_same() {
        assert_eq!(blocks(REPLY, Some(json!([["a.py", "one\n", "two\n"]]))), Comparison::Same);
        assert_eq!(blocks("Prose.\n", Some(json!([]))), Comparison::NoEdit);
        assert_eq!(blocks("a.py\n<<<<<<< SEARCH\none\n", None), Comparison::BothRefuse);
    }

    #[test]
    fn every_difference_is_named() {
        let different = |theirs: &str, ours: &str| Comparison::Different {
            theirs: theirs.to_owned(),
            ours: ours.to_owned(),
        };
        assert_eq!(blocks(REPLY, None), different("refused", "1 edit"));
        assert_eq!(blocks(REPLY, Some(json!([]))), different("no edit", "1 edit"));
        let other = blocks(REPLY, Some(json!([["b.py", "one\n", "three\n"]])));
        assert_eq!(other, different("1 edit", "another path, other new lines"));
    }

    #[test]
    fn a_passage_is_replaced_by_a_session() {
        let call = |whole: &str, result: Option<&str>| Call::Replace {
            whole: whole.to_owned(),
            part: "one\n".to_owned(),
            replacement: "two\n".to_owned(),
            result: result.map(str::to_owned),
        };
        assert_eq!(compare(&call("one\nend\n", Some("two\nend\n"))).unwrap(), Comparison::Same);
        assert_eq!(compare(&call("end\n", None)).unwrap(), Comparison::BothRefuse);
        let twice = compare(&call("one\none\n", Some("two\none\n"))).unwrap();
        assert!(matches!(twice, Comparison::Different { .. }), "{twice:?}");
    }
}
