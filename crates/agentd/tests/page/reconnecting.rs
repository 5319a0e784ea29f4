//! Two tabs, reloads, and a server that is killed and started again.

use crate::browser::{ENTER, ESCAPE, browser};
use crate::project::{GOOD_REPLY, Project};

#[test]
fn two_tabs_show_the_same_and_a_reload_in_the_middle_loses_nothing() {
    let Some(browser) = browser("two_tabs_show_the_same_and_a_reload_in_the_middle_loses_nothing") else {
        return;
    };
    let project = Project::new();
    project.session("Greet with a comma");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    let first = browser.tab();
    browser.new_tab();
    browser.goto(&format!("http://{}/ui/", page.address));
    browser.sees("Message 1");
    // A text that was pasted is there after a reload.
    browser.copy_in_the_chat(
        "[RUN_COMMAND]\necho begun; until [ -e go ]; do sleep 0.05; done; echo ended\n[/RUN_COMMAND]\n",
    );
    browser.press("v");
    browser.press_with_control('v');
    browser.plans("1 block");
    browser.reload();
    browser.plans("1 block");
    browser.wait("!document.querySelector('.plan').hasAttribute('aria-busy')");
    browser.press("l");
    browser.wait("document.querySelector('.output')?.textContent.includes('begun')");
    // The run is there after a reload, and in the other tab.
    browser.reload();
    browser.wait("document.querySelector('.running .output')?.textContent.includes('begun')");
    browser.switch_to(&first);
    browser.wait("document.querySelector('.running .output')?.textContent.includes('begun')");
    // Commands see the folder as it was, so the way to end it is to stop it.
    browser.press("s");
    browser.wait("document.querySelector('.running') === null");
    browser.sees("cancelled by the user");
}

#[test]
fn a_killed_server_is_found_again_and_the_page_resumes_with_a_new_code() {
    let Some(browser) = browser("a_killed_server_is_found_again_and_the_page_resumes_with_a_new_code") else {
        return;
    };
    let project = Project::new();
    let session = project.session("Greet with a comma");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    browser.copy_in_the_chat(GOOD_REPLY);
    browser.press("v");
    browser.press_with_control('v');
    browser.plans("2 blocks");
    let address = page.kill();
    browser.sees("no connection: trying again");
    browser.press_with_control(ENTER);
    browser.sees("agentd does not answer");
    // Something happens while the page is away.
    let reply = project.folder().join("reply.txt");
    std::fs::write(&reply, "[CREATE_FILE path=\"new.txt\"]\n1\n[/CREATE_FILE]\n").unwrap();
    let ran = project.command(&["apply", reply.to_str().unwrap(), "--session", &session]).output().unwrap();
    assert!(ran.status.success());
    // Another program may have had the port meanwhile, and all that the browser sends: a new code is needed. This tab
    // resumes as soon as another one has entered.
    let first = browser.tab();
    let again = project.page_at(&address);
    browser.sees("Open the page with its address");
    browser.new_tab();
    browser.goto(&again.url);
    browser.sees("Message 2");
    browser.switch_to(&first);
    browser.sees("Message 2");
    browser.wait("document.getElementById('connection').textContent === ''");
    assert_eq!(again.address, address);
    browser.press(&ESCAPE.to_string());
    browser.copy_in_the_chat(GOOD_REPLY);
    browser.press("v");
    browser.press_with_control('v');
    browser.plans("2 blocks");
    browser.press_with_control(ENTER);
    browser.sees("Message 3");
    assert!(project.read("greet.sh").contains("Hello, "));
}
