//! The board of agents: who is ready, logs, differences, and taking work over.

use std::process::Command;

use crate::accessibility::{check, picture};
use crate::browser::{Browser, ENTER, axe, browser};
use crate::project::{GOOD_REPLY, Project};

/// Runs git in the project, with an identity.
fn git(project: &Project, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@localhost"]).args(arguments);
    let output = command.current_dir(project.workspace()).env("HOME", project.folder().join("home")).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

fn repository() -> Project {
    let project = Project::new();
    project.write(".gitignore", ".agentd\n");
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-q", "-m", "start"]] {
        git(&project, arguments);
    }
    let config = "[user]\n\tname = A\n\temail = a@localhost\n";
    std::fs::write(project.folder().join("home/.gitconfig"), config).unwrap();
    project
}

/// Runs agents that are shell scripts; whether one is ready does not matter here.
fn run_agents(project: &Project, more: &[&str]) {
    let ran = project.command(&[&["cocode", "run", "--issue", "5"], more].concat()).output().unwrap();
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{ran:?}");
}

const FIXED: &str = "fixer=sed -i 's/Hello /Hello, /' greet.sh && echo '<b>done</b>' && git commit -qam 'cocode ready for check'";

fn click(browser: &Browser, label: &str) {
    browser.wait(&format!("document.querySelector('[aria-label=\"{label}\"]')"));
    browser.script(&format!("document.querySelector('[aria-label=\"{label}\"]').click()"), &[]);
}

#[test]
fn the_board_shows_agents_with_logs_and_differences_and_takes_work_over() {
    let Some(browser) = browser("the_board_shows_agents_with_logs_and_differences_and_takes_work_over")
    else {
        return;
    };
    let project = repository();
    let before = git(&project, &["rev-parse", "HEAD"]);
    let idle = "idle=echo nothing to do";
    run_agents(
        &project,
        &[
            "--issue-body",
            "Greet with a comma",
            "--check",
            "sh test.sh",
            "--agent-cmd",
            FIXED,
            "--agent-cmd",
            idle,
        ],
    );
    let page = project.page();
    browser.goto(&page.url);
    browser.wait("document.getElementById('task')");
    browser.press("4");
    browser.sees("Issue 5");
    let row = |name: &str| {
        let script = "[...document.querySelectorAll('tbody tr')].find((row) => row.cells[0].textContent === arguments[0]).innerText";
        browser.script(&format!("return {script}"), &[name.into()]).as_str().unwrap().to_owned()
    };
    let fixer = row("fixer");
    assert!(fixer.contains("ready") && fixer.contains("passed") && fixer.contains("+1 −1"), "{fixer}");
    assert!(row("idle").contains("completed"), "{}", row("idle"));
    // The agent that is ready and checked comes first.
    assert_eq!(browser.value("document.querySelector('tbody th').textContent"), "fixer");
    if let Some(axe) = axe() {
        let axe = std::fs::read_to_string(axe).unwrap();
        for (scheme, width, height) in [("light", 1440, 1000), ("dark", 360, 780)] {
            browser.size(width, height);
            browser.prefer("prefers-color-scheme", scheme);
            check(&browser, &axe, "agents");
            picture(&browser, &format!("agents-runs-{scheme}-{width}"));
        }
        browser.size(1440, 1000);
    }
    click(&browser, "Log of fixer");
    browser.sees("<b>done</b>");
    click(&browser, "Difference of fixer");
    browser.wait("document.querySelector('.line.added')?.textContent.includes('Hello, $1')");
    click(&browser, "Pick fixer");
    browser.wait("document.getElementById('dialog').open");
    browser.sees("The current branch moves forward to it");
    assert_eq!(git(&project, &["rev-parse", "HEAD"]), before);
    browser.press(&ENTER.to_string());
    browser.sees("is in the current branch now");
    assert_ne!(git(&project, &["rev-parse", "HEAD"]), before);
    assert!(project.read("greet.sh").contains("Hello, $1"));
    click(&browser, "Pick fixer");
    browser.sees("is here already");
}

#[test]
fn work_that_continues_a_session_is_taken_into_the_files_and_undone_with_it() {
    let Some(browser) = browser("work_that_continues_a_session_is_taken_into_the_files_and_undone_with_it")
    else {
        return;
    };
    let project = repository();
    let session = project.session("Greet with a comma");
    let reply = project.folder().join("reply.txt");
    std::fs::write(&reply, GOOD_REPLY).unwrap();
    let applied =
        project.command(&["apply", reply.to_str().unwrap(), "--session", &session]).output().unwrap();
    assert!(applied.status.success(), "{applied:?}");
    let begun = project.read("greet.sh");
    let from = format!("session:{session}");
    let script = "finisher=grep -q 'Hello, ' greet.sh && echo '# done' >> greet.sh && git commit -qam 'cocode ready for check'";
    run_agents(&project, &["--from", &from, "--agent-cmd", script]);
    let page = project.page();
    browser.goto(&page.url);
    browser.sees("Message 2");
    browser.press("4");
    click(&browser, "Pick finisher");
    browser.wait("document.getElementById('dialog').open");
    browser.sees(&format!("as a run of {session}"));
    assert_eq!(project.read("greet.sh"), begun);
    browser.press(&ENTER.to_string());
    browser.sees("is in the files now");
    assert_eq!(project.read("greet.sh"), format!("{begun}# done\n"));
    let undone = project.plain_command(&["undo", "--session", &session, "--with-origin"]).output().unwrap();
    assert!(undone.status.success(), "{undone:?}");
    assert_eq!(git(&project, &["status", "--porcelain"]), "");
}
