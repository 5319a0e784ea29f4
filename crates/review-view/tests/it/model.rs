//! Random keys and events: no panic, and the draft that is kept is the one that is shown.

use change_review::{ProposalId, Selection};
use proptest::prelude::*;
use review_view::{Event, Key};

use crate::fixture::{Host, command_step, file_step, lines, proposal, usual};

#[derive(Clone, Debug)]
enum Act {
    Key(Key),
    /// Carries out one request.
    Answer,
    SaveElsewhere(usize),
    ChangeFolder(usize),
    ShowAgain(usize),
    List,
    Tick,
    Draw(u16, u16),
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        8 => prop::sample::select("jk axnSdtlboftgG?<>yNq".chars().collect::<Vec<_>>()).prop_map(Key::Character),
        1 => any::<char>().prop_map(Key::Character),
        4 => prop::sample::select(vec![
            Key::Enter, Key::Escape, Key::Tab, Key::BackTab, Key::Up, Key::Down, Key::Left, Key::Right,
            Key::PageUp, Key::PageDown, Key::Home, Key::End, Key::Backspace, Key::Delete, Key::Interrupt,
            Key::ClearLine,
        ]),
        1 => ".{0,12}".prop_map(Key::Paste),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => key().prop_map(Act::Key),
        6 => Just(Act::Answer),
        1 => (0..3_usize).prop_map(Act::SaveElsewhere),
        1 => (0..3_usize).prop_map(Act::ChangeFolder),
        1 => (0..3_usize).prop_map(Act::ShowAgain),
        1 => Just(Act::List),
        1 => Just(Act::Tick),
        1 => (1..150_u16, 1..50_u16).prop_map(|(width, height)| Act::Draw(width, height)),
    ]
}

fn host() -> Host {
    let one_hunk = file_step(0, "a.txt", Some("a\nb\n"), Some("a\nc\n"));
    Host::new(vec![
        usual(),
        proposal(5, "one file", vec![one_hunk]),
        proposal(8, "a command", vec![command_step(0, "true"), file_step(1, "gone", Some("x\n"), None)]),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_draft_that_is_kept_is_the_one_that_is_shown(acts in prop::collection::vec(act(), 1..80)) {
        let mut host = host();
        for act in acts {
            match act {
                Act::Key(key) => host.press(key),
                Act::Answer => {
                    host.answer_one();
                }
                Act::SaveElsewhere(index) => {
                    let kept = &mut host.proposals[index];
                    if kept.proposal.is_pending() {
                        kept.draft.selection = Selection::nothing(&kept.proposal.steps);
                        kept.draft.revision += 1;
                    }
                }
                Act::ChangeFolder(index) => {
                    let after = lines().replace("line_7", "seventh");
                    let step = file_step(0, "src/lib.rs", Some(&lines()), Some(&after));
                    host.proposals[index].proposal.steps[0] = step;
                }
                Act::ShowAgain(index) => {
                    let id = host.proposals[index].proposal.id;
                    host.show(id);
                }
                Act::List => host.list(),
                Act::Tick => host.send(Event::Tick),
                Act::Draw(width, height) => {
                    host.screen(width, height);
                }
            }
        }
        host.answer_all();
        host.list();
        host.answer_all();
        // What the poll of the queue does every few moments.
        if let Some(id) = host.view.opened_id() {
            host.show(id);
            host.answer_all();
            let kept = host.proposals.iter().find(|kept| kept.proposal.id == id).unwrap();
            prop_assert_eq!(host.view.draft(), Some(&kept.draft));
        }
    }

    #[test]
    fn keys_alone_never_decide_without_a_yes(keys in prop::collection::vec(key(), 1..60)) {
        let mut host = host();
        for key in keys.into_iter().filter(|key| !matches!(key, Key::Character('y' | 'Y'))) {
            host.key(key);
        }
        for id in [3, 5, 8] {
            prop_assert!(host.kept(ProposalId(id)).proposal.is_pending());
        }
    }
}
