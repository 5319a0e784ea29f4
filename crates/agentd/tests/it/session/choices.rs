//! The user's choices on the command line of a session.

use std::fs;
use std::process::Command;

use crate::fixture::daemon::Daemon;
use crate::fixture::project::{Project, Ran};
use test_support::skip;
use test_support::write_program;

#[test]
fn a_task_in_quotes_is_new_and_a_mistyped_command_is_not_a_task() {
    let project = Project::new();
    let mut daemon = Daemon::start(project.command(&["two words"]));
    daemon.wait_for(": two words");
    daemon.wait_until_it_waits();
    let ran = daemon.interrupt().exits(130);
    assert_eq!(ran.stdout, "", "{ran}");

    let project = Project::new();
    for mistyped in [&["sesions"][..], &["rsume", "0123abcd"], &["Apply", "file"]] {
        let ran = project.run(mistyped).exits(2).says(&format!("there is no command '{}'", mistyped[0]));
        ran.says("a task of several words goes in quotes, or after `new`");
    }
    project.run(&["sesions"]).exits(2).says("did you mean `agentd sessions`?");
    project.run(&["rsume", "0123abcd"]).exits(2).says("did you mean `agentd resume`?");
    let unlike = project.run(&["xyzzy"]).exits(2);
    assert!(!unlike.stderr.contains("did you mean"), "{unlike}");
    project.run(&["sessions", "--jsn"]).exits(2).says("--json");
    project.run(&["cocode", "sttus"]).exits(2).says("status");
    project.run(&["man", "sesions"]).exits(2).says("did you mean 'sessions'?");
    project.run(&["two words", "--no-wait"]).exits(2).says("options of a session belong to `agentd new`");
    project.run(&["sessions", "--no-such-option"]).exits(2);
    assert!(!project.base().exists());
}

#[test]
fn the_bare_program_goes_on_with_the_newest_unfinished_session() {
    let project = Project::new();
    let older = project.begin("the older one");
    project.apply("[DONE]\nended\n[/DONE]\n", &[]).ok();
    let newest = project.begin("the newest one");
    for arguments in [&[][..], &["--resume"], &["resume"], &["resume", newest.as_str()]] {
        let mut daemon = Daemon::start(project.command(arguments));
        daemon.wait_for(&format!("session {newest}: the newest one"));
        daemon.wait_until_it_waits();
        daemon.interrupt().exits(130);
    }
    assert_ne!(older, newest);
}

#[test]
fn the_other_dialect_counts_lines_as_they_are_and_ends_files_as_they_were_written() {
    for (dialect, made, edited) in
        [("agentd", "body\n", "1a\n1b\n2\nnew 3\n4\n"), ("codingagent", "body", "1a\n1b\nnew 3\n3\n4\n")]
    {
        let project = Project::new();
        project.write("a.txt", "1\n2\n3\n4\n");
        let id = project.begin_with(&["new", "--no-wait", "--json", "--dialect", dialect, "speak"]);
        assert_eq!(project.session_file(&id)["dialect"], dialect);
        let reply = "[CREATE_FILE path=\"made\"]\nbody\n[/CREATE_FILE]\n\
             [EDIT_FILE path=\"a.txt\" start_line=\"1\" end_line=\"1\"]\n1a\n1b\n[/EDIT_FILE]\n\
             [EDIT_FILE path=\"a.txt\" start_line=\"3\" end_line=\"3\"]\nnew 3\n[/EDIT_FILE]\n";
        let ran = project.apply(reply, &[]).ok();
        assert_eq!(project.read("made"), made, "{dialect}");
        assert_eq!(project.read("a.txt"), edited, "{dialect}");
        assert_eq!(ran.stdout.contains("lines 3-3 (+1)"), dialect == "codingagent", "{ran}");
    }
    Project::new().run(&["new", "--no-wait", "--dialect", "klingon", "speak"]).exits(2);
}

#[test]
fn a_budget_bounds_every_message_and_says_what_is_left_out() {
    let project = Project::new();
    for number in 0..200 {
        project.write(&format!("folder/file-{number:03}.txt"), "text\n");
    }
    project.write("long.txt", &"a line of a long file\n".repeat(4_000));
    let unbounded = project.begin("read");
    let id = project.begin_with(&["new", "--no-wait", "--json", "--budget", "3000", "read"]);
    assert_eq!(project.session_file(&id)["tokenBudget"], 3000);
    let reply = "[READ_FILE path=\"long.txt\"]\n[RUN_COMMAND]\nseq 1 3000\n[/RUN_COMMAND]\n";
    project.apply(reply, &["--session", &id]).ok();
    project.apply(reply, &["--session", &unbounded]).ok();
    for sequence in [1, 2] {
        let (small, large) = (project.outbox(&id, sequence), project.outbox(&unbounded, sequence));
        assert!(small.len() < large.len(), "message {sequence}");
        assert!(small.contains("not listed") || small.contains("left out"), "{small}");
        assert!(small.len() < 3_000 * 6, "message {sequence} has {} bytes", small.len());
    }
}

#[test]
fn a_message_that_is_too_long_for_one_paste_is_written_in_parts() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let started = project.run(&["new", "--no-wait", "--json", "--paste", "2500", "read"]).ok().json();
    let id = started["session"].as_str().unwrap().to_owned();
    let whole = project.outbox(&id, 1);
    let names: Vec<_> = project.names("outbox").into_iter().filter(|name| name.contains("_part")).collect();
    let count = names.len();
    assert!(count > 1, "{whole}");
    let parts = started["parts"].as_array().unwrap();
    assert!(parts.len() == count && parts[0].as_str().unwrap().ends_with(&names[0]), "{started}");
    for (index, name) in names.iter().enumerate() {
        let number = index + 1;
        assert_eq!(*name, format!("{id}_seq0001_part{number}of{count}.txt"));
        let part = fs::read_to_string(project.base().join("outbox").join(name)).unwrap();
        assert!(part.starts_with(&format!("Part {number} of {count}: answer only after the last")), "{part}");
        assert!(part.chars().count() <= 2_500, "{part}");
        let printed = project.run(&["outbox", "--session", &id, "--part", &number.to_string()]).ok();
        assert_eq!(printed.stdout.trim_end(), part.trim_end());
    }
    let printed = project.run(&["outbox", "--session", &id]).ok();
    assert_eq!(printed.stdout.trim_end(), whole.trim_end());
    printed.says(&format!("--part 1 to --part {count} print its parts"));
    for wrong in ["0", &(count + 1).to_string()] {
        project.run(&["outbox", "--part", wrong]).exits(2).says(&format!("the message has {count} parts"));
    }
    project.run(&["new", "--no-wait", "--paste", "1999", "x"]).exits(2).says("1999");
    let mut daemon = Daemon::start(project.command(&["resume", &id]));
    daemon.wait_for(&format!("message 1 to copy into the chat, in {count} parts:"));
    daemon.wait_until_it_waits();
    daemon.interrupt().exits(130);
    // The control: a message that fits has no parts.
    let short = project.begin_with(&["new", "--no-wait", "--json", "--paste", "100000", "read"]);
    assert!(!project.names("outbox").iter().any(|name| name.starts_with(&format!("{short}_seq0001_part"))));
    let printed = project.run(&["outbox", "--session", &short, "--part", "1"]).ok();
    assert_eq!(printed.stdout.trim_end(), project.outbox(&short, 1).trim_end());
}

#[test]
fn a_command_past_its_timeout_is_killed_and_reported() {
    let project = Project::new();
    let id = project.begin("hurry");
    let reply = "[RUN_COMMAND]\necho begun; sleep 40; echo ended\n[/RUN_COMMAND]\n[RUN_COMMAND]\necho next\n[/RUN_COMMAND]\n";
    let ran = project.apply(reply, &["--timeout", "1"]).ok();
    ran.prints("[FAILED] RUN_COMMAND: Command timed out (1s): echo begun")
        .prints("[OK] RUN_COMMAND: Ran 'echo next'");
    let outbox = project.outbox(&id, 2);
    assert!(outbox.contains("begun") && !outbox.contains("Output: ended"), "{outbox}");
    project.run(&["new", "--timeout", "0", "x"]).exits(2).says("a command needs at least one second");
}

#[test]
fn review_without_a_terminal_executes_nothing() {
    let project = Project::new();
    project.begin("be careful");
    let reply = "[RUN_COMMAND]\necho ran >> ran.log\n[/RUN_COMMAND]\n";
    let ran = project.apply(reply, &["--review"]).exits(4).says("$ echo ran >> ran.log");
    ran.says("there is no terminal to answer at: not executed").says("nothing was executed");
    let mut daemon = Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_until_it_waits();
    project.put_reply("reply.txt", reply);
    // Without a terminal to ask at, it waits in the queue.
    daemon.wait_for("waits for your review: `agentd review 1`");
    daemon.interrupt().exits(130);
    assert!(!project.has("ran.log"));
    // A declined reply was not executed: the same text may be applied later.
    project.apply(reply, &[]).ok();
    assert_eq!(project.read("ran.log"), "ran\n");
}

/// Runs on a terminal of its own and returns everything that appears on it; `None` where `script` is missing.
pub(crate) fn on_a_terminal(command: &Command, no_color: bool) -> Option<String> {
    let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_str().unwrap());
    let words: Vec<_> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(quoted).collect();
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &words.join(" "), "/dev/null"]);
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.current_dir(command.get_current_dir().unwrap()).env_remove("NO_COLOR").env("TERM", "xterm");
    if no_color {
        script.env("NO_COLOR", "1");
    }
    let output = script.stdin(std::process::Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Checks whether a text holds a sequence that colours.
fn is_coloured(text: &str) -> bool {
    text.split("\x1b[").skip(1).any(|rest| {
        let end = rest.find(|character: char| !character.is_ascii_digit() && character != ';');
        end.is_some_and(|end| rest[end..].starts_with('m') && !matches!(&rest[..end], "" | "0"))
    })
}

#[test]
fn colours_are_for_terminals_and_no_color_is_honoured() {
    let project = Project::new();
    project.begin("paint");
    let file = project.reply_file("[RUN_COMMAND]\necho painted\n[/RUN_COMMAND]\n");
    let arguments = ["apply".as_ref(), file.as_os_str()];
    let other = project.copy();
    let other_file = other.reply_file("[RUN_COMMAND]\necho painted\n[/RUN_COMMAND]\n");
    let Some(coloured) = on_a_terminal(&project.command(&arguments), false) else {
        skip("colours_are_for_terminals_and_no_color_is_honoured", "there is no program `script`");
        return;
    };
    assert!(coloured.contains("RUN_COMMAND") && is_coloured(&coloured), "{coloured:?}");
    let plain = on_a_terminal(&other.command(&["apply".as_ref(), other_file.as_os_str()]), true).unwrap();
    assert!(plain.contains("RUN_COMMAND") && !is_coloured(&plain), "{plain:?}");
    // Progress has shown the results on the same screen; elsewhere they are printed as well.
    assert!(plain.contains("next message: ") && !plain.contains("[OK]"), "{plain:?}");
    let piped = project.run(&["show", project.names("sessions")[0].trim_end_matches(".json")]).ok();
    assert!(!piped.stdout.contains('\x1b') && !piped.stderr.contains('\x1b'), "{piped}");
}

#[test]
fn quiet_says_only_what_must_be_seen_and_verbose_says_more() {
    let project = Project::new();
    let ran = project.run(&["new", "--no-wait", "--quiet", "hush"]).ok();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let ran = project.apply("[RUN_COMMAND]\nexit 1\n[/RUN_COMMAND]\n", &["-q"]).ok();
    assert_eq!(ran.stderr, "", "{ran}");
}

#[test]
fn what_a_model_writes_cannot_control_the_terminal() {
    let project = Project::new();
    project.begin("be \x1b[31mred");
    let reply = "[MESSAGE]\nred: \x1b[31m and a bell \x07\n[/MESSAGE]\n[RUN_COMMAND]\nprintf '\\033[2J\\007gone'; exit 1\n[/RUN_COMMAND]\n";
    let ran = project.apply(reply, &[]).ok();
    assert!(
        !ran.stderr.contains('\x1b') && !ran.stdout.contains('\x1b') && !ran.stdout.contains('\x07'),
        "{ran:?}"
    );
    let listed = project.run(&["sessions"]).ok();
    assert!(!listed.stdout.contains('\x1b'), "{listed:?}");
}

#[test]
fn what_cannot_be_seen_has_marks_before_a_decision() {
    let project = Project::new();
    project.begin("hide something");
    let reply = "[CREATE_FILE path=\"a.txt\"]\nx\u{2060}\u{202e}y \x1b[8mz\n[/CREATE_FILE]\n[RUN_COMMAND]\necho a\u{200b} '\x1b[8m'\n[/RUN_COMMAND]\n";
    let file = project.reply_file(reply);
    let arguments = ["apply".as_ref(), "--dry-run".as_ref(), file.as_os_str()];
    let (marked, bare) = ("+x⟨2060⟩⟨202E⟩y ␛[8mz", "+x\u{2060}\u{202e}y \x1b[8mz");
    let piped = project.run(&arguments).ok();
    // For a program, a difference is as it is.
    assert!(piped.stdout.contains("$ echo a⟨200B⟩ '␛[8m'") && piped.stdout.contains(bare), "{piped}");
    let reviewed = project.apply(reply, &["--review"]).exits(4);
    assert!(
        reviewed.stderr.contains("$ echo a⟨200B⟩ '␛[8m'") && reviewed.stderr.contains(marked),
        "{reviewed}"
    );
    let Some(screen) = on_a_terminal(&project.command(&arguments), true) else {
        return skip("what_cannot_be_seen_has_marks_before_a_decision", "there is no program `script`");
    };
    assert!(screen.contains("$ echo a⟨200B⟩ '␛[8m'") && screen.contains(marked), "{screen:?}");
    project.apply(reply, &[]).ok();
    let diff = project.run(&["diff"]).ok();
    assert!(diff.stdout.contains(bare), "{diff}");
    let screen = on_a_terminal(&project.command(&["diff"]), true).unwrap();
    assert!(screen.contains(marked) && !controls_it(&screen), "{screen:?}");
}

/// Checks whether a text that appeared on a terminal holds anything that controls it, apart from the ends of lines and the colours and
/// cursor movements of our own.
fn controls_it(text: &str) -> bool {
    let own = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\r\n"];
    let rest = own.iter().fold(text.to_owned(), |rest, own| rest.replace(own, ""));
    rest.contains(|character: char| {
        (character.is_control() && !matches!(character, '\n' | '\t'))
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

#[test]
fn names_of_folders_and_files_cannot_control_the_terminal() {
    let project = Project::new();
    let odd = "odd\x1b]0;title\x07\x1b[5m\u{9b}7m\u{202e}name";
    let workspace = project.workspace().join(odd);
    fs::create_dir(&workspace).unwrap();
    fs::write(workspace.join("f"), "x").unwrap();
    let on_it = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.current_dir(&workspace);
        command
    };
    let run = |arguments: &[&str]| Ran::of(on_it(arguments).output().unwrap());
    let started = run(&["new", "--no-wait", "begin"]).ok();
    assert!(started.stderr.contains("name/.agentd/outbox"), "{started:?}");
    assert!(!controls_it(&started.stderr), "{started:?}");
    fs::write(workspace.join("a\x1b[2Jb\u{202e}"), "x").unwrap();
    let reply = project.reply_file(
        "[RUN_COMMAND]\nprintf '\\033[31mred\\007\\342\\200\\256x'; touch \"$(printf 'c\\033[2Jd')\"; exit 1\n[/RUN_COMMAND]\n\
         [MESSAGE]\nbold \x1b[1m bell \x07 turned \u{202e}\n[/MESSAGE]\n[READ_FILE path=\"f\"]\n",
    );
    let file = reply.to_str().unwrap();
    let applied = run(&["apply", file]).ok();
    assert!(!controls_it(&applied.stderr) && applied.stdout.contains("RUN_COMMAND"), "{applied:?}");
    // What a model reads of it has no such thing either, on the disk as on the screen.
    let outbox = run(&["outbox"]).ok().stdout;
    assert!(outbox.contains("Output: redx") || outbox.contains("red\u{fffd}\u{fffd}x"), "{outbox:?}");
    assert!(!controls_it(&outbox), "{outbox:?}");
    for arguments in
        [&["sessions"][..], &["log"], &["diff"], &["outbox"], &["doctor"], &["show", "nonsense"], &["gc"]]
    {
        let Some(screen) = on_a_terminal(&on_it(arguments), false) else {
            skip("names_of_folders_and_files_cannot_control_the_terminal", "there is no program `script`");
            return;
        };
        assert!(!screen.is_empty() && !controls_it(&screen), "{arguments:?}: {screen:?}");
    }
}

#[test]
fn a_requested_file_is_exact_in_the_outbox_and_harmless_on_a_terminal() {
    let project = Project::new();
    let content = "one \x1b[31mred\x1b[0m\nbell \x07\n";
    project.write("raw.txt", content);
    let id = project.begin("read");
    project.apply("[READ_FILE path=\"raw.txt\"]\n", &[]).ok();
    let lines = "1|one \x1b[31mred\x1b[0m\n2|bell \x07\n";
    assert!(project.outbox(&id, 2).contains(lines));
    assert!(project.run(&["outbox"]).ok().stdout.contains(lines), "a pipe gets it as it is");
    let Some(screen) = on_a_terminal(&project.command(&["outbox"]), false) else {
        skip(
            "a_requested_file_is_exact_in_the_outbox_and_harmless_on_a_terminal",
            "there is no program `script`",
        );
        return;
    };
    assert!(
        screen.contains("one red") && screen.contains("bell \u{fffd}") && !controls_it(&screen),
        "{screen:?}"
    );
}

#[test]
fn copy_puts_every_message_on_the_clipboard_or_says_why_not() {
    let project = Project::new();
    let programs = project.folder().join("programs");
    fs::create_dir(&programs).unwrap();
    let run_with = |path: &str, more: &[&str]| {
        let arguments = [&["new", "--no-wait", "--copy", "--json", "copy this"], more].concat();
        let mut command = project.command(&arguments);
        Ran::of(command.env("PATH", path).output().unwrap()).ok()
    };
    let run = |path: &str| run_with(path, &[]);
    let only_system = "/nonexistent".to_owned();
    run(&only_system).says("the clipboard cannot be used").says("copy the file instead");
    let program = programs.join("xclip");
    let clipboard = project.folder().join("clipboard");
    let text =
        format!("#!/bin/sh\n[ \"$*\" = '-selection clipboard' ] && /bin/cat > '{}'\n", clipboard.display());
    write_program(&program, &text);
    // One that is installed and has no display is passed over.
    let broken = programs.join("wl-copy");
    write_program(&broken, "#!/bin/sh\nexit 1\n");
    let ran = run(programs.to_str().unwrap()).says("message 1 is on the clipboard (xclip)");
    let id = ran.json()["session"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(&clipboard).unwrap(), project.outbox(&id, 1));
    let ran = run_with(programs.to_str().unwrap(), &["--paste", "2500"]);
    let ran = ran.says("the first part of message 1 is on the clipboard (xclip)");
    let part = ran.json()["parts"][0].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(&clipboard).unwrap(), fs::read_to_string(part).unwrap());
}
