//! The history: undo with its difference first, and redo.

use crate::browser::{ENTER, ESCAPE, browser};
use crate::project::{GOOD_REPLY, Project};

#[test]
fn an_undo_shows_its_difference_first_and_can_be_redone() {
    let Some(browser) = browser("an_undo_shows_its_difference_first_and_can_be_redone") else { return };
    let project = Project::new();
    project.session("Greet with a comma");
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 1");
    let before = project.read("greet.sh");
    browser.copy_in_the_chat(GOOD_REPLY);
    browser.press("v");
    browser.press_with_control('v');
    browser.plans("2 blocks");
    browser.press_with_control(ENTER);
    browser.sees("Message 2");
    let after = project.read("greet.sh");
    assert_ne!(before, after);
    // Cancelled first: nothing is undone.
    browser.press(&ESCAPE.to_string());
    browser.press("u");
    browser.wait("document.getElementById('dialog').open");
    browser.wait("document.querySelector('#dialog .line.added')?.textContent.includes('Hello, $1')");
    browser.press(&ESCAPE.to_string());
    browser.wait("!document.getElementById('dialog').open");
    assert_eq!(project.read("greet.sh"), after);
    browser.press("u");
    browser.wait("document.getElementById('dialog').open");
    browser.press(&ENTER.to_string());
    browser.sees("Undone: restored");
    assert_eq!(project.read("greet.sh"), before);
    // The undo is an entry of its own, which can be reverted.
    browser.wait(
        "[...document.querySelectorAll('.timeline button')].some((button) => button.textContent === 'Redo')",
    );
    browser.script("[...document.querySelectorAll('.timeline button')].find((button) => button.textContent === 'Redo').click()", &[]);
    browser.wait("document.getElementById('dialog').open");
    browser.press(&ENTER.to_string());
    browser.sees("Done again");
    assert_eq!(project.read("greet.sh"), after);
    // A file that was saved meanwhile prevents an undo, and stays.
    project.write("greet.sh", "mine\n");
    browser.wait("!document.getElementById('dialog').open");
    browser.script("[...document.querySelectorAll('.timeline button')].find((button) => ['Undo', 'Redo'].includes(button.textContent)).click()", &[]);
    browser.wait("document.getElementById('dialog').open");
    browser.press(&ENTER.to_string());
    browser.sees("Not undone");
    assert_eq!(project.read("greet.sh"), "mine\n");
}

#[test]
fn two_changes_are_compared() {
    let Some(browser) = browser("two_changes_are_compared") else { return };
    let project = Project::new();
    let session = project.session("Write files");
    for (name, text) in [("one.txt", "1"), ("two.txt", "2"), ("one.txt", "3")] {
        let reply = project.folder().join("reply.txt");
        std::fs::write(&reply, format!("[CREATE_FILE path=\"{name}\"]\n{text}\n[/CREATE_FILE]\n")).unwrap();
        let ran =
            project.command(&["apply", reply.to_str().unwrap(), "--session", &session]).output().unwrap();
        assert!(ran.status.success());
    }
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 4");
    browser.press("3");
    browser.sees("Difference of changes");
    browser.press("d");
    browser.press("2");
    browser.press(&ENTER.to_string());
    browser.sees("Changes since 2");
    let files = browser.wait("document.querySelectorAll('.file').length");
    assert_eq!(files, 2);
    let text = browser.value("document.querySelector('section.card').innerText");
    let text = text.as_str().unwrap();
    assert!(text.contains("one.txt") && text.contains("two.txt"), "{text}");
}

#[test]
fn each_line_of_a_file_has_its_author() {
    let Some(browser) = browser("each_line_of_a_file_has_its_author") else { return };
    let project = Project::new();
    let session = project.session("Greet with a comma");
    let reply = project.folder().join("reply.txt");
    std::fs::write(&reply, GOOD_REPLY).unwrap();
    let ran = project.command(&["apply", reply.to_str().unwrap(), "--session", &session]).output().unwrap();
    assert!(ran.status.success());
    project.write("greet.sh", &format!("{}# <b>mine</b>\u{202e}\n", project.read("greet.sh")));
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 2");
    browser.press("3");
    browser.sees("Who wrote the lines of");
    browser.press("b");
    browser.wait("document.activeElement?.id === 'file'");
    browser.press("greet.sh");
    browser.press(&ENTER.to_string());
    browser.sees("Who wrote greet.sh");
    let text = |row: usize| {
        let row = browser.value(&format!("document.querySelectorAll('.blame tbody tr')[{row}].innerText"));
        row.as_str().unwrap().to_owned()
    };
    assert!(text(0).starts_with("there before"), "{}", text(0));
    assert!(text(1).starts_with(&format!("{session} message 1")), "{}", text(1));
    assert!(text(3).starts_with("another program") && text(3).contains("<b>mine</b>RLO"), "{}", text(3));
    // A name leads to the difference of its run.
    browser.script("document.querySelector('.blame button').click()", &[]);
    browser.sees("What run");
    browser.wait("document.querySelector('.line.added')?.textContent.includes('Hello, $1')");
    browser.press("b");
    browser.script("document.getElementById('file').value = '../outside'", &[]);
    browser.press(&ENTER.to_string());
    browser.sees("../outside:");
}
