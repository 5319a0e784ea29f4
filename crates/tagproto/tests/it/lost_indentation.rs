//! Damage to the indentation of continuations, for any cut of a reply, and of new files in other formats.

use tagproto::{Dialect, Incoming, RefusalKind, Session, Strictness, read_in};

const FILE: &str = r#"import sys


class Store:
    """Keeps items."""

    def __init__(self):
        self.items = {}

    def get(self, key):
        if key not in self.items:
            raise KeyError(key)
        return self.items[key]

    def remove(self, key):
        del self.items[key]


def main():
    store = Store()
    print(store.get("a"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
"#;

fn in_block(text: &str) -> String {
    format!("Here is the file.\n\n[CREATE_FILE path=\"store.py\"]\n{text}")
}

/// Replaces the indentation of each line.
fn indented(text: &str, indentation: impl Fn(&str) -> String) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let body = line.trim_start_matches(' ');
        if body == "\n" { line.to_owned() } else { indentation(&line[..line.len() - body.len()]) + body }
    });
    lines.collect()
}

/// Cuts the file at each byte, and continues it from the requested lines with another indentation; returns the number of cuts at
/// which it was joined, and the cuts at which the joined text was different.
fn joined(indentation: impl Fn(&str) -> String) -> (usize, Vec<usize>) {
    let whole = in_block(FILE) + "[/CREATE_FILE]\n";
    let (mut count, mut wrong) = (0, Vec::new());
    for cut in 0..FILE.len() {
        let start = "2026-01-01T00:00:00Z";
        let mut session = Session::new("a1b2c3d4".parse().unwrap(), "task", start, Dialect::Agentd, None);
        let beginning = in_block(&FILE[..cut]);
        let Incoming::CutOff { held, .. } = session.incoming(&beginning) else { panic!("{cut}") };
        let lines: String = held.last_lines().iter().map(|line| format!("{line}\n")).collect();
        session.hold(Some(held), "later");
        let at = beginning.rfind(lines.as_str()).unwrap();
        let rest = indented(&whole[at..], &indentation);
        match session.incoming(&rest) {
            Incoming::NotContinued => {}
            // The lines of a whole block are not joined.
            incoming => {
                let text = incoming.text().unwrap_or_default();
                count += 1;
                if text.trim_start_matches("Here is the file.\n\n") != &whole["Here is the file.\n\n".len()..]
                {
                    wrong.push(cut);
                }
            }
        }
    }
    (count, wrong)
}

#[test]
fn a_continuation_with_its_indentation_is_joined_wherever_the_cut_is() {
    assert_eq!(joined(str::to_owned), (FILE.len(), Vec::new()));
}

#[test]
fn a_continuation_without_its_indentation_is_joined_only_where_none_is_missing() {
    let (count, wrong) = joined(|_| String::new());
    assert_eq!(wrong, Vec::<usize>::new());
    assert!(count < FILE.len() / 4, "{count}");
}

#[test]
fn a_continuation_with_no_break_spaces_is_joined_only_where_none_is_written() {
    let (_, wrong) = joined(|indent| indent.replace(' ', "\u{a0}"));
    assert_eq!(wrong, Vec::<usize>::new());
    let (_, wrong) = joined(|indent| indent.replace("  ", "\u{a0} "));
    assert_eq!(wrong, Vec::<usize>::new());
}

#[test]
fn a_new_file_of_code_with_no_break_spaces_is_refused_in_other_formats_as_well() {
    let formats: [fn(&str, &str) -> String; 3] = [
        |path, line| format!("{path}\n<<<<<<< SEARCH\n=======\nf {{\n{line}\n}}\n>>>>>>> REPLACE\n"),
        |path, line| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,3 @@\n+f {{\n+{line}\n+}}\n"),
        |path, line| format!("*** Begin Patch\n*** Add File: {path}\n+f {{\n+{line}\n+}}\n*** End Patch\n"),
    ];
    for format in formats {
        let read = |path: &str, line: &str| {
            let reply = read_in(&format(path, line), Strictness::Repair, Dialect::Agentd).into_owned();
            (reply.items.len(), reply.refused.map(|refusal| refusal.kind))
        };
        assert_eq!(read("src/a.js", "\u{a0} g();"), (0, Some(RefusalKind::NbspInBody)));
        assert_eq!(read("src/a.js", "  g();"), (1, None));
        assert_eq!(read("src/a.md", "\u{a0} g();"), (1, None));
    }
}
