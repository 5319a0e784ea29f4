//! Each line of a file belongs to the change that has made it.

use std::fs;

use change_journal::{ChangeNumber, Journal};
use local_workspace::{LineOrigin, LocalWorkspace, Undo, line_origins};
use proptest::prelude::*;
use rel_path::RelPath;

use crate::fixture::workspace::*;

const FILE: &str = "a.txt";

struct Desk {
    fixture: Fixture,
    journal: Journal,
    workspace: LocalWorkspace,
}

impl Desk {
    fn new(text: &str) -> Desk {
        let fixture = Fixture::in_memory();
        fixture.put(FILE, text);
        let journal = Journal::in_memory().unwrap();
        let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
        Desk { fixture, journal, workspace }
    }

    fn text(&self) -> String {
        self.fixture.text(FILE).unwrap_or_default()
    }

    fn save(&self, text: &str) -> LineOrigin {
        change(&self.workspace, write(FILE, text)).unwrap();
        self.newest()
    }

    fn newest(&self) -> LineOrigin {
        LineOrigin::Change(
            self.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap().last().unwrap().number,
        )
    }

    fn undo(&self, origin: LineOrigin) -> Result<(), String> {
        let LineOrigin::Change(number) = origin else { panic!("{origin:?} is not a change") };
        let undone = self.workspace.undo(&Caller::once().call(), &Undo::Changes(vec![number]));
        undone.map(drop).map_err(|error| error.to_string())
    }

    fn origins(&self) -> Vec<LineOrigin> {
        let path = RelPath::from_bytes(FILE.as_bytes()).unwrap();
        line_origins(self.journal.reader(), &path, &self.text()).unwrap()
    }
}

#[test]
fn lines_belong_to_changes_to_the_time_before_and_to_other_programs() {
    let desk = Desk::new("one\ntwo\nthree\n");
    assert_eq!(desk.origins(), [LineOrigin::Earlier; 3]);
    let first = desk.save("one\nTWO\nthree\n");
    // Another program in between, and one at the end.
    fs::write(desk.fixture.root().join(FILE), "one\nTWO\nthree\nfour\n").unwrap();
    change(&desk.workspace, replace(FILE, (1, 1), "ONE", None)).unwrap();
    let second = desk.newest();
    fs::write(desk.fixture.root().join(FILE), "ONE\nTWO\nthree\nfour\nfive").unwrap();
    let LineOrigin::Change(before) = second else { panic!("{second:?}") };
    let expected = [
        second,
        first,
        LineOrigin::Earlier,
        LineOrigin::Outside { before: Some(before) },
        LineOrigin::Outside { before: None },
    ];
    assert_eq!(desk.origins(), expected);
}

#[test]
fn what_an_undo_brings_back_belongs_to_the_change_that_made_it() {
    let desk = Desk::new("one\n");
    let first = desk.save("one\ntwo\n");
    let second = desk.save("three\n");
    desk.undo(second).unwrap();
    assert_eq!(desk.origins(), [LineOrigin::Earlier, first]);
    desk.undo(desk.newest()).unwrap();
    assert_eq!((desk.text(), desk.origins()), ("three\n".to_owned(), vec![second]));
}

#[test]
fn what_is_no_text_makes_everything_before_it_unknown() {
    let desk = Desk::new("one\n");
    fs::write(desk.fixture.root().join(FILE), b"\xff\xfe one\n").unwrap();
    let change = desk.save("one\ntwo\n");
    assert!(matches!(change, LineOrigin::Change(_)));
    assert_eq!(desk.origins(), [LineOrigin::Unknown; 2]);
}

/// One step of a random history.
#[derive(Clone, Debug)]
enum Step {
    /// A change inserts lines at a position and removes some after it.
    Change { at: usize, insert: usize, remove: usize },
    /// Another program does so.
    Outside { at: usize, insert: usize, remove: usize },
    /// The newest change is undone, if it can be.
    Undo,
}

fn step() -> impl Strategy<Value = Step> {
    let edit = (0..8_usize, 0..3_usize, 0..3_usize);
    prop_oneof![
        4 => edit.clone().prop_map(|(at, insert, remove)| Step::Change { at, insert, remove }),
        1 => edit.prop_map(|(at, insert, remove)| Step::Outside { at, insert, remove }),
        1 => Just(Step::Undo),
    ]
}

/// The lines of the file with their origins; each text is there only once, so that there is one answer.
type Model = Vec<(String, LineOrigin)>;

fn edit(
    model: &mut Model,
    next: &mut usize,
    (at, insert, remove): (usize, usize, usize),
    origin: LineOrigin,
) {
    let at = at.min(model.len());
    let end = (at + remove).min(model.len());
    let new: Vec<_> = (0..insert).map(|offset| (format!("line {}\n", *next + offset), origin)).collect();
    *next += insert;
    model.splice(at..end, new);
}

fn text(model: &Model) -> String {
    model.iter().map(|(line, _)| &**line).collect()
}

fn check(steps: &[Step]) {
    let mut next = 3;
    let mut model: Model = (0..3).map(|line| (format!("line {line}\n"), LineOrigin::Earlier)).collect();
    let desk = Desk::new(&text(&model));
    // The lines that other programs have made since the newest change, which is not known yet.
    let pending = LineOrigin::Outside { before: None };
    let mut has_changes = false;
    let mut undoable: Option<(LineOrigin, Model)> = None;
    for step in steps {
        match step {
            Step::Change { at, insert, remove } => {
                let before = model.clone();
                // A number that no change has.
                let own = LineOrigin::Change(ChangeNumber(u64::MAX));
                edit(&mut model, &mut next, (*at, *insert, *remove), own);
                if text(&model) == text(&before) {
                    continue;
                }
                let made = desk.save(&text(&model));
                has_changes = true;
                let LineOrigin::Change(number) = made else { unreachable!() };
                for (_, origin) in &mut model {
                    *origin = match *origin {
                        origin if origin == own => made,
                        origin if origin == pending => LineOrigin::Outside { before: Some(number) },
                        origin => origin,
                    };
                }
                let settle = |(line, origin): (String, LineOrigin)| match origin == pending {
                    true => (line, LineOrigin::Outside { before: Some(number) }),
                    false => (line, origin),
                };
                undoable = Some((made, before.into_iter().map(settle).collect()));
            }
            Step::Outside { at, insert, remove } => {
                let before = text(&model);
                let origin = if has_changes { pending } else { LineOrigin::Earlier };
                edit(&mut model, &mut next, (*at, *insert, *remove), origin);
                if text(&model) != before {
                    fs::write(desk.fixture.root().join(FILE), text(&model)).unwrap();
                    undoable = None;
                }
            }
            Step::Undo => {
                if let Some((made, before)) = undoable.take() {
                    desk.undo(made).unwrap();
                    model = before;
                }
            }
        }
        assert_eq!(desk.text(), text(&model));
        let expected: Vec<LineOrigin> = model.iter().map(|(_, origin)| *origin).collect();
        assert_eq!(desk.origins(), expected, "{}", text(&model));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn every_line_has_its_origin(steps in proptest::collection::vec(step(), 1..12)) {
        check(&steps);
    }
}
