//! The refusals in an outcome, case by case as in `fixtures/denied/cases.json`.

use std::os::unix::net::UnixListener;

use sandbox_exec::Denied;
use serde_json::Value;

use crate::fixture::stderr;
use crate::network::{at_level_full, run};

fn cases() -> Vec<Value> {
    let text = include_str!("../../../../../fixtures/denied/cases.json");
    let mut table: Value = serde_json::from_str(text).unwrap();
    table["cases"].as_array_mut().unwrap().drain(..).collect()
}

fn row(denied: &Denied) -> Value {
    serde_json::json!([denied.what, denied.why, denied.allow])
}

#[test]
fn a_result_names_what_was_refused_and_nothing_else() {
    at_level_full("network::receipts::a_result_names_what_was_refused_and_nothing_else", |fixture| {
        let _listener = UnixListener::bind(fixture.workspace().join("host.sock")).unwrap();
        std::fs::write(fixture.workspace().join("keyctl.number"), libc::SYS_keyctl.to_string()).unwrap();
        let cases = cases();
        assert!(cases.iter().filter(|case| case["denied"] == serde_json::json!([])).count() >= 10);
        for case in cases {
            let name = case["name"].as_str().unwrap();
            let outcome = run(fixture, case["command"].as_str().unwrap());
            let rows: Vec<Value> = outcome.denied.iter().map(row).collect();
            assert_eq!(Value::from(rows), case["denied"], "{name}: {}", stderr(&outcome));
            if let Some(count) = case["count"].as_u64() {
                assert_eq!(u64::from(outcome.denied[0].count), count, "{name}");
            }
        }
    });
}

#[test]
fn a_flood_of_refusals_is_bounded() {
    at_level_full("network::receipts::a_flood_of_refusals_is_bounded", |fixture| {
        let text = "import socket\nfor port in range(1, 60):\n for _ in range(40):\n  s = socket.socket()\n  \
                    s.setblocking(False)\n  s.connect_ex((\"192.0.2.1\", port + 100))\nexit(1)";
        let outcome = run(fixture, &crate::network::python(text));
        assert_eq!(outcome.denied.len(), 20, "{}", stderr(&outcome));
        assert!(outcome.denied.iter().all(|denied| denied.count == 40), "{:?}", outcome.denied);
    });
}
