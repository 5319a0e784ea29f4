use cocode_env::{AgentState, ExitMeaning};

#[test]
fn state_transitions() {
    let mut edges = Vec::new();
    for from in AgentState::ALL {
        for to in AgentState::ALL {
            if from.can_become(to) {
                edges.push(format!("{from}>{to}"));
            }
        }
        assert_eq!(from.is_final(), !AgentState::ALL.iter().any(|to| from.can_become(*to)));
    }
    assert_eq!(
        edges.join(" "),
        "pending>running pending>failed pending>cancelled running>ready running>completed running>failed \
         running>timed_out running>cancelled running>lost"
    );
}

#[test]
fn exit_codes_follow_the_contract() {
    let cases = [
        (0, "success", AgentState::Completed),
        (1, "error", AgentState::Failed),
        (2, "invalid_config", AgentState::Failed),
        (3, "missing_deps", AgentState::Failed),
        (124, "timeout", AgentState::TimedOut),
        (130, "interrupted", AgentState::Cancelled),
        (137, "signal", AgentState::Failed),
        (42, "error", AgentState::Failed),
        (255, "error", AgentState::Failed),
    ];
    for (code, name, state) in cases {
        let meaning = ExitMeaning::of(code);
        assert_eq!(meaning.name(), name);
        assert_eq!(AgentState::after_exit(meaning, false), state);
        // No code but 0 is ever ready.
        assert_eq!(AgentState::after_exit(meaning, true) == AgentState::Ready, code == 0);
    }
    assert!(ExitMeaning::of(3).advice().unwrap().contains("doctor"));
}
