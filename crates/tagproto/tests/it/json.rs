//! The JSON form of a reply.

use serde_json::{Value, json};
use tagproto::{Strictness, read};

fn printed(text: &str, strictness: Strictness) -> Value {
    serde_json::to_value(read(text, strictness)).unwrap()
}

#[test]
fn every_block_has_its_own_fields_and_its_lines() {
    let text = "[CREATE_FILE path=\"a\"]\n\n[/CREATE_FILE]\n[EDIT_FILE path=\"b\" start_line=\"1\" end_line=\"2\"]\n[/EDIT_FILE]\n\
                [DELETE_FILE path=\"c\"]\n[READ_FILE path=\"d\"]\n[RUN_COMMAND]\n ls\n[/RUN_COMMAND]\n[MESSAGE]\n[/MESSAGE]\n[DONE]\nx";
    let expected = json!({
        "commands": [
            {"type": "CREATE_FILE", "path": "a", "body": "", "body_lines": 1, "lines": [1, 3]},
            {"type": "EDIT_FILE", "path": "b", "start_line": 1, "end_line": 2, "body": "", "body_lines": 0, "lines": [4, 5]},
            {"type": "DELETE_FILE", "path": "c", "lines": [6, 6]},
            {"type": "READ_FILE", "path": "d", "lines": [7, 7]},
            {"type": "RUN_COMMAND", "body": "ls", "lines": [8, 10]},
            {"type": "MESSAGE", "body": "", "lines": [11, 12]},
            {
                "type": "PARSE_ERROR",
                "command": "DONE",
                "error": "DONE missing closing tag; send the block again and end it with [/DONE] on a line of its own",
                "lines": [13, 14],
            },
        ],
        "repairs": [],
        "refused": null,
    });
    assert_eq!(printed(text, Strictness::Strict), expected);
    assert_eq!(printed(text, Strictness::Repair), expected);
}

#[test]
fn repairs_and_the_reason_of_a_refusal_are_named() {
    assert_eq!(
        printed("- **[READ_FILE path=“a”]**", Strictness::Repair),
        json!({
            "commands": [{"type": "READ_FILE", "path": "a", "lines": [1, 1]}],
            "repairs": ["bold", "list", "smart_quotes"],
            "refused": null,
        })
    );
    assert_eq!(
        printed("[READ_FILE path=\"[a.b](http://a.b)\"]", Strictness::Repair),
        json!({"commands": [], "repairs": [], "refused": "linked_path"})
    );
}
