//! Hostile texts, which are inert: no element, no attribute, no script, no report of the browser, and no standstill.

use serde_json::json;

use crate::browser::{ESCAPE, browser};
use crate::project::Project;

/// A text that would be active if anything took it for markup, a terminal's or a direction's.
const HOSTILE: &str = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script><svg/onload=window.hit=1>\
                       <iframe srcdoc='<script>parent.hit=1</script>'></iframe>{{7*7}}${7*7}\u{202e}evil\u{2066}\u{200b}\u{200d}\u{feff}\u{e0100}\u{1d173}\u{7}\u{1b}[2J\u{1b}]8;;javascript:alert(1)\u{7}link\u{1b}]8;;\u{7}";

const WATCH: &str = "window.violations = []; document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective))";

const INERT: &str = "window.hit === undefined && window.violations.length === 0 && \
                     !document.querySelector('main img, main script, main svg, main iframe, main [onerror], main [onload], main [srcdoc], main [style]')";

#[test]
fn hostile_texts_are_inert_wherever_they_stand() {
    let Some(browser) = browser("hostile_texts_are_inert_wherever_they_stand") else { return };
    let project = Project::new();
    let line: String = HOSTILE.chars().filter(|character| *character != '\n').collect();
    project.write("notes.txt", &format!("{line}\n"));
    let page = project.page();
    browser.goto(&page.url);
    browser.wait("document.getElementById('task')");
    browser.script(WATCH, &[]);
    // As the task, in a plan with every kind of block, in output, in the history.
    browser.script("document.getElementById('task').value = arguments[0]", &[json!(HOSTILE)]);
    browser.script("document.querySelector('.new-task .primary').click()", &[]);
    browser.sees("Message 1");
    let reply = format!(
        "{HOSTILE}\n[EDIT_FILE path=\"notes.txt\" start_line=\"1\" end_line=\"1\"]\n{HOSTILE}{HOSTILE}\n[/EDIT_FILE]\n\
         [CREATE_FILE path=\"<img src=x onerror=hit=1>\u{202e}.txt\"]\n{HOSTILE}\n[/CREATE_FILE]\n\
         [RUN_COMMAND]\ncat notes.txt # {HOSTILE}\n[/RUN_COMMAND]\n[RUN_COMMAND]\ncat notes.txt >&2; exit 3\n[/RUN_COMMAND]\n\
         [EDIT_FILE path=\"{HOSTILE}\" start_line=\"x\"]\n[/EDIT_FILE]\n[MESSAGE]\n{HOSTILE} ?\n[/MESSAGE]\n"
    );
    browser.script(
        "const box = document.getElementById('reply'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))",
        &[json!(reply)],
    );
    browser.wait("document.querySelectorAll('.plan .block').length >= 5");
    browser.wait(INERT);
    // The characters that are not seen are shown by their names.
    browser
        .wait("[...document.querySelectorAll('.plan .unseen')].some((mark) => mark.textContent === 'RLO')");
    browser
        .wait("[...document.querySelectorAll('.plan .unseen')].some((mark) => mark.textContent === 'ZWSP')");
    browser.wait(
        "[...document.querySelectorAll('.plan .unseen')].some((mark) => mark.textContent === 'U+E0100')",
    );
    browser.wait(
        "[...document.querySelectorAll('.plan .unseen')].some((mark) => mark.textContent === 'U+1D173')",
    );
    browser.press(&ESCAPE.to_string());
    browser.wait("!document.querySelector('.plan').hasAttribute('aria-busy')");
    browser.script("document.querySelector('.plan .primary').click()", &[]);
    browser.sees("Message 2");
    browser.wait(INERT);
    browser.sees("<script>window.hit=1</script>");
    browser.press("3");
    browser.wait("document.querySelector('.timeline .run')");
    browser.script("document.querySelector('.timeline button').click()", &[]);
    browser.wait("document.querySelector('.file')");
    browser.wait(INERT);
    browser.press("5");
    browser.sees("Confinement of commands");
    browser.wait(INERT);
    let log = browser.console();
    assert!(
        !log.iter().any(|line| line.contains("Content Security Policy") || line.contains("TrustedHTML")),
        "{log:?}"
    );
}

#[test]
fn a_line_of_ten_megabytes_freezes_nothing() {
    let Some(browser) = browser("a_line_of_ten_megabytes_freezes_nothing") else { return };
    let project = Project::new();
    project.session("Long lines");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    // In the reply.
    browser.script(
        "const text = '[CREATE_FILE path=\"long.txt\"]\\n' + 'x'.repeat(3 << 20) + '\\n[/CREATE_FILE]\\n'; \
         const data = new DataTransfer(); data.setData('text/plain', text); \
         document.getElementById('reply').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))",
        &[],
    );
    browser.plans("1 block");
    browser.sees("more characters]");
    browser.sees("characters are shown; all of them are planned and run");
    browser.script(
        "[...document.querySelectorAll('button')].find((button) => button.textContent === 'Close').click()",
        &[],
    );
    // In the output of a command, while it runs.
    browser.script(
        "const box = document.getElementById('reply'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))",
        &[json!("[RUN_COMMAND]\nhead -c 10485760 /dev/zero | tr '\\0' x; echo; yes | head -n 300000; echo the end\n[/RUN_COMMAND]\n")],
    );
    browser.plans("1 block");
    browser.wait("!document.querySelector('.plan').hasAttribute('aria-busy')");
    browser.script("document.querySelector('.plan .primary').click()", &[]);
    browser.sees("Message 2");
    browser.sees("more characters]");
    browser.wait("document.querySelector('.run-tools').parentElement.innerText.includes('the end')");
    let nodes = browser.value("document.querySelectorAll('*').length");
    assert!(nodes.as_u64().unwrap() < 10_000, "{nodes}");
    let characters = browser.value("document.body.textContent.length");
    assert!(characters.as_u64().unwrap() < 2_000_000, "{characters}");
    // The page still answers keys.
    browser.press("?");
    browser.wait("document.getElementById('dialog').open");
}
