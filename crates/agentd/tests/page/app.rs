//! The app `ui://agentd/review` in a host that draws it.

use serde_json::json;

use crate::accessibility::{check, picture};
use crate::app_host::{AppHost, app_says, model_calls, model_reads, press};
use crate::browser::{axe, browser};
use crate::project::Project;

/// Both eras of the protocol, between the host and the server.
const MODES: [&str; 2] = ["legacy", "auto"];

#[test]
fn an_edit_is_drawn_landed_and_answered() {
    let test = "an_edit_is_drawn_landed_and_answered";
    let Some(browser) = browser(test) else { return };
    for mode in MODES {
        let project = Project::new();
        let Some(host) = AppHost::start(test, &project, mode) else { return };
        host.open(&browser, "");
        let tools = browser.value("window.modelTools").to_string();
        assert!(tools.contains("modifyFile") && !tools.contains("reviewDecide"), "{tools}");
        let edit = json!({ "path": "greet.sh", "operations": [
            { "type": "replace", "startLine": 2, "endLine": 2, "newContent": "    echo \"Hello, $1\"" }
        ] });
        model_calls(&browser, "modifyFile", &edit);
        app_says(&browser, "Proposal 1 waits for you.");
        let drawn =
            |kind: &str| browser.value(&format!("document.querySelector('.hunk .line.{kind}').textContent"));
        assert_eq!(drawn("removed"), "-     echo \"Hello $1\"");
        assert_eq!(drawn("added"), "+     echo \"Hello, $1\"");
        assert!(project.read("greet.sh").contains("Hello $1"));
        press(&browser, "land");
        app_says(&browser, "Proposal 1 was carried out.");
        browser
            .wait("document.getElementById('decision').hidden && !document.getElementById('outcome').hidden");
        model_reads(&browser, "It has answered");
        assert!(project.read("greet.sh").contains("Hello, $1"));
        assert_eq!(host.outside_requests(), [""; 0]);
    }
}

#[test]
fn a_command_is_sent_back_with_a_word_for_the_model() {
    let test = "a_command_is_sent_back_with_a_word_for_the_model";
    let Some(browser) = browser(test) else { return };
    for mode in MODES {
        let project = Project::new();
        let Some(host) = AppHost::start(test, &project, mode) else { return };
        host.open(&browser, "");
        model_calls(&browser, "executeCommand", &json!({ "command": "rm greet.sh" }));
        app_says(&browser, "Proposal 1 waits for you.");
        assert_eq!(browser.value("document.querySelector('.line.command').textContent"), "$ rm greet.sh");
        browser.script(
            "document.getElementById('comment').value = arguments[0]",
            &[json!("Keep it: <b>test.sh</b> needs it.")],
        );
        press(&browser, "send-back");
        app_says(&browser, "Proposal 1 was sent back.");
        model_reads(&browser, "Keep it: <b>test.sh</b> needs it.");
        assert!(project.read("greet.sh").contains("Hello"));
    }
}

/// A text that would be active if anything took it for markup, a terminal's or a direction's. `OUTSIDE` is another server.
const HOSTILE: &str = "<img src=OUTSIDEimage onerror=\"window.hit=1\"><script>window.hit=1</script><svg/onload=window.hit=1>\
                       <link rel=stylesheet href=OUTSIDEstyle><iframe srcdoc='<script>parent.hit=1</script>'></iframe>\
                       <style>@import 'OUTSIDEimport'</style><base href=OUTSIDE></div></pre></script>\u{202e}evil\u{200b}\u{7}\u{1b}[2J";

const INERT: &str = "window.hit === undefined && !document.querySelector('main img, main script, main svg, main iframe, main link, \
                     main style, base, main [onerror], main [onload], main [srcdoc], main [style]')";

#[test]
fn hostile_texts_are_inert_and_the_policy_of_the_app_holds_by_itself() {
    let test = "hostile_texts_are_inert_and_the_policy_of_the_app_holds_by_itself";
    let Some(browser) = browser(test) else { return };
    let project = Project::new();
    let Some(host) = AppHost::start(test, &project, "legacy") else { return };
    let hostile = HOSTILE.replace("OUTSIDE", &host.outside);
    project.write("notes.txt", &format!("{hostile}\n"));
    host.open(&browser, "csp=none");
    let write =
        json!({ "path": "notes.txt", "content": format!("{hostile}{hostile}\n"), "mode": "overwrite" });
    model_calls(&browser, "writeFile", &write);
    app_says(&browser, "Proposal 1 waits for you.");
    browser.wait(INERT);
    let steps = browser.value("document.getElementById('steps').textContent");
    assert!(steps.as_str().unwrap().contains("<script>window.hit=1</script>"), "{steps}");
    assert!(!steps.as_str().unwrap().contains(['\u{202e}', '\u{200b}', '\u{7}', '\u{1b}']), "{steps}");
    // As the comment, as the answer, and in a message of the host.
    browser.script("document.getElementById('comment').value = arguments[0]", &[json!(hostile)]);
    press(&browser, "send-back");
    app_says(&browser, "was sent back");
    browser.wait("document.getElementById('answer').textContent.includes('onerror')");
    browser.wait(INERT);
    // The sandbox of this host has no policy, so that the next tries meet that of the app alone.
    // (The tools of the browser let `eval` through while they run a script themselves, hence the timer.)
    let tries = "const [outside, done] = arguments; const met = []; \
        document.addEventListener('securitypolicyviolation', (event) => met.push(event.effectiveDirective)); \
        const attempt = (name, does) => { try { does(); } catch (error) { met.push(`${name}: ${error.name}`); } }; \
        const add = (name, values) => document.body.append(Object.assign(document.createElement(name), values)); \
        attempt('innerHTML', () => { document.body.innerHTML += `<img src=${outside}html>`; }); \
        attempt('script', () => add('script', { textContent: 'window.hit = 1' })); \
        attempt('src', () => add('script', { src: `${outside}script` })); \
        setTimeout(() => attempt('eval', () => window.eval('window.hit = 1'))); \
        add('img', { src: `${outside}image` }); \
        add('link', { rel: 'stylesheet', href: `${outside}style` }); \
        add('style', { textContent: `@import '${outside}import'` }); \
        attempt('frame', () => add('iframe', { src: `${outside}frame` })); \
        attempt('object', () => add('object', { data: `${outside}object` })); \
        add('audio', { src: `${outside}audio`, preload: 'auto' }); \
        const form = document.createElement('form'); form.action = `${outside}form`; document.body.append(form); form.submit(); \
        navigator.sendBeacon(`${outside}beacon`); \
        fetch(`${outside}fetch`).catch(() => met.push('fetch: refused')).finally(() => setTimeout(() => done(met), 300))";
    let met = browser.later(tries, &[json!(host.outside)]).to_string();
    for needed in [
        "innerHTML: TypeError",
        "script: TypeError",
        "src: TypeError",
        "eval: EvalError",
        "fetch: refused",
        "img-src",
        "style-src-elem",
        "connect-src",
        "frame-src",
        "object: TypeError",
        "media-src",
    ] {
        assert!(met.contains(needed), "{needed}: {met}");
    }
    assert_eq!(browser.value("window.hit === undefined"), true);
    assert_eq!(host.outside_requests(), [""; 0]);
}

#[test]
fn the_app_has_no_serious_fault_in_any_look() {
    let test = "the_app_has_no_serious_fault_in_any_look";
    let Some(browser) = browser(test) else { return };
    let Some(axe) = axe() else {
        return test_support::skip(test, "axe-core is not installed; `cargo xtask setup` installs it");
    };
    let axe = std::fs::read_to_string(axe).unwrap();
    for (theme, width) in [("light", 900), ("dark", 900), ("light", 360), ("dark", 360)] {
        let project = Project::new();
        let Some(host) = AppHost::start(test, &project, "legacy") else { return };
        browser.size(width, 900);
        host.open(&browser, &format!("theme={theme}"));
        let name = |what: &str| format!("app-{what}-{theme}-{width}");
        let edit = json!({ "path": "greet.sh", "operations": [
            { "type": "insert", "afterLine": 0, "newContent": "# Greets people by their names, politely and with a comma, whatever they are called." },
            { "type": "replace", "startLine": 2, "endLine": 2, "newContent": "    echo \"Hello, $1\"" },
            { "type": "insert", "afterLine": 3, "newContent": "greet \"$@\"" }
        ] });
        model_calls(&browser, "modifyFile", &edit);
        app_says(&browser, "waits for you");
        browser.wait("!document.getElementById('land').disabled");
        check(&browser, &axe, &name("edit"));
        let is_wide =
            browser.value("document.documentElement.scrollWidth > document.documentElement.clientWidth");
        assert_eq!(is_wide, false, "{} scrolls sideways", name("edit"));
        browser.leave_frames();
        // The frame is as high as its app.
        browser.wait("document.querySelector('iframe').offsetHeight > 250");
        picture(&browser, &name("edit"));
        crate::app_host::enter(&browser, 0);
        press(&browser, "land");
        app_says(&browser, "was carried out");
        browser.wait("!document.getElementById('outcome').hidden");
        check(&browser, &axe, &name("landed"));
        model_reads(&browser, "It has answered");
        model_calls(
            &browser,
            "executeCommand",
            &json!({ "command": "sh test.sh", "environment": { "LANG": "C" } }),
        );
        app_says(&browser, "waits for you");
        browser.wait("!document.getElementById('land').disabled");
        check(&browser, &axe, &name("command"));
        browser.leave_frames();
        browser.script("document.querySelectorAll('.call')[1].scrollIntoView()", &[]);
        picture(&browser, &name("command"));
        crate::app_host::enter(&browser, 1);
        press(&browser, "land");
        model_reads(&browser, "passed");
    }
}
