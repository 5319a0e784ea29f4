//! The user's configuration file: `fixtures/config/cases.json`, and where such a file may be.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;

use crate::fixture::at_once::at_once;
use crate::fixture::project::{Project, Ran, is_root};
use test_support::skip;

/// A project, and its user's home folder next to it.
struct Desk {
    project: Project,
}

impl Desk {
    fn new() -> Desk {
        let desk = Desk { project: Project::new() };
        fs::create_dir_all(desk.folder().join("store")).unwrap();
        desk
    }

    fn home(&self) -> PathBuf {
        self.project.folder().join("home")
    }

    /// Returns the folder of the configuration.
    fn folder(&self) -> PathBuf {
        self.home().join(".config/agentd")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        command.env("HOME", self.home()).env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
        command.env_remove("CODEX_HOME");
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// Runs a call that shows whether a file with `read-only = true` is in force.
    fn write(&self, more: &[&str]) -> Ran {
        self.run(
            &[&["call", "writeFile", r#"{"path":"a.txt","content":"one\n","mode":"overwrite"}"#], more]
                .concat(),
        )
    }
}

/// Writes a file that only its owner may write, for any umask.
fn write(file: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}

const READ_ONLY: &str = "read-only = true\n";

fn texts<'a>(case: &'a Value, field: &str) -> Vec<&'a str> {
    case[field].as_array().into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn every_file_has_its_outcome() {
    let cases = include_str!("../../../../fixtures/config/cases.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    let wrong = Mutex::new(Vec::new());
    at_once(&cases, |case| {
        let desk = Desk::new();
        if !case["file"].is_null() {
            write(&desk.folder().join("config.toml"), texts(case, "file").join("\n") + "\n");
        }
        let open_token = desk.home().join("open-token");
        fs::write(&open_token, "0123456789abcdef0123456789abcdef\n").unwrap();
        fs::set_permissions(&open_token, fs::Permissions::from_mode(0o644)).unwrap();
        let resolve = |text: &str| {
            let text = text.replace("{folder}", desk.folder().to_str().unwrap());
            let text = text.replace("{home}", desk.home().to_str().unwrap());
            text.replace("{net}", fs::read_link("/proc/self/ns/net").unwrap().to_str().unwrap())
        };
        let arguments: Vec<String> = texts(case, "arguments").into_iter().map(resolve).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = desk.command(&arguments);
        let input = desk.project.folder().join("input");
        fs::write(&input, case["input"].as_str().unwrap_or_default()).unwrap();
        command.stdin(fs::File::open(input).unwrap());
        let ran = Ran::of(command.output().unwrap());
        let fails = |what: &str| wrong.lock().unwrap().push(format!("{}: {what}\n{ran}", case["name"]));
        if i64::from(ran.code) != case["exit"].as_i64().unwrap() {
            fails("another exit code");
        }
        let streams = [("says", "not_said", &ran.stderr), ("prints", "not_printed", &ran.stdout)];
        for (there, not_there, stream) in streams {
            for text in texts(case, there).into_iter().map(resolve) {
                if !stream.contains(&text) {
                    fails(&format!("no '{text}'"));
                }
            }
            for text in texts(case, not_there).into_iter().map(resolve) {
                if stream.contains(&text) {
                    fails(&format!("'{text}' is there"));
                }
            }
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}

#[test]
fn the_example_in_the_documentation_is_one() {
    let page = include_str!("../../../../docs/configuration.md");
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let desk = Desk::new();
    write(&desk.folder().join("config.toml"), example);
    desk.run(&["doctor"]).ok().prints("cocode.run.agent = [\"fixer\", \"claude\"]");
}

#[test]
fn doctor_marks_settings_that_protect_less() {
    let desk = Desk::new();
    let marks = |text: &str| {
        write(&desk.folder().join("config.toml"), text);
        let ran = desk.run(&["doctor"]).ok();
        let lines = ran.stdout.lines().filter(|line| line.contains(" set there "));
        lines.map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let less = "secrets = \"show\"\nread-secret = [\".env\"]\nlayer = \"off\"\nunprotect = [\".envrc\"]\n";
    assert_eq!(marks(less), ["limited"; 4]);
    assert_eq!(marks("secrets = \"mask\"\nread-secret = []\nlayer = \"on\"\n"), ["ok"; 3], "the control");
}

#[test]
fn doctor_reports_the_confinement_that_a_session_here_gets() {
    for text in ["", "layer = \"off\"\n", "network = \"on\"\n"] {
        let desk = Desk::new();
        write(&desk.folder().join("config.toml"), text);
        let doctor = desk.run(&["doctor"]).ok();
        let line = doctor.stdout.lines().find_map(|line| line.split_once("sandbox: ")).unwrap().1;
        let session = desk.run(&["new", "--no-wait", "a task"]).ok();
        let expected = format!("sandbox: {line}");
        assert!(session.stderr.lines().any(|line| line == expected), "{text}: {expected}\n{session}");
    }
}

#[test]
fn a_file_that_a_model_could_write_is_refused() {
    let desk = Desk::new();
    let (code, outside) = (desk.project.workspace(), desk.project.folder().to_owned());
    let store = outside.join("store");
    for folder in [code.join("sub"), store.clone(), outside.join("kept")] {
        fs::create_dir_all(folder).unwrap();
    }
    let kept = outside.join("kept/config.toml");
    for file in
        [code.join("config.toml"), code.join("sub/config.toml"), store.join("config.toml"), kept.clone()]
    {
        write(&file, READ_ONLY);
    }
    // A link in the workspace to a file outside, which a model could turn elsewhere, and the other way round.
    symlink(&kept, code.join("out.toml")).unwrap();
    symlink(code.join("config.toml"), outside.join("in.toml")).unwrap();
    symlink("../code/sub", outside.join("kept/in")).unwrap();
    symlink(outside.join("kept"), code.join("folder")).unwrap();
    symlink(&kept, outside.join("fine.toml")).unwrap();
    let store = store.to_str().unwrap();
    let cases: [(&str, PathBuf, &[&str]); 9] = [
        ("in the workspace", code.join("config.toml"), &[]),
        ("inside it", code.join("sub/config.toml"), &[]),
        ("by a relative path", "sub/../sub/config.toml".into(), &[]),
        ("by a link in it that leads out", code.join("out.toml"), &[]),
        ("by a link outside that leads in", outside.join("in.toml"), &[]),
        ("by a linked folder outside that leads in", outside.join("kept/in/config.toml"), &[]),
        ("by a linked folder in it that leads out", code.join("folder/config.toml"), &[]),
        ("in and out of a folder of it", code.join("sub/../../kept/config.toml"), &[]),
        ("in a folder that commands may change", Path::new(store).join("config.toml"), &["--cache", store]),
    ];
    for (what, file, more) in cases {
        let config = ["--config", file.to_str().unwrap()];
        let ran = desk.run(&[&["resume"], &config[..], more].concat());
        assert!(ran.code == 4 && ran.stderr.contains("a model can write"), "{what}: {ran}");
        // `call` ends with 0, 1 or 2 only.
        desk.write(&[&config[..], more].concat()).exits(2);
        assert!(!desk.project.has("a.txt"), "{what}");
    }
    // The same file is in force where no model gets at it, through a link, too.
    for file in [&kept, &outside.join("fine.toml"), &code.join("../kept/config.toml")] {
        desk.write(&["--config", file.to_str().unwrap()]).exits(1).prints("READ_ONLY");
    }
    desk.write(&["--config", Path::new(store).join("config.toml").to_str().unwrap()]).exits(1);
    desk.write(&[]).ok();
}

#[test]
fn a_cache_folder_that_is_missing_is_named_before_anything_starts() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("packages");
    let cache = ["--cache", missing.to_str().unwrap()];
    for command in [&["new", "--no-wait", "a task"][..], &["mcp"], &["resume"]] {
        desk.run(&[command, &cache].concat()).exits(2).says("packages").says("make the folder");
    }
    // A command that runs no others has no use for it, and with the folder all is well.
    desk.run(&[&["setup", "claude-code"][..], &cache].concat()).ok();
    std::fs::create_dir(&missing).unwrap();
    desk.run(&[&["new", "--no-wait", "a task"][..], &cache].concat()).ok();
}

#[test]
fn a_cache_folder_in_which_git_obeys_something_is_refused() {
    let desk = Desk::new();
    let folder = tempfile::tempdir().unwrap();
    let at = |inner: &str| folder.path().join(inner);
    for inner in ["w/.git/worktrees/x", "w/src", "bare/objects", "bare/refs"] {
        fs::create_dir_all(at(inner)).unwrap();
    }
    write(&at("bare/HEAD"), "ref: refs/heads/main\n");
    symlink(at("w/.git"), at("link")).unwrap();
    let with =
        |inner: &str| desk.run(&["new", "--no-wait", "a task", "--cache", at(inner).to_str().unwrap()]);
    for inner in ["w", "w/.git", "w/.git/worktrees/x", "bare", "bare/objects", "link"] {
        with(inner).exits(4).says("git start programs outside of all confinement");
    }
    with("w/src").ok();
    // Only an exit code that `call` has; the place that gave the folder is named.
    desk.write(&["--cache", at("w").to_str().unwrap()]).exits(2).says("of --cache is a repository");
    write(&desk.folder().join("config.toml"), format!("cache = [{:?}]\n", at("w").to_str().unwrap()));
    let ran = desk.run(&["new", "--no-wait", "a task"]).exits(4);
    ran.says("of `cache` in the configuration file is a repository");
    fs::remove_file(desk.folder().join("config.toml")).unwrap();
    // The user's own settings.
    let settings = desk.home().join(".config/git");
    fs::create_dir_all(&settings).unwrap();
    let cache = ["new", "--no-wait", "a task", "--cache", settings.to_str().unwrap()];
    desk.run(&cache).exits(4).says("holds settings of git");
}

#[test]
fn a_cache_folder_with_something_of_the_program_is_refused() {
    let desk = Desk::new();
    let with = |folder: &Path, more: &[&str]| {
        let task = ["new", "--no-wait", "a task", "--cache", folder.to_str().unwrap()];
        desk.run(&[&task[..], more].concat())
    };
    let elsewhere = tempfile::tempdir().unwrap();
    let (base, sibling) = (elsewhere.path().join("base"), elsewhere.path().join("sibling"));
    let state = desk.home().join(".local/state/agentd");
    for folder in [&base, &sibling, &state] {
        fs::create_dir_all(folder).unwrap();
    }
    let base_option = ["--base", base.to_str().unwrap()];
    for folder in [&base, &elsewhere.path().to_owned()] {
        with(folder, &base_option).exits(4).says("a folder of agentd itself");
    }
    for folder in [&state, &desk.home().join(".local/state")] {
        with(folder, &[]).exits(4).says("a folder of agentd itself");
    }
    with(&sibling, &base_option).ok();
}

#[test]
fn the_usual_place_is_judged_like_any_other() {
    let desk = Desk::new();
    // The user keeps the files elsewhere and links them into the configuration folder.
    write(&desk.project.workspace().join("config.toml"), READ_ONLY);
    symlink(desk.project.workspace().join("config.toml"), desk.folder().join("config.toml")).unwrap();
    desk.run(&["sessions"]).exits(4).says("a model can write").says("--config /dev/null");
    desk.run(&["sessions", "--config", "/dev/null"]).ok();
    // In another folder it is in force.
    let elsewhere = desk.project.folder().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    desk.write(&["--workspace", elsewhere.to_str().unwrap()]).exits(1).prints("READ_ONLY");
    // A home folder cannot be a workspace, so nothing in it is within reach.
    let home = desk.home();
    desk.run(&["doctor", "--workspace", home.to_str().unwrap()]).ok().prints("read-only = true (line 1)");
}

#[test]
fn a_file_in_another_workspace_is_refused() {
    let desk = Desk::new();
    let other = Project::new();
    let file = other.workspace().join("sub/config.toml");
    write(&file, READ_ONLY);
    let config = ["--config", file.to_str().unwrap()];
    desk.write(&config).exits(1).prints("READ_ONLY");
    // A model has worked there, and may have left what is to be believed here.
    other.begin("tidy up");
    desk.run(&[&["sessions"], &config[..]].concat()).exits(4).says("a model can write");
    // A folder in a home folder has not been a workspace for that reason.
    fs::create_dir_all(desk.home().join(".agentd/journal")).unwrap();
    write(&desk.folder().join("config.toml"), READ_ONLY);
    desk.write(&[]).exits(1).prints("READ_ONLY");
}

#[test]
fn a_file_that_lets_commands_change_itself_is_refused() {
    let desk = Desk::new();
    let file = desk.folder().join("config.toml");
    write(&file, "cache = ['store']\n");
    desk.run(&["sessions"]).ok();
    write(&file, "cache = ['.']\n");
    desk.run(&["sessions"]).exits(4).says("a model can write");
    write(&file, "cache = ['~/.config']\n");
    desk.run(&["sessions"]).exits(4).says("a model can write");
}

#[test]
fn a_file_that_others_could_write_is_refused() {
    let desk = Desk::new();
    let file = desk.folder().join("config.toml");
    write(&file, READ_ONLY);
    for (mode, code) in [(0o664, 4), (0o646, 4), (0o666, 4), (0o644, 0), (0o400, 0)] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let ran = desk.run(&["sessions"]).exits(code);
        if code == 4 {
            ran.says(&format!("mode {mode:03o}")).says("chmod go-w");
        }
    }
    if !is_root() {
        return skip("a_file_that_others_could_write_is_refused", "only root can give files away");
    }
    chown(&file, Some(4_321), None).unwrap();
    desk.run(&["sessions"]).exits(4).says("it belongs to user 4321");
    desk.write(&[]).exits(2);
    // Root's are believed by everybody.
    let user = Project::new().of_an_ordinary_user();
    let file = user.folder().join("of-root.toml");
    fs::write(&file, READ_ONLY).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let config = ["--config", file.to_str().unwrap()];
    user.run(&[&["sessions"], &config[..]].concat()).ok();
    chown(&file, Some(4_321), None).unwrap();
    user.run(&[&["sessions"], &config[..]].concat()).exits(4).says("it belongs to user 4321");
}

#[test]
fn a_named_file_has_to_be_one() {
    let desk = Desk::new();
    let path = |name: &str| desk.project.folder().join(name);
    write(&path("binary"), [0xff, 0xfe, b'\n']);
    write(&path("long"), vec![b'#'; (1 << 20) + 1]);
    fs::create_dir(path("folder")).unwrap();
    symlink(path("loop"), path("loop")).unwrap();
    let made = Command::new("mkfifo").args(["-m", "600"]).arg(path("pipe")).status();
    assert!(made.unwrap().success());
    let cases = [
        ("missing", "there is no such file"),
        ("binary", "it is not valid UTF-8"),
        ("long", "it is longer than 1048576 bytes"),
        ("folder", "it is not an ordinary file"),
        ("pipe", "it is not an ordinary file"),
        ("loop", "too many symlinks"),
    ];
    for (name, why) in cases {
        desk.run(&["sessions", "--config", path(name).to_str().unwrap()]).exits(2).says(why);
    }
}

#[test]
fn the_file_is_found_by_the_rules_of_the_desktop() {
    let desk = Desk::new();
    let other = desk.project.folder().join("other");
    write(&other.join("agentd/config.toml"), READ_ONLY);
    let ran = |value: &Path| {
        let mut command = desk.command(&["doctor"]);
        Ran::of(command.env("XDG_CONFIG_HOME", value).output().unwrap()).ok()
    };
    ran(&other).prints("other/agentd/config.toml").prints("read-only = true");
    // A relative one is to be ignored.
    ran(Path::new("other")).prints("home/.config/agentd/config.toml would be read");
    let mut command = desk.command(&["doctor"]);
    Ran::of(command.env_remove("HOME").output().unwrap()).ok().prints("configuration none\n");
}

#[test]
fn a_reply_is_tried_out_under_the_same_settings() {
    let desk = Desk::new();
    // What would make the process that tries it out ask, and be confined otherwise.
    write(
        &desk.folder().join("config.toml"),
        "network = 'on'\ntimeout = 7\n[apply]\nreview = true\nkeep = true\n[session]\nno-wait = true\n",
    );
    desk.run(&["a task"]).ok();
    let reply = desk.project.reply_file("[RUN_COMMAND]\necho tried > a.txt\n[/RUN_COMMAND]\n");
    let reply = reply.to_str().unwrap();
    let ran = desk.run(&["apply", reply, "--try", "--network", "off"]);
    if ran.code == 3 {
        return skip("a_reply_is_tried_out_under_the_same_settings", "there are no layers here");
    }
    let ran = ran.ok();
    assert!(!ran.stderr.contains("confined less"), "{ran}");
    assert_eq!(desk.project.read("a.txt"), "tried\n");
    // Without an option it would have asked, and there is no terminal to answer at.
    let reply = desk.project.reply_file("[RUN_COMMAND]\necho asked > b.txt\n[/RUN_COMMAND]\n");
    let ran = desk.run(&["apply", reply.to_str().unwrap()]).exits(4);
    ran.says("there is no terminal to answer at").says("network = 'on' by");
    assert!(!desk.project.has("b.txt"));
}

#[test]
fn the_time_of_commands_is_not_that_of_summaries() {
    let cases = [
        ("timeout = 60\n[codali]\ntimeout = 1\nsummarizer = 'sleep 30'\n", true),
        ("timeout = 1\n[codali]\nsummarizer = 'sleep 1.5; echo short'\n", false),
    ];
    at_once(&cases, |&(text, is_late)| {
        let desk = Desk::new();
        write(&desk.folder().join("config.toml"), format!("{text}context-tokens = 256\n"));
        let history = desk.home().join("history.json");
        let said: Vec<String> = (0..5)
            .map(|number| {
                let task = format!("task {number} {}", "word ".repeat(60));
                desk.run(&["codali", "--history", history.to_str().unwrap(), "--task", &task]).ok().stderr
            })
            .collect();
        let said = said.concat();
        assert_eq!(
            said.contains("there is no summary: the program takes longer than 1 s"),
            is_late,
            "{said}"
        );
        let printed =
            desk.run(&["codali", "--history", history.to_str().unwrap(), "--task", "the last"]).stdout;
        assert_eq!(printed.contains("short"), !is_late, "{printed}");
    });
}

#[test]
fn files_of_agents_are_held_to_the_same() {
    let desk = Desk::new();
    let agents = "[agents.a]\ncommand = 'no-such-program-here'\n";
    let inside = desk.project.workspace().join("agents.toml");
    write(&inside, agents);
    let ran = desk.run(&["cocode", "doctor", "--agents-file", inside.to_str().unwrap()]);
    ran.exits(4).says("a model can write");
    let agents_file = desk.folder().join("agents.toml");
    write(&agents_file, agents);
    desk.run(&["cocode", "doctor"]).exits(3).prints("no-such-program-here");
    desk.run(&["cocode", "doctor", "--agents-file", agents_file.to_str().unwrap()]).exits(3);
    fs::set_permissions(&agents_file, fs::Permissions::from_mode(0o666)).unwrap();
    desk.run(&["cocode", "doctor"]).exits(4).says("chmod go-w");
}
