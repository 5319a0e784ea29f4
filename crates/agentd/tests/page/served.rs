//! The page of `agentd serve`, and the state that it shows.

use serde_json::Value;

use crate::browser::{ENTER, ESCAPE, browser};
use crate::project::{Page, Project};

#[test]
fn a_server_opens_the_same_page_by_its_code_and_not_by_its_token() {
    let Some(browser) = browser("a_server_opens_the_same_page_by_its_code_and_not_by_its_token") else {
        return;
    };
    let project = Project::new();
    let session = project.session("Greet with a comma");
    let page = Page::start(project.command(&["serve", "--json", "--listen", "127.0.0.1:0"]));
    let token = token(&page);
    browser.goto(&format!("http://{}/ui/", page.address));
    browser.sees("Open the page with its address");
    let enter = |text: &str| {
        browser.script("document.getElementById('code').value = arguments[0]", &[text.trim().into()]);
        browser.script("document.getElementById('code').focus()", &[]);
        browser.press(&ENTER.to_string());
    };
    enter(&token);
    browser.sees("this code was used before, has expired, or is wrong");
    enter(page.listening["page"].as_str().unwrap());
    browser.sees("Message 1");
    browser.sees(&session);
    browser.reload();
    browser.sees("Message 1");
    // The cookie of the page opens the page alone: the tools still ask for the token.
    let answer = browser.later(
        "const done = arguments[0]; fetch('/mcp', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }) \
         .then((answer) => done(answer.status), () => done(0))",
        &[],
    );
    assert_eq!(answer, 401);
}

#[test]
fn a_client_with_the_token_alone_decides_no_review_and_reads_no_line_of_the_page() {
    let project = Project::new();
    project.write(".env", "KEY=kept-to-the-person\n");
    let page = Page::start(project.command(&["serve", "--review", "--json", "--listen", "127.0.0.1:0"]));
    let bearer = format!("Bearer {}", token(&page));
    let origin = format!("http://{}", page.address);
    let json = [("Origin", &*origin), ("Content-Type", "application/json")];
    let with_token = [&json[..], &[("Authorization", &*bearer)]].concat();
    // The control: the token is right.
    assert_eq!(page.ask("GET /v1/info", &with_token, "").status, 200);
    let code = page.listening["page"].as_str().unwrap().split_once("#code=").unwrap().1.to_owned();
    for body in ["{}", "", &format!("{{\"code\":{:?}}}", token(&page))] {
        let entered = page.ask("POST /ui/api/enter", &with_token, body);
        assert!([400, 403].contains(&entered.status), "{entered:?}");
        assert!(!entered.head.contains("set-cookie") && !entered.body.contains("key"), "{entered:?}");
    }
    for line in ["GET /ui/api/lines?path=.env", "GET /ui/api/overview", "POST /ui/api/review/1/land"] {
        let answer = page.ask(line, &with_token, "{}");
        assert_eq!(answer.status, 401, "{line}: {answer:?}");
        assert!(!answer.body.contains("kept-to-the-person"), "{answer:?}");
    }
    // The control: the code opens what the token does not.
    let entered = page.ask("POST /ui/api/enter", &json, &format!("{{\"code\":\"{code}\"}}"));
    let key: Value = serde_json::from_str(&entered.body).unwrap();
    let cookie = entered.head.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    let admitted = [("Cookie", cookie), ("x-agentd-key", key["key"].as_str().unwrap())];
    let lines = page.ask("GET /ui/api/lines?path=.env", &admitted, "");
    assert!(lines.body.contains("kept-to-the-person"), "{lines:?}");
}

fn token(page: &Page) -> String {
    let file = page.listening["tokenFile"].as_str().unwrap();
    std::fs::read_to_string(file).unwrap().trim().to_owned()
}

#[test]
fn a_refusal_says_how_it_is_allowed_and_nothing_in_the_page_allows_it() {
    let Some(browser) = browser("a_refusal_says_how_it_is_allowed_and_nothing_in_the_page_allows_it") else {
        return;
    };
    let project = Project::new();
    let session = project.session("Fetch it");
    let reply = project.folder().join("reply.txt");
    let fetch = "python3 -c \"import socket; socket.create_connection(('192.0.2.1', 443), 2)\"";
    std::fs::write(&reply, format!("[RUN_COMMAND]\n{fetch}\n[/RUN_COMMAND]\n")).unwrap();
    let mut apply = project.command(&["apply", reply.to_str().unwrap(), "--session", &session, "--json"]);
    let applied: Value = serde_json::from_slice(&apply.output().unwrap().stdout).unwrap();
    if applied["results"][0].get("denied").is_none() {
        return test_support::skip("grants", "this machine confines no network");
    }
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 2");
    browser.press("5");
    browser.sees("connect 192.0.2.1:443");
    browser.script("document.querySelector('.receipts button').click()", &[]);
    browser.wait("document.getElementById('dialog').open");
    browser.sees("agentd ui --network on");
    browser.sees("network = \"on\"");
    browser.script("[...document.querySelectorAll('#dialog button')].find((button) => button.textContent === 'Copy').click()", &[]);
    browser.sees("The command is on the clipboard");
    browser.press(&ESCAPE.to_string());
    browser.wait("!document.getElementById('dialog').open");
    assert_eq!(browser.clipboard(), "agentd ui --network on");
}

#[test]
fn notes_of_a_result_stand_beneath_it() {
    let Some(browser) = browser("notes_of_a_result_stand_beneath_it") else { return };
    let project = Project::new();
    project.session("Set it up");
    project.write(".envrc", "layout none\n");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    let command = "echo layout go > .envrc; echo 'note: all is well'";
    browser.copy_in_the_chat(&format!("[RUN_COMMAND]\n{command}\n[/RUN_COMMAND]\n"));
    browser.press("v");
    browser.press_with_control('v');
    browser.plans("1 block");
    browser.press_with_control(ENTER);
    browser.sees("To know about it:");
    let notes = browser
        .value("[...document.querySelectorAll('.receipts li')].map((item) => item.textContent).join('|')");
    let notes = notes.as_str().unwrap();
    assert!(notes.contains(".envrc"), "{notes}");
    assert!(!notes.contains("all is well"), "{notes}");
}
