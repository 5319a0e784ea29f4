//! The main job of the page: a message into the chat, a reply back, until the model is done.

use crate::browser::{ENTER, ESCAPE, browser};
use crate::project::{GOOD_REPLY, Project};

#[test]
fn the_whole_job_by_keyboard_alone() {
    let Some(browser) = browser("the_whole_job_by_keyboard_alone") else { return };
    let project = Project::new();
    let page = project.page();
    browser.goto(&page.url);
    // The box for the first task leaves the keys to the page.
    browser.wait("document.activeElement?.id === 'main' && document.getElementById('task')");
    browser.press("?");
    browser.wait("document.getElementById('dialog').open");
    browser.press(&ENTER.to_string());
    browser.wait("!document.getElementById('dialog').open");
    browser.press("n");
    browser.wait("document.activeElement?.id === 'task'");
    browser.press("Greet with");
    // Left and entered again, it keeps its text.
    browser.press(&ESCAPE.to_string());
    browser.press("n");
    browser.wait("document.activeElement?.id === 'task'");
    browser.press(" a comma");
    browser.press_with_control(ENTER);
    browser.sees("Message 1");
    assert_eq!(browser.value("location.hash.includes('code')"), false);
    // The message is copied whole.
    browser.wait("document.activeElement?.tagName !== 'TEXTAREA'");
    browser.press("c");
    browser.sees("Message 1 is on the clipboard");
    let message = browser.clipboard();
    assert!(message.contains("Greet with a comma") && message.contains("PROTOCOL"), "{message}");
    // The chat answers, and the answer is pasted.
    browser.copy_in_the_chat(GOOD_REPLY);
    browser.press("v");
    browser.wait("document.activeElement?.id === 'reply'");
    browser.press_with_control('v');
    browser.plans("2 blocks");
    browser.sees("echo \"Hello, $1\"");
    assert!(!project.read("greet.sh").contains("Hello, "), "nothing runs before it is asked for");
    // The plan, passage by passage, then the run.
    browser.press(&ESCAPE.to_string());
    browser.press("t");
    browser.wait("document.activeElement?.closest('.plan') !== null");
    browser.press("j");
    browser.wait("document.activeElement?.classList.contains('hunk')");
    browser.press("l");
    browser.sees("finished");
    browser.sees("passed");
    assert!(project.read("greet.sh").contains("Hello, "));
    browser.sees("Message 2");
    // The model asks something, and the person answers.
    let question = "[MESSAGE]\nShould it also greet the world?\n[/MESSAGE]\n";
    browser.copy_in_the_chat(question);
    browser.press("v");
    browser.press_with_control('v');
    browser.plans("1 block");
    browser.press_with_control(ENTER);
    browser.sees("The model asks");
    browser.press(&ESCAPE.to_string());
    browser.press("a");
    browser.wait("document.activeElement?.id === 'answer'");
    browser.press("No, thank you");
    browser.press_with_control(ENTER);
    browser.sees("Your answer is in the message");
    browser.press(&ESCAPE.to_string());
    browser.press("c");
    browser.sees("Message 3 is on the clipboard");
    assert!(browser.clipboard().contains("No, thank you"));
    // The model is done.
    browser.copy_in_the_chat("[DONE]\nThe greeting has a comma.\n[/DONE]\n");
    browser.press("v");
    browser.press_with_control('v');
    browser.plans("1 block");
    browser.press_with_control(ENTER);
    browser.sees("The task is not complete: go on");
    browser.sees("The greeting has a comma.");
    // Help says which keys there are.
    browser.press(&ESCAPE.to_string());
    browser.press("?");
    browser.wait("document.getElementById('dialog').open");
    browser.sees("run the reply");
    browser.press(&ENTER.to_string());
    browser.wait("!document.getElementById('dialog').open");
}

#[test]
fn faults_of_a_reply_are_shown_with_their_lines_and_nothing_runs() {
    let Some(browser) = browser("faults_of_a_reply_are_shown_with_their_lines_and_nothing_runs") else {
        return;
    };
    let project = Project::new();
    project.session("Greet with a comma");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    let reply = "[EDIT_FILE path=\"greet.sh\" start_line=\"x\" end_line=\"2\"]\nhello\n[/EDIT_FILE]\n\n[RUN_COMMAND]\necho still\n[/RUN_COMMAND]\n";
    browser.copy_in_the_chat(reply);
    browser.press("v");
    browser.press_with_control('v');
    browser.plans("2 blocks, 1 problem");
    browser.sees("start_line/end_line must be integers");
    assert_eq!(
        browser.value("document.querySelector('.line.marked .code').textContent"),
        "[EDIT_FILE path=\"greet.sh\" start_line=\"x\" end_line=\"2\"]"
    );
    // A damaged paste is refused as a whole, with the line and the way out.
    browser.press(&ESCAPE.to_string());
    browser.script("document.querySelector('#reply').value = ''", &[]);
    browser.copy_in_the_chat("[CREATE_FILE path=\"a.py\"]\ndef f():\nif True:\nreturn 1\n[/CREATE_FILE]\n");
    browser.press("v");
    browser.press_with_control('v');
    browser.plans("This reply is refused");
    browser.sees("lost its indentation");
    assert_eq!(browser.value("document.querySelectorAll('.plan .primary').length"), 0);
}

#[test]
fn a_reply_in_the_inbox_is_shown_with_a_badge_and_run_from_there() {
    let Some(browser) = browser("a_reply_in_the_inbox_is_shown_with_a_badge_and_run_from_there") else {
        return;
    };
    let project = Project::new();
    project.session("Greet with a comma");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    project.drop_reply("answer.txt", GOOD_REPLY);
    browser.sees("answer.txt has arrived in the inbox");
    browser.wait("document.querySelector('nav .badge') && document.title.startsWith('(1)')");
    browser.script("document.querySelector('.arrived button').click()", &[]);
    browser.plans("2 blocks");
    browser.wait("!document.querySelector('.plan').hasAttribute('aria-busy')");
    browser.press("l");
    browser.sees("Message 2");
    browser.wait("!document.querySelector('nav .badge')");
    assert!(project.workspace().join(".agentd/inbox/processed/answer.txt").is_file());
}

#[test]
fn a_command_shows_its_output_while_it_runs_and_can_be_stopped() {
    let Some(browser) = browser("a_command_shows_its_output_while_it_runs_and_can_be_stopped") else {
        return;
    };
    let project = Project::new();
    project.session("Wait");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    browser.copy_in_the_chat("[RUN_COMMAND]\necho one; echo two words; sleep 600\n[/RUN_COMMAND]\n");
    browser.press("v");
    browser.press_with_control('v');
    browser.plans("1 block");
    browser.press_with_control(ENTER);
    browser.wait("document.querySelector('.output')?.textContent.includes('two words')");
    assert_eq!(browser.value("document.querySelector('.running') !== null"), true);
    browser.press(&ESCAPE.to_string());
    browser.press("/");
    browser.press("two");
    browser.sees("2 matches");
    browser.press(&ESCAPE.to_string());
    browser.press("s");
    browser.sees("cancelled by the user");
    browser.wait("document.querySelector('.running') === null");
}
