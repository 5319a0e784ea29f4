//! The meaning of line numbers after lines have moved, for every client: never another line than the client saw.

use serde_json::{Value, json};

use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;
use crate::fixture::socket_client::SocketClient;
use crate::fixture::web_server::WebServer;

/// The line that the numbers of `grep -n` name, and how many lines are put on top of the file.
const WANTED: &str = "line 50";
const MOVED: u64 = 10;

fn project() -> Project {
    let project = Project::new();
    let lines: String = (1..=100).map(|number| format!("line {number}\n")).collect();
    project.write("a.txt", &lines);
    project
}

/// The lines that are put on top.
fn top() -> String {
    (1..=MOVED).map(|number| format!("top {number}\n")).collect()
}

const SED: &str = "for n in 1 2 3 4 5 6 7 8 9 10; do sed -i '1i top' a.txt; done";
const GREP: &str = "grep -n '^line 50$' a.txt";

/// A client of the tools, over any transport.
trait Client {
    /// Answers with the response, or with the text of the failure.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String>;
}

struct Native(LineClient);

impl Client for Native {
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let answer = self.0.ask(tool, arguments);
        if answer["error"].is_null() {
            Ok(answer["result"].clone())
        } else {
            Err(answer["error"].to_string())
        }
    }
}

struct Mcp(LineClient);

impl Client for Mcp {
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let result = self.0.does("tools/call", json!({ "name": tool, "arguments": arguments }));
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        if result["isError"] == true { Err(text) } else { Ok(json!({ "stdout": text })) }
    }
}

struct Llm4s(SocketClient);

impl Client for Llm4s {
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let name = format!("{}{}", tool[..1].to_uppercase(), &tool[1..]);
        if tool == "executeCommand" {
            self.0.execute("c", arguments["command"].as_str().unwrap());
            let messages = self.0.until_completed("c");
            let response = messages.iter().find(|message| message["$type"] == "ResponseMessage").unwrap();
            return Ok(response["response"].clone());
        }
        let mut arguments = arguments;
        for operation in arguments["operations"].as_array_mut().into_iter().flatten() {
            let kind = operation["type"].as_str().unwrap().to_owned();
            let kind = format!("{}{}Operation", kind[..1].to_uppercase(), &kind[1..]);
            operation.as_object_mut().unwrap().remove("type");
            operation["$type"] = json!(kind);
        }
        let response = self.0.does(&name, arguments);
        let is_error = response["$type"] == "WorkspaceAgentErrorResponse";
        if is_error { Err(response.to_string()) } else { Ok(response) }
    }
}

fn mcp(project: &Project) -> Mcp {
    let mut client = LineClient::start(project.command(&["mcp"]));
    client.does("initialize", json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    }));
    client.notify("notifications/initialized", json!({}));
    Mcp(client)
}

fn replace(line: u64, was: Option<&str>) -> Value {
    let mut operation = json!({ "type": "replace", "startLine": line, "endLine": line, "newContent": "X" });
    if let Some(was) = was {
        operation["was"] = json!(was);
    }
    json!({ "path": "a.txt", "operations": [operation] })
}

/// Reads the file, has `edit` put lines on top of it, and edits at the number that grep prints.
fn edit_at_greps_number(project: &Project, client: &mut dyn Client, edit: &mut dyn FnMut(&mut dyn Client)) {
    client.call("readFile", json!({ "path": "a.txt" })).unwrap();
    edit(client);
    let printed = client.call("executeCommand", json!({ "command": GREP })).unwrap();
    let stdout = printed["stdout"].as_str().unwrap();
    assert!(stdout.contains(&format!("{}:{WANTED}", 50 + MOVED)), "{stdout}");
    let before = project.read("a.txt");
    // The number can be that of the old view, too: there it is a different line.
    let refused = client.call("modifyFile", replace(50 + MOVED, None)).unwrap_err();
    assert!(refused.contains("line 60 or line 70"), "{refused}");
    assert!(refused.contains("60|line 50") && refused.contains("70|line 60"), "{refused}");
    assert_eq!(project.read("a.txt"), before, "nothing was changed");
    // Both were shown, which settles it.
    client.call("modifyFile", replace(50 + MOVED, None)).unwrap();
    assert_eq!(project.read("a.txt"), before.replace("\nline 50\n", "\nX\n"));
    // Where lines have moved, the line itself decides at once, by its old number and by its new one.
    client.call("modifyFile", replace(90, Some("  line 90 "))).unwrap();
    client.call("modifyFile", replace(90, Some("line 80"))).unwrap();
    let wanted = before.replace("\nline 50\n", "\nX\n").replace("\nline 90\n", "\nX\n");
    assert_eq!(project.read("a.txt"), wanted.replace("\nline 80\n", "\nX\n"));
    let refused = client.call("modifyFile", replace(30, Some("no such line"))).unwrap_err();
    assert!(refused.contains("is not the line that `was` says"), "{refused}");
}

fn by_edit(client: &mut dyn Client) {
    let operation = json!({ "type": "insert", "afterLine": 0, "newContent": top() });
    client.call("modifyFile", json!({ "path": "a.txt", "operations": [operation] })).unwrap();
}

fn by_command(client: &mut dyn Client) {
    client.call("executeCommand", json!({ "command": SED })).unwrap();
}

#[test]
fn numbers_of_grep_after_an_edit_never_hit_another_line_natively_or_over_mcp() {
    for edit in [by_edit as fn(&mut dyn Client), by_command] {
        let project = project();
        let mut client = Native(LineClient::start(project.command(&["wap"])));
        edit_at_greps_number(&project, &mut client, &mut |client| edit(client));
        let project = self::project();
        edit_at_greps_number(&project, &mut mcp(&project), &mut |client| edit(client));
    }
}

#[test]
fn numbers_of_grep_after_an_edit_never_hit_another_line_over_llm4s() {
    for edit in [by_edit as fn(&mut dyn Client), by_command] {
        let project = project();
        let server = WebServer::start(&project, &[]);
        let mut client = Llm4s(SocketClient::connect(&server));
        edit_at_greps_number(&project, &mut client, &mut |client| edit(client));
    }
}

#[test]
fn saves_before_and_after_an_answer_are_distinguished() {
    let project = project();
    let mut client = Native(LineClient::start(project.command(&["wap"])));
    client.call("readFile", json!({ "path": "a.txt" })).unwrap();
    let save = |text: &str| project.write("a.txt", &format!("{text}{}", project.read("a.txt")));
    // Nothing could have shown its numbers: they are those that were read.
    save("saved\n");
    let done = client.call("modifyFile", replace(50, None)).unwrap();
    assert_eq!(done["carried"][0]["firstLine"], 51, "{done}");
    // This one was there when a command printed numbers.
    save("saved\n");
    client.call("executeCommand", json!({ "command": "cat -n a.txt" })).unwrap();
    let refused = client.call("modifyFile", replace(60, None)).unwrap_err();
    assert!(refused.contains("line 60 or line 62"), "{refused}");
}

#[test]
fn a_file_that_was_never_shown_and_has_changed_since_is_refused_with_its_lines() {
    let project = project();
    let mut client = Native(LineClient::start(project.command(&["wap"])));
    client.call("executeCommand", json!({ "command": GREP })).unwrap();
    // Control: what has not changed is edited at once.
    client.call("modifyFile", replace(50, None)).unwrap();
    client.call("executeCommand", json!({ "command": GREP })).unwrap();
    project.write("a.txt", &format!("saved\n{}", project.read("a.txt")));
    let refused = client.call("modifyFile", replace(60, None)).unwrap_err();
    assert!(refused.contains("60|line 59"), "{refused}");
    client.call("modifyFile", replace(61, None)).unwrap();
    assert!(project.read("a.txt").contains("line 59\nX\nline 61\n"));
}

fn edit_block(first: u64, last: u64, attributes: &str, body: &str) -> String {
    format!(
        "[EDIT_FILE path=\"a.txt\" start_line=\"{first}\" end_line=\"{last}\"{attributes}]\n{body}[/EDIT_FILE]\n"
    )
}

#[test]
fn numbers_of_grep_after_an_edit_never_hit_another_line_in_a_session() {
    let by_edit = edit_block(1, 1, "", &format!("{}line 1\n", top()));
    let by_command = format!("[RUN_COMMAND]\n{SED}\n[/RUN_COMMAND]\n");
    for moving in [by_edit, by_command] {
        let project = project();
        let id = project.begin("Edit");
        project.apply("[READ_FILE path=\"a.txt\"]\n", &[]).ok();
        project.apply(&format!("{moving}[RUN_COMMAND]\n{GREP}\n[/RUN_COMMAND]\n"), &[]).ok();
        let outbox = project.outbox(&id, 3);
        assert!(outbox.contains("60:line 50"), "{outbox}");
        let before = project.read("a.txt");
        project.apply(&edit_block(60, 60, "", "X\n"), &[]);
        assert_eq!(project.read("a.txt"), before, "nothing was changed");
        let outbox = project.outbox(&id, 4);
        assert!(outbox.contains("can mean line 60 or line 70"), "{outbox}");
        assert!(outbox.contains("60|line 50") && outbox.contains("70|line 60"), "{outbox}");
        // Both were shown, which settles it; elsewhere the line itself decides.
        let reply = edit_block(60, 60, "", "X\n") + &edit_block(90, 90, " was=\" line 90\"", "Y\n");
        project.apply(&reply, &[]).ok();
        let after = before.replace("\nline 50\n", "\nX\n").replace("\nline 90\n", "\nY\n");
        assert_eq!(project.read("a.txt"), after);
        let outbox = project.outbox(&id, 5);
        assert!(outbox.contains("Edited 'a.txt' lines 100-100 (your 90-90)"), "{outbox}");
        // A telling line of the body decides as well.
        let text = project.read("a.txt").replace("line 40\n", "the only line of its kind\n");
        project.write("a.txt", &text);
        project.apply("[RUN_COMMAND]\ntrue\n[/RUN_COMMAND]\n", &[]).ok();
        project.apply(&edit_block(50, 50, "", "# changed\nthe only line of its kind\n"), &[]).ok();
        assert!(project.read("a.txt").contains("\n# changed\nthe only line of its kind\nline 41\n"));
    }
}

#[test]
fn the_compatible_dialect_stays_sequential() {
    let project = project();
    project.begin_with(&["new", "--no-wait", "--json", "--dialect", "codingagent", "Edit"]);
    project.apply("[READ_FILE path=\"a.txt\"]\n", &[]).ok();
    project.apply(&edit_block(1, 1, "", &format!("{}line 1\n", top())), &[]).ok();
    // The control of the tests above: here the number hits the current line.
    project.apply(&edit_block(60, 60, "", "X\n"), &[]).ok();
    assert!(project.read("a.txt").contains("\nline 49\nX\nline 51\n"));
}

#[test]
fn one_reply_may_add_the_same_lines_at_two_places() {
    // With secrets hidden, as by default, each edit of a file is a separate call; so is an edit after a command.
    for (options, between) in [
        (&[][..], ""),
        (&["--secrets", "show"][..], ""),
        (&[][..], "[RUN_COMMAND]\nwc -l f\n[/RUN_COMMAND]\n"),
    ] {
        let project = Project::new();
        project.write("f", "one\nthree\nfour\n");
        project.begin("a task");
        let both = "begin_transaction();\ncommit_transaction();\n";
        let edit = |line: u32, text: &str| {
            format!(
                "[EDIT_FILE path=\"f\" start_line=\"{line}\" end_line=\"{line}\"]\n{text}\n{both}[/EDIT_FILE]\n"
            )
        };
        let reply = edit(1, "one") + between + &edit(3, "four");
        project.apply(&reply, options).ok();
        assert_eq!(project.read("f"), format!("one\n{both}three\nfour\n{both}"), "{options:?}, {between}");
    }
}
