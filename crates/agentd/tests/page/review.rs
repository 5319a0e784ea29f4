//! The review: by keyboard, of a session and of an MCP client, and what prevents a landing.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::browser::{ENTER, browser};
use crate::project::Project;
use crate::proposals::{
    BADGE, Client, Process, edit, eventually, fixture, is_over, listed, open_review, python,
    reviewed_session, shown_as,
};

pub(crate) const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

pub(crate) const REPLY: &str = r#"Reply-To: {id}-1
[EDIT_FILE path="a.txt" start_line="1" end_line="1"]
ONE
[/EDIT_FILE]
[RUN_COMMAND]
head -n 1 a.txt; echo ran >> ran.log
[/RUN_COMMAND]
[EDIT_FILE path="a.txt" start_line="5" end_line="7"]
FIVE
six
SEVEN
[/EDIT_FILE]
"#;

#[test]
fn half_of_a_reply_lands_and_half_goes_back_by_keyboard_alone() {
    let Some(browser) = browser("half_of_a_reply_lands_and_half_goes_back_by_keyboard_alone") else { return };
    let project = Project::new();
    project.write("a.txt", FILE);
    let (id, _session) = reviewed_session(&project, "change a few lines");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    project.drop_reply("reply.txt", &REPLY.replace("{id}", &id));
    open_review(&browser);
    shown_as(&browser, "4 of 4 parts taken, 0 comments");
    assert_eq!(project.read("a.txt"), FILE, "nothing is done before it is reviewed");
    // The third part is the first passage of the second edit.
    browser.press("jjj");
    browser.wait("document.activeElement.getAttribute('aria-label') === 'Hunk 1 of 2 in a.txt'");
    browser.press(" ");
    shown_as(&browser, "3 of 4 parts taken");
    browser.press("n");
    browser.wait("document.activeElement?.id === 'comment'");
    browser.press("why five?");
    browser.press_with_control(ENTER);
    shown_as(&browser, "3 of 4 parts taken, 1 comment");
    // The comment is below its line.
    browser.wait(
        "document.querySelector('article.comment').previousElementSibling.textContent.includes('FIVE')",
    );
    browser.wait("document.activeElement.classList.contains('hunk')");
    // Real results, and nothing has landed.
    browser.press("t");
    browser.sees("Landing lands exactly this.");
    browser.wait("document.querySelector('.results .output').textContent === 'ONE'");
    browser.sees("exit code 0");
    assert_eq!(project.read("a.txt"), FILE);
    assert!(!project.workspace().join("ran.log").exists());
    browser.press("l");
    is_over(&browser, "has landed");
    assert_eq!(project.read("a.txt"), "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    // What ran on the overlay did not run again.
    assert_eq!(project.read("ran.log"), "ran\n");
    browser.sees("why five?");
    browser.wait(&format!("!{BADGE}"));
    // The model's next message has the review.
    browser.press("1");
    browser.sees("Message 2");
    browser.press("c");
    browser.sees("Message 2 is on the clipboard");
    let message = browser.clipboard();
    for said in ["## Review", "a.txt, of your version: line 5", "> FIVE\nwhy five?"] {
        assert!(message.contains(said), "no '{said}' in {message}");
    }
}

#[test]
fn the_next_reply_says_what_is_new_since_the_last_review() {
    let Some(browser) = browser("the_next_reply_says_what_is_new_since_the_last_review") else { return };
    let project = Project::new();
    project.write("a.txt", FILE);
    let (id, _session) = reviewed_session(&project, "change a few lines");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    project.drop_reply("reply.txt", &REPLY.replace("{id}", &id));
    open_review(&browser);
    shown_as(&browser, "4 of 4 parts taken");
    // The control: nothing was sent back yet.
    browser.wait("!document.querySelector('.since')");
    browser.press("w");
    browser.wait("document.activeElement?.id === 'summary'");
    browser.press("Four as well.");
    browser.press(&crate::browser::ESCAPE.to_string());
    browser.press("b");
    is_over(&browser, "was sent back");
    let second = REPLY
        .replace("{id}-1", &format!("{id}-2"))
        .replace("start_line=\"5\" end_line=\"7\"]\n", "start_line=\"4\" end_line=\"7\"]\nFOUR\n")
        .replace("head -n 1 a.txt", "head -n 2 a.txt");
    project.drop_reply("second.txt", &second);
    eventually("the second reply waits", || listed(&project, &[])[0]["id"] == 2);
    browser.script("location.hash = '#/review/2'", &[]);
    browser.sees("The same as at your review of proposal 1");
    browser.sees("New since your last review");
    browser.sees("1 step of your last review not proposed again");
    browser.script("document.querySelector('.since summary').click()", &[]);
    browser.sees("FOUR");
    browser.wait(
        "[...document.querySelectorAll('.since .added')].some((line) => line.textContent.includes('FOUR'))",
    );
    browser.wait(
        "![...document.querySelectorAll('.since .added')].some((line) => line.textContent.includes('FIVE'))",
    );
}

#[test]
fn a_choice_that_runs_commands_is_tried_before_it_lands_and_a_trial_can_be_stopped() {
    let test = "a_choice_that_runs_commands_is_tried_before_it_lands_and_a_trial_can_be_stopped";
    let Some(browser) = browser(test) else { return };
    let project = Project::new();
    let mut client = Client::new(&project);
    client
        .calls("executeCommand", &json!({ "command": "echo out; [ -e /dev/shm ] && sleep 600; echo never" }));
    let page = project.page();
    browser.goto(&page.url);
    open_review(&browser);
    browser.press("l");
    browser.sees("Trying …");
    // A reload shows the trial that runs.
    browser.reload();
    browser.sees("Trying …");
    let stop =
        "[...document.querySelectorAll('.review-head button')].find((one) => one.textContent === 'Stop')";
    browser.wait(stop);
    browser.script(&format!("{stop}.click()"), &[]);
    browser.wait("[...document.querySelectorAll('.review-head button')].some((one) => one.textContent === 'Try choice')");
    // Without a word it is asked for.
    browser.press("b");
    browser.wait("document.getElementById('dialog').open");
    browser.press(&ENTER.to_string());
    is_over(&browser, "was sent back");
    assert_eq!(client.answer()["error"]["data"]["details"]["reason"], "LEFT_OUT");
}

#[test]
fn half_of_the_edit_of_an_mcp_client_lands_and_its_model_reads_both_comments() {
    let test = "half_of_the_edit_of_an_mcp_client_lands_and_its_model_reads_both_comments";
    let Some(browser) = browser(test) else { return };
    let Some(mut python) = python() else {
        return test_support::skip(test, "`cargo xtask setup` installs the Python package mcp");
    };
    let project = Project::new();
    project.write("a.txt", FILE);
    let page = project.page();
    browser.goto(&page.url);
    let plain = project.command(&[]);
    python
        .arg(fixture("mcp_review.py"))
        .args([env!("CARGO_BIN_EXE_agentd"), project.workspace().to_str().unwrap()]);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => python.env(name, value),
            None => python.env_remove(name),
        };
    }
    python.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let model = python.spawn().unwrap();
    open_review(&browser);
    shown_as(&browser, "2 of 2 parts taken");
    browser.sees("an MCP client");
    browser.press("jj ");
    shown_as(&browser, "1 of 2 parts taken");
    browser.press("n");
    browser.wait("document.activeElement?.id === 'comment'");
    browser.press("Five stays.");
    browser.press_with_control(ENTER);
    shown_as(&browser, "1 of 2 parts taken, 1 comment");
    browser.press("kn");
    browser.wait("document.activeElement?.id === 'comment'");
    browser.press("One is fine.");
    browser.press_with_control(ENTER);
    shown_as(&browser, "1 of 2 parts taken, 2 comments");
    browser.press("l");
    is_over(&browser, "has landed");
    assert_eq!(project.read("a.txt"), "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    let ran = model.wait_with_output().unwrap();
    let read = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{read}\n{}", String::from_utf8_lossy(&ran.stderr));
    for said in ["carried out a part of it", "> FIVE", "Five stays.", "> ONE", "One is fine."] {
        assert!(read.contains(said), "no '{said}' in {read}");
    }
}

#[test]
fn of_two_tabs_the_later_one_is_refused_and_goes_on_with_the_draft_of_the_first() {
    let test = "of_two_tabs_the_later_one_is_refused_and_goes_on_with_the_draft_of_the_first";
    let Some(browser) = browser(test) else { return };
    let project = Project::new();
    project.write("a.txt", FILE);
    let mut client = Client::new(&project);
    client.calls("modifyFile", &edit("a.txt", &[(1, "ONE"), (5, "FIVE")]));
    let page = project.page();
    browser.goto(&page.url);
    open_review(&browser);
    let first = browser.tab();
    browser.new_tab();
    browser.goto(&format!("http://{}/ui/#/review/1", page.address));
    browser.wait("document.querySelector('.changes-of .hunk')");
    // What this tab saves is held on its way, until the other one was faster.
    browser.script(
        "const real = window.fetch; window.fetch = async (url, options) => { if (String(url).endsWith('/draft')) await new Promise((go) => (window.go = go)); return real(url, options); }",
        &[],
    );
    let second = browser.tab();
    browser.press("j ");
    shown_as(&browser, "1 of 2 parts taken");
    browser.wait("window.go");
    browser.switch_to(&first);
    browser.press("jj ");
    shown_as(&browser, "1 of 2 parts taken");
    eventually("the first tab's draft is saved", || listed(&project, &["1"])["draft"]["revision"] == 1);
    browser.switch_to(&second);
    browser.script("window.go()", &[]);
    browser.sees("another window has changed this review");
    browser.wait(
        "[...document.querySelectorAll('.hunk input')].map((one) => one.checked).join() === 'true,false'",
    );
    // From here on both show the same.
    browser.reload();
    browser.wait(
        "[...document.querySelectorAll('.hunk input')].map((one) => one.checked).join() === 'true,false'",
    );
    browser.press("j ");
    shown_as(&browser, "0 of 2 parts taken");
    browser.switch_to(&first);
    shown_as(&browser, "0 of 2 parts taken");
}

#[test]
fn a_draft_survives_a_reload_and_the_end_of_the_daemon() {
    let Some(browser) = browser("a_draft_survives_a_reload_and_the_end_of_the_daemon") else { return };
    let project = Project::new();
    project.write("a.txt", FILE);
    let (id, session) = reviewed_session(&project, "change a few lines");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    project.drop_reply("reply.txt", &REPLY.replace("{id}", &id));
    open_review(&browser);
    browser.press("j ");
    shown_as(&browser, "3 of 4 parts taken");
    browser.press("n");
    browser.wait("document.activeElement?.id === 'comment'");
    browser.press("half a thou");
    // The comment was not saved: it is in its box again.
    browser.reload();
    browser.wait("document.getElementById('comment')?.value === 'half a thou'");
    shown_as(&browser, "3 of 4 parts taken, 0 comments");
    browser.wait("document.activeElement?.id === 'comment'");
    browser.press("ght");
    browser.press_with_control(ENTER);
    shown_as(&browser, "3 of 4 parts taken, 1 comment");
    let address = page.kill();
    browser.sees("no connection: trying again");
    let first = browser.tab();
    let again = project.page_at(&address);
    browser.sees("Open the page with its address");
    browser.new_tab();
    browser.goto(&again.url);
    browser.sees("Message 1");
    browser.switch_to(&first);
    shown_as(&browser, "3 of 4 parts taken, 1 comment");
    browser.reload();
    shown_as(&browser, "3 of 4 parts taken, 1 comment");
    browser.sees("half a thought");
    browser.press("b");
    is_over(&browser, "was sent back");
    assert_eq!(project.read("a.txt"), FILE);
    drop((again, session));
}

#[test]
fn a_folder_that_has_changed_is_said_and_comments_move_with_their_lines() {
    let Some(browser) = browser("a_folder_that_has_changed_is_said_and_comments_move_with_their_lines")
    else {
        return;
    };
    let project = Project::new();
    project.write("a.txt", FILE);
    let id = project.session("change a few lines");
    let reads = project.folder().join("reads.txt");
    std::fs::write(&reads, "[READ_FILE path=\"a.txt\"]\n").unwrap();
    let ran = project.command(&["apply", reads.to_str().unwrap(), "--session", &id]).output().unwrap();
    assert!(ran.status.success());
    let _session = Process(project.command(&["resume", "--review"]).spawn().unwrap());
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 2");
    let reply = REPLY
        .replace("{id}-1", &format!("{id}-2"))
        .replace("[RUN_COMMAND]\nhead -n 1 a.txt; echo ran >> ran.log\n[/RUN_COMMAND]\n", "");
    project.drop_reply("reply.txt", &reply);
    open_review(&browser);
    browser.press("jjjn");
    browser.wait("document.activeElement?.id === 'comment'");
    browser.press("keep it small");
    browser.press_with_control(ENTER);
    shown_as(&browser, "3 of 3 parts taken, 1 comment");
    project.write("a.txt", &format!("zero\n{FILE}"));
    // What was looked at is not what would land.
    browser.press("l");
    browser.sees("nothing has landed");
    browser.sees("planned again");
    assert_eq!(project.read("a.txt"), format!("zero\n{FILE}"));
    browser.wait("document.querySelector('article.comment').textContent.includes('line 8')");
    browser.wait(
        "document.querySelector('article.comment').previousElementSibling.textContent.includes('SEVEN')",
    );
    browser.press("l");
    is_over(&browser, "has landed");
    assert_eq!(project.read("a.txt"), "zero\nONE\ntwo\nthree\nfour\nFIVE\nsix\nSEVEN\n");
    let review: Value = listed(&project, &["1"]);
    assert_eq!(review["positions"][0]["lines"]["first"], 8, "{review}");
}
