//! The look of the review: without a serious fault in any colour and width, inert with hostile texts, and fast with long ones.

use serde_json::json;

use crate::accessibility::{check, picture};
use crate::browser::{ENTER, axe, browser};
use crate::project::Project;
use crate::proposals::{
    BADGE, Client, edit, eventually, is_over, listed, open_review, reviewed_session, shown_as,
};

const SOURCE: &str = "/// Greets people by their names.\npub fn greet(name: &str) -> String {\n    format!(\"Hello {name}\")\n}\n\nfn main() {\n    let name = std::env::args().nth(1);\n    // The first argument is the name.\n    println!(\"{}\", greet(&name.unwrap_or_default()));\n}\n";

const REPLY: &str = r#"Reply-To: {id}-1
[EDIT_FILE path="src/main.rs" start_line="3" end_line="3"]
    /* An empty name
       greets the world. */
    if name.is_empty() { return "Hello, the world".to_owned(); }
    format!("Hello, {name}")
[/EDIT_FILE]
[EDIT_FILE path="src/main.rs" start_line="8" end_line="9"]
    // The first argument is the name, if there is one: 0 or 1.
    println!("{}!", greet(&name.unwrap_or_default()));
[/EDIT_FILE]
[CREATE_FILE path="tests/greets.sh"]
# Checks both greetings.
grep -q 'Hello, the world' src/main.rs && echo passed
[/CREATE_FILE]
[RUN_COMMAND]
sh tests/greets.sh; wc -l src/main.rs
[/RUN_COMMAND]
[CREATE_FILE path="Cargo.lock"]
version = 4
[/CREATE_FILE]
"#;

#[test]
fn the_review_has_no_serious_fault_in_any_look() {
    let test = "the_review_has_no_serious_fault_in_any_look";
    let Some(browser) = browser(test) else { return };
    let Some(axe) = axe() else {
        return test_support::skip(test, "axe-core is not installed; `cargo xtask setup` installs it");
    };
    let axe = std::fs::read_to_string(axe).unwrap();
    let project = Project::new();
    std::fs::create_dir(project.workspace().join("src")).unwrap();
    project.write("src/main.rs", SOURCE);
    let (id, _session) = reviewed_session(&project, "Greet the world if there is no name");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    project.drop_reply("reply.txt", &REPLY.replace("{id}", &id));
    open_review(&browser);
    browser.press("t");
    browser.sees("Landing lands exactly this.");
    browser.press("jj ");
    browser.press("n");
    browser.wait("document.activeElement?.id === 'comment'");
    browser.press("Is the exclamation mark wanted?");
    browser.press_with_control(ENTER);
    browser.sees("1 comment");
    browser.press("t");
    browser.wait("document.querySelector('.results')?.innerText.includes('Landing lands exactly this.')");
    for (scheme, width, height) in [
        ("light", 1440, 1000),
        ("dark", 1440, 1000),
        ("light", 360, 780),
        ("dark", 360, 780),
        ("light", 900, 900),
    ] {
        browser.size(width, height);
        browser.prefer("prefers-color-scheme", scheme);
        let name = format!("review-{scheme}-{width}");
        browser.script("scrollTo(0, 0)", &[]);
        check(&browser, &axe, &name);
        let too_wide = browser.value(
            "[...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !one.closest('.hidden-text')).map((one) => one.outerHTML.slice(0, 120))",
        );
        let is_wide =
            browser.value("document.documentElement.scrollWidth > document.documentElement.clientWidth");
        assert_eq!(is_wide, false, "{name} scrolls sideways: {too_wide:#}");
        picture(&browser, &name);
    }
    browser.size(1440, 1000);
    browser.prefer("prefers-color-scheme", "light");
    browser.press("s");
    browser.wait("document.querySelector('.beside')");
    check(&browser, &axe, "side by side");
    picture(&browser, "review-beside-1440");
    browser.press("o");
    browser.wait("[...document.querySelectorAll('.change .title')].at(-1).textContent === 'Cargo.lock'");
    // The lock file is folded, and can be opened.
    browser.wait("document.querySelector('[aria-label=\"Show Cargo.lock\"]').getAttribute('aria-expanded') === 'false'");
    browser.script("document.querySelector('[aria-label=\"Show Cargo.lock\"]').click()", &[]);
    browser.wait(
        "document.querySelector('.change:last-child .line.added')?.textContent.includes('version = 4')",
    );
    browser.press("n");
    browser.wait("document.activeElement?.id === 'comment'");
    check(&browser, &axe, "a comment in its box");
    browser.script("document.activeElement.blur()", &[]);
    browser.press("?");
    browser.wait("document.getElementById('dialog').open");
    browser.sees("take the hunk, or leave it out");
    check(&browser, &axe, "help of the review");
}

/// A text that would be active if anything took it for markup, a terminal's or a direction's.
const HOSTILE: &str = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script><svg/onload=window.hit=1>\u{202e}evil\u{2066}\u{200b}\u{7}\u{1b}[2J // /* \" ' `";

#[test]
fn a_decision_that_ends_late_takes_no_focus_from_a_comment() {
    let Some(browser) = browser("a_decision_that_ends_late_takes_no_focus_from_a_comment") else { return };
    let project = Project::new();
    project.write("a.js", "one\ntwo\nthree\nfour\n");
    for count in 1..=2 {
        let mut client = Client::new(&project);
        client.calls("modifyFile", &edit("a.js", &[(count, "changed")]));
        eventually("the proposal waits", || {
            listed(&project, &[]).as_array().is_some_and(|all| all.len() == count)
        });
    }
    let page = project.page();
    browser.goto(&page.url);
    browser.wait(&format!("{BADGE}?.firstChild.textContent === '2'"));
    browser.script(
        "window.held = []; const real = window.fetch; window.fetch = (...all) => {
            const isFirst = String(all[0]?.url ?? all[0]).endsWith('review/1') && window.isHolding;
            return isFirst ? new Promise((go) => window.held.push(() => go(real(...all)))) : real(...all);
         }",
        &[],
    );
    browser.script("location.hash = '#/review/1'", &[]);
    browser.wait("document.querySelector('[aria-current=true]')?.dataset.proposal === '1'");
    browser.wait("document.querySelector('.changes-of .hunk')");
    browser.press("jn");
    browser.wait("document.activeElement?.id === 'comment'");
    browser.script("document.activeElement.value = 'not so'", &[]);
    browser.press_with_control(ENTER);
    shown_as(&browser, "1 of 1 part taken, 1 comment");
    browser.script("window.isHolding = true", &[]);
    browser.press("b");
    browser.wait("window.held.length > 0");
    // The person goes on to the next one before the first is seen to be over.
    browser.script("location.hash = '#/review/2'", &[]);
    browser.wait("document.querySelector('[aria-current=true]')?.dataset.proposal === '2'");
    browser.wait("document.querySelector('.changes-of .hunk')");
    browser.press("jn");
    browser.wait("document.activeElement?.id === 'comment'");
    browser.script("window.isHolding = false; Promise.all(window.held.map((go) => go()))", &[]);
    browser.sees("Sent back");
    // What the late answer does is done once the page has drawn twice after another one.
    browser.script(
        "fetch('/').then(() => requestAnimationFrame(() => requestAnimationFrame(() => (window.isLate = true))))",
        &[],
    );
    browser.wait("window.isLate");
    browser.press("land it");
    browser.wait("document.getElementById('comment')?.value === 'land it'");
    assert_eq!(listed(&project, &[]).as_array().map(Vec::len), Some(1));
}

#[test]
fn hostile_proposals_are_inert() {
    let Some(browser) = browser("hostile_proposals_are_inert") else { return };
    let project = Project::new();
    project.write("a.js", "one\ntwo\nthree\nfour\n");
    let mut client = Client::new(&project);
    // One after the other, so that each has its number.
    let wait_for = |count: usize| {
        eventually("the proposal waits", || {
            listed(&project, &[]).as_array().is_some_and(|all| all.len() == count)
        });
    };
    let long = format!("{HOSTILE}{}", "x".repeat(500_000));
    client.calls("modifyFile", &edit("a.js", &[(1, HOSTILE), (4, &long)]));
    wait_for(1);
    let mut other = Client::new(&project);
    other.calls(
        "executeCommand",
        &json!({ "command": format!("echo '{}'; cat a.js", HOSTILE.replace('\'', "")) }),
    );
    wait_for(2);
    let mut third = Client::new(&project);
    let name = "<img src=x onerror=hit=1>\u{202e}.txt";
    third.calls("writeFile", &json!({ "path": name, "content": HOSTILE }));
    let page = project.page();
    browser.goto(&page.url);
    browser.wait(&format!("{BADGE}?.firstChild.textContent === '3'"));
    browser.wait("document.getElementById('task')");
    browser.script("window.violations = []; document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective))", &[]);
    browser.press("2");
    let inert = "window.hit === undefined && window.violations.length === 0 && \
                 !document.querySelector('main img, main script, main svg, main iframe, main [onerror], main [onload], main [style]')";
    for id in 1..=3 {
        browser.script("location.hash = `#/review/${arguments[0]}`", &[json!(id)]);
        browser.wait(&format!("document.querySelector('[aria-current=true]')?.dataset.proposal === '{id}'"));
        browser.wait("document.querySelector('.changes-of .hunk')");
        browser.wait(inert);
        browser.wait("[...document.querySelectorAll('.changes-of .unseen')].some((mark) => mark.textContent === 'RLO')");
        browser.press("jn");
        browser.wait("document.activeElement?.id === 'comment'");
        browser.script("document.activeElement.value = arguments[0]", &[json!(HOSTILE)]);
        browser.press_with_control(ENTER);
        shown_as(
            &browser,
            if id == 1 { "2 of 2 parts taken, 1 comment" } else { "1 of 1 part taken, 1 comment" },
        );
        browser.press("t");
        browser.sees("afterwards");
        browser.wait(inert);
        browser.press("b");
        is_over(&browser, "was sent back");
        browser.wait(inert);
    }
    let log = browser.console();
    assert!(
        !log.iter().any(|line| line.contains("Content Security Policy") || line.contains("TrustedHTML")),
        "{log:?}"
    );
}

#[test]
fn a_proposal_of_three_hundred_passages_opens_at_once() {
    let Some(browser) = browser("a_proposal_of_three_hundred_passages_opens_at_once") else { return };
    let project = Project::new();
    let lines: String = (0..3_000).map(|number| format!("let value_{number} = {number};\n")).collect();
    project.write("long.rs", &lines);
    let changed = |number: usize| format!("let changed_{number} = \"{number}\";\n");
    let after: String = lines
        .split_inclusive('\n')
        .enumerate()
        .map(|(number, line)| if number % 10 == 0 { changed(number) } else { line.to_owned() })
        .collect();
    let mut client = Client::new(&project);
    client.calls("writeFile", &json!({ "path": "long.rs", "content": after, "mode": "overwrite" }));
    let page = project.page();
    browser.goto(&page.url);
    open_review(&browser);
    shown_as(&browser, "300 of 300 parts taken");
    browser.press("1");
    browser.wait("document.querySelector('.loop')");
    // From the press of the key until the first passages are painted: the time to print, and how many have their lines by
    // then. Those that are seen do not wait for the others.
    let first = browser.later(
        "const done = arguments[0]; const began = performance.now(); \
         (function look() { const lines = document.querySelectorAll('.changes-of .hunk .line.added').length; \
         if (document.querySelectorAll('.changes-of .hunk').length === 300 && lines > 0) \
         return requestAnimationFrame(() => setTimeout(() => done([lines, performance.now() - began]))); setTimeout(look, 1); })(); \
         dispatchEvent(new KeyboardEvent('keydown', { key: '2', bubbles: true }))",
        &[],
    );
    let request = browser.value(
        "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/review/1')).at(-1).duration",
    );
    let list = browser.value(
        "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/api/review')).at(-1).duration",
    );
    let (lines, took) = (first[0].as_u64().unwrap(), &first[1]);
    eprintln!(
        "{lines} of 300 passages are open after {took} ms: {list} ms for the list, {request} ms for the proposal"
    );
    assert!(lines < 100, "{lines} passages were filled before the first was painted");
    // All lines follow.
    browser.wait("document.querySelectorAll('.hunk .line.added').length === 300");
    // The last one is left out within a blink, and the choice holds.
    browser.press("k ");
    shown_as(&browser, "299 of 300 parts taken");
}

#[test]
fn a_choice_begins_to_run_at_once() {
    let Some(browser) = browser("a_choice_begins_to_run_at_once") else { return };
    let project = Project::new();
    let mut client = Client::new(&project);
    client.calls("executeCommand", &json!({ "command": "date +%s%3N" }));
    let page = project.page();
    browser.goto(&page.url);
    open_review(&browser);
    shown_as(&browser, "1 of 1 part taken");
    browser.script("addEventListener('keydown', () => (window.began = Date.now()), true)", &[]);
    // The second trial finds everything open.
    for _ in 0..2 {
        browser.press("t");
        let output = "Number(document.querySelector('.results pre')?.textContent)";
        let took =
            browser.wait(&format!("{output} > window.began && {output} - window.began")).as_f64().unwrap();
        browser.sees("Landing lands exactly this.");
        eprintln!("the command of a choice runs {took} ms after the key");
    }
}
