//! Who may use the page: codes, cookies, origins, frames and forms.

use serde_json::Value;

use crate::browser::browser;
use crate::project::{Answer, Page, Project};

fn enter(page: &Page, code: &str) -> Answer {
    let origin = format!("http://{}", page.address);
    let headers = [("Origin", &*origin), ("Content-Type", "application/json")];
    page.ask("POST /ui/api/enter", &headers, &format!("{{\"code\":\"{code}\"}}"))
}

/// Returns cookie and key of a browser that has entered.
fn entered(page: &Page) -> (String, String) {
    let answer = enter(page, page.code());
    assert_eq!(answer.status, 200, "{answer:?}");
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    let line = answer.head.lines().find(|line| line.starts_with("set-cookie: ")).unwrap();
    assert!(line.contains("; httponly; samesite=strict") && !line.contains("domain"), "{line}");
    let cookie = line["set-cookie: ".len()..].split(';').next().unwrap();
    (cookie.to_owned(), body["key"].as_str().unwrap().to_owned())
}

#[test]
fn a_code_works_once_and_nothing_else_gives_access() {
    let project = Project::new();
    let page = project.page();
    assert_eq!(page.ask("GET /ui/api/overview", &[], "").status, 401);
    assert_eq!(enter(&page, &"0".repeat(32)).status, 403);
    let (cookie, key) = entered(&page);
    assert_eq!(enter(&page, page.code()).status, 403, "it was used");
    let with = |headers: &[(&str, &str)]| page.ask("GET /ui/api/overview", headers, "").status;
    assert_eq!(with(&[("Cookie", &cookie), ("x-agentd-key", &key)]), 200);
    assert_eq!(with(&[("Cookie", &cookie)]), 401);
    assert_eq!(with(&[("x-agentd-key", &key)]), 401);
    assert_eq!(with(&[("Cookie", &cookie), ("x-agentd-key", &key), ("Host", "rebound.example")]), 403);
    let foreign = [("Cookie", &*cookie), ("x-agentd-key", &*key), ("Sec-Fetch-Site", "cross-site")];
    assert_eq!(with(&foreign), 403);
    let origin = format!("http://{}", page.address);
    let send = |headers: &[(&str, &str)], body: &str| {
        let all: Vec<_> =
            [("Cookie", &*cookie), ("x-agentd-key", &*key)].iter().chain(headers).copied().collect();
        page.ask("POST /ui/api/sessions", &all, body)
    };
    let json = ("Content-Type", "application/json");
    let body = r#"{"task":"Greet"}"#;
    assert_eq!(send(&[("Origin", "http://evil.example"), json], body).status, 403);
    assert_eq!(send(&[("Origin", "null"), json], body).status, 403);
    assert_eq!(send(&[json], body).status, 403, "a request that changes something has an origin");
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    assert_eq!(send(&[("Origin", &origin), form], "task=Greet").status, 415);
    assert_eq!(send(&[("Origin", &origin), ("Content-Type", "text/plain")], body).status, 415);
    // The control: the page itself may.
    let started = send(&[("Origin", &origin), json], body);
    assert_eq!(started.status, 200, "{started:?}");
    // Refused codes are counted.
    let status = page.ask("GET /ui/api/status", &[("Cookie", &cookie), ("x-agentd-key", &key)], "");
    let status: Value = serde_json::from_str(&status.body).unwrap();
    assert_eq!(status["refusedCodes"], 2);
}

#[test]
fn what_a_browser_sends_to_the_port_after_the_end_opens_no_later_page() {
    let project = Project::new();
    let page = project.page();
    let (cookie, key) = entered(&page);
    let value = cookie.split_once('=').unwrap().1.to_owned();
    let reads = |page: &Page, cookie: &str, key: &str| {
        page.ask("GET /ui/api/overview", &[("Cookie", cookie), ("x-agentd-key", key)], "").status
    };
    assert_eq!(reads(&page, &cookie, &key), 200);
    let other = project.page();
    let old = page.kill();
    let again = project.page_at(&old);
    assert_eq!(again.address, old);
    for page in [&again, &other] {
        // The client chooses the name of the cookie.
        let port = page.address.rsplit_once(':').unwrap().1;
        assert_eq!(reads(page, &format!("agentd-{port}={value}"), &key), 401);
        assert_eq!(reads(page, &cookie, &key), 401);
    }
    // The control: a code of the later page gives access.
    let (cookie, key) = entered(&again);
    assert_eq!(reads(&again, &cookie, &key), 200);
}

#[test]
fn the_page_is_for_this_machine_only() {
    let project = Project::new();
    let ran = project.command(&["ui", "--no-open", "--listen", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(4));
}

#[test]
fn answers_are_whole_where_lists_are_long_and_bodies_are_bounded() {
    let project = Project::new();
    let page = project.page();
    let (cookie, key) = entered(&page);
    let origin = format!("http://{}", page.address);
    let headers = [
        ("Cookie", &*cookie),
        ("x-agentd-key", &*key),
        ("Origin", &*origin),
        ("Content-Type", "application/json"),
    ];
    let created = page.ask("POST /ui/api/sessions", &headers, r#"{"task":"Many blocks"}"#);
    let session: Value = serde_json::from_str(&created.body).unwrap();
    let id = session["session"].as_str().unwrap();
    let blocks: String = (0..1_000).map(|number| format!("[READ_FILE path=\"f{number}\"]\n")).collect();
    let body = serde_json::json!({ "text": blocks }).to_string();
    let plan = page.ask(&format!("POST /ui/api/sessions/{id}/plan"), &headers, &body);
    let plan: Value = serde_json::from_str(&plan.body).unwrap();
    assert_eq!((plan["blocks"].as_array().unwrap().len(), &plan["blocksLeftOut"]), (300, &Value::from(700)));
}

#[test]
fn foreign_pages_frames_and_forms_get_nothing() {
    let Some(browser) = browser("foreign_pages_frames_and_forms_get_nothing") else { return };
    let project = Project::new();
    project.session("Greet with a comma");
    let page = project.page();
    // A wrong code shows the way in, and the right one works after it.
    browser.goto(&format!("http://{}/ui/#code={}", page.address, "0".repeat(32)));
    browser.sees("this code was used before, has expired, or is wrong");
    browser.script("document.getElementById('code').focus()", &[]);
    browser.press(page.code());
    browser.press(&crate::browser::ENTER.to_string());
    browser.sees("Message 1");
    // The same code again, from another tab: refused, and this tab stays in.
    let first = browser.tab();
    browser.new_tab();
    browser.goto("about:blank");
    browser.goto(&page.url);
    browser.sees("this code was used before");
    // Another origin of the same host, which has the cookie of the host.
    let foreign = foreign_server();
    browser.goto(&format!("http://{foreign}/"));
    browser.wait("document.readyState === 'complete'");
    let fetched = browser.later(
        "const [url, done] = arguments; fetch(url, { credentials: 'include' }).then((answer) => done(answer.status), () => done('refused'))",
        &[format!("http://{}/ui/api/overview", page.address).into()],
    );
    assert_eq!(fetched, "refused");
    let sent = browser.later(
        "const [url, done] = arguments; fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{\"task\":\"evil\"}' }).then((answer) => done(answer.type), () => done('refused'))",
        &[format!("http://{}/ui/api/sessions", page.address).into()],
    );
    assert!(["opaque", "refused"].contains(&sent.as_str().unwrap_or_default()), "{sent}");
    // A frame shows nothing of it.
    let framed = browser.later(
        "const [url, done] = arguments; const frame = document.createElement('iframe'); frame.src = url; \
         frame.onload = () => { let seen = null; try { seen = frame.contentDocument?.body?.innerText ?? null; } catch {} done(seen === null ? 'closed' : seen); }; document.body.append(frame)",
        &[format!("http://{}/ui/", page.address).into()],
    );
    assert_eq!(framed, "closed");
    let log = browser.console().join("\n");
    assert!(
        log.contains("frame-ancestors")
            || log.contains("X-Frame-Options")
            || log.contains("refused to connect"),
        "{log}"
    );
    // A form of it is refused.
    browser.script(
        "const form = document.createElement('form'); form.method = 'post'; form.action = arguments[0]; document.body.append(form); form.submit()",
        &[format!("http://{}/ui/api/sessions", page.address).into()],
    );
    browser.sees("pages from elsewhere may not use this server");
    browser.switch_to(&first);
    browser.reload();
    browser.sees("Message 1");
    assert_eq!(browser.value("document.querySelectorAll('.sessions li').length"), 1, "nothing was started");
}

/// Serves an empty page on another port until the test ends.
fn foreign_server() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            use std::io::{Read, Write};
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4_096]);
            let page = "<!doctype html><title>evil</title><body>evil</body>";
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}
