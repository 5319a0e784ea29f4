//! Presets, with programs that stand in for the tools.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use egress::{
    AllowList, Expansion, NetworkChoice, Outside, PresetError, Presets, ResolveError, ToolError, Tools,
};
use insta::assert_snapshot;
use proptest::prelude::*;
use tempfile::TempDir;
use test_support::write_program;

/// A resolver that knows one name of the user's own network.
struct Office;

impl Outside for Office {
    fn resolve(&self, name: &str, _deadline: Instant) -> Result<Vec<IpAddr>, ResolveError> {
        match name {
            "mirror.corp.example" => Ok(vec!["10.1.2.3".parse().unwrap()]),
            "metadata.example" => Ok(vec!["169.254.169.254".parse().unwrap()]),
            _ => Err(ResolveError::Unresolved),
        }
    }

    fn connect(&self, _address: SocketAddr, _deadline: Instant) -> io::Result<TcpStream> {
        panic!("nothing is connected to find out what a tool says")
    }
}

/// A machine with some tools.
struct Machine {
    folder: TempDir,
    tools: Tools,
}

impl Machine {
    fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let (bin, home, workspace) = (at("bin"), at("home"), at("workspace"));
        // `sh` is found in addition to the stand-ins, as on any machine.
        let path = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).unwrap();
        let environment = vec![("PATH".into(), path), ("HOME".into(), home.clone().into())];
        let tools = Tools {
            environment,
            writable: vec![workspace],
            empty_folder_in: home,
            timeout: Duration::from_secs(60),
        };
        Machine { folder, tools }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a tool into a folder of `PATH`.
    fn tool(&self, name: &str, script: &str) {
        write_program(&self.path("bin").join(name), &format!("#!/bin/sh\n{script}\n"));
    }

    fn expand(&self, choice: &str) -> Result<Expansion, PresetError> {
        expand(&Presets::default(), &self.tools, choice)
    }

    fn set(&mut self, name: &str, value: impl AsRef<Path>) {
        self.tools.environment.push((name.into(), value.as_ref().into()));
    }
}

fn expand(presets: &Presets, tools: &Tools, choice: &str) -> Result<Expansion, PresetError> {
    let NetworkChoice::Allow(items) = choice.parse().unwrap() else { panic!("a list") };
    presets.expand(&items, tools, &Office)
}

fn preset(script: &str, tool: &str, name: &str) -> String {
    let machine = Machine::new();
    machine.tool(tool, script);
    match machine.expand(&format!("allow={name}")) {
        Ok(expansion) => expansion.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn npm_says_its_registry_and_those_of_scopes() {
    let script = r#"[ "$*" = "config list --json" ] || exit 1
echo 'npm warn something' >&2
echo '{"registry": "https://registry.example/", "@own:registry": "http://u:p@npm.own.example:4873/x/", "cache": "/x"}'"#;
    assert_snapshot!(preset(script, "npm", "npm"), @"npm = npm.own.example:4873,registry.example:443");
}

#[test]
fn pip_says_its_indexes_and_where_files_are() {
    let settings = r#"case "$*" in
"config list") echo ":env:.find-links='/opt/wheels'"; printf '%s\n' "global.extra-index-url='\nhttps://one.example/simple\nhttps://two.example/simple'"; [ -n "$SET" ] && echo "global.index-url='https://set.example/simple'" ;;
"install --help") echo '  -i, --index-url <url>  Base URL (default'; echo '                 https://default.example/simple). This should' ;;
"install --dry-run"*) echo '{"install": [{"download_info": {"url": "https://files.example/a/pip.whl"}}]}' ;;
*) exit 1 ;;
esac"#;
    assert_snapshot!(preset(settings, "pip", "pip"), @"pip = default.example:443,files.example:443,one.example:443,two.example:443");
    assert_snapshot!(preset(&format!("SET=1\n{settings}"), "pip", "pip"), @"pip = files.example:443,one.example:443,set.example:443,two.example:443");
}

#[test]
fn uv_says_what_it_would_lock() {
    let script = r#"[ "$(cat in.txt)" = pip ] || exit 1
case "$*" in *--emit-index-url*)
  echo '# uv pip compile'
  [ -z "$INDEX" ] || printf '%s\n' '--index-url https://default.example/simple' '--extra-index-url https://extra.example/simple'
  printf '%s\n' '' 'pip==1.0'
  exit ;;
esac
cat <<'END'
lock-version = "1.0"
[[packages]]
name = "pip"
index = "https://index.example/simple"
wheels = [{ url = "https://files.example/a.whl", hashes = { sha256 = "00" } }]
END"#;
    assert_snapshot!(preset(script, "uv", "uv"), @"uv = files.example:443,index.example:443");
    // Newer versions leave the index of the settings out of the lock, and state it as an option.
    assert_snapshot!(
        preset(&format!("INDEX=1\n{script}"), "uv", "uv"),
        @"uv = default.example:443,extra.example:443,files.example:443,index.example:443"
    );
}

#[test]
fn cargo_says_what_replaces_the_usual_source() {
    let script = r#"[ "$RUSTC_BOOTSTRAP" = 1 ] || exit 1
echo '{"source": {"crates-io": {"replace-with": "a"}, "a": {"replace-with": "b"}, "b": {"registry": "sparse+https://mirror.example/index/"}},
 "registries": {"own": {"index": "https://git.own.example/index.git"}}}'"#;
    assert_snapshot!(preset(script, "cargo", "cargo"), @"cargo = git.own.example:443,mirror.example:443");
    let circle = r#"[ "$1" = generate-lockfile ] && exit; echo '{"source": {"crates-io": {"replace-with": "a"}, "a": {"replace-with": "crates-io"}}}'"#;
    assert_snapshot!(preset(circle, "cargo", "cargo"), @"preset 'cargo': it does not say where it fetches from");
}

/// A cargo that cannot look into its index.
const FETCH_FAILS: &str = r#"[ "$1" = generate-lockfile ] || { echo '{}'; exit; }
grep -q '^cfg-if = ' Cargo.toml && [ -e lib.rs ] || exit 1
printf '    Updating index\n\033[1;31merror\033[0m: failed to get `cfg-if` as a dependency\n  more\n' >&2
exit 101"#;

#[test]
fn a_new_cargo_is_made_to_look_into_its_index() {
    let machine = Machine::new();
    let fetch = r#"[ "$1" = generate-lockfile ] || { echo '{}'; exit; }
[ "$(cat Cargo.toml | grep -c cfg-if)" = 1 ] && [ -e lib.rs ] || exit 1
mkdir -p ~/.cargo/registry/index/index.example-1949cf8c6b5b557f
echo '{"dl": "https://static.example/crates"}' > ~/.cargo/registry/index/index.example-1949cf8c6b5b557f/config.json"#;
    machine.tool("cargo", fetch);
    assert_snapshot!(machine.expand("allow=cargo").unwrap(), @"cargo = index.example:443,static.example:443");
    // Once it has one, and with another registry in its place, it fetches nothing.
    machine.tool("cargo", "[ \"$1\" = generate-lockfile ] && touch ~/asked; echo '{}'");
    assert_snapshot!(machine.expand("allow=cargo").unwrap(), @"cargo = index.example:443,static.example:443");
    fs::remove_dir_all(machine.path("home/.cargo")).unwrap();
    let replaced = r#"echo '{"source": {"crates-io": {"replace-with": "a"}, "a": {"registry": "https://mirror.example/"}}}'"#;
    machine.tool("cargo", &format!("[ \"$1\" = generate-lockfile ] && touch ~/asked; {replaced}"));
    assert_snapshot!(machine.expand("allow=cargo").unwrap(), @"cargo = mirror.example:443");
    assert!(!machine.path("home/asked").exists());
}

#[test]
fn cargo_says_what_it_has_fetched() {
    let mut machine = Machine::new();
    machine.tool("cargo", "echo '{}'");
    let index = |home: &Path, host: &str| {
        let folder = home.join("registry/index").join(format!("{host}-1949cf8c6b5b557f"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("config.json"),
            r#"{"dl": "https://static.example/crates", "api": "https://example.org"}"#,
        )
        .unwrap();
    };
    // Nothing was fetched yet, and cannot be.
    machine.tool("cargo", FETCH_FAILS);
    assert_snapshot!(machine.expand("allow=cargo").unwrap_err(), @"preset 'cargo': it fails, and says: error: failed to get `cfg-if` as a dependency");
    machine.tool("cargo", "[ \"$1\" = generate-lockfile ] && exit 1; echo '{}'");
    index(&machine.path("home/.cargo"), "index.example");
    assert_snapshot!(machine.expand("allow=cargo").unwrap(), @"cargo = example.org:443,index.example:443,static.example:443");
    // Files that a model may write do not count.
    index(&machine.path("workspace/.cargo"), "evil.example");
    machine.set("CARGO_HOME", machine.path("workspace/.cargo"));
    assert_snapshot!(machine.expand("allow=cargo").unwrap(), @"cargo = example.org:443,index.example:443,static.example:443");
}

#[test]
fn go_says_its_proxies_and_its_database() {
    let answer = |proxy: &str, sums: &str| {
        preset(&format!(r#"echo '{{"GOPROXY": "{proxy}", "GOSUMDB": "{sums}"}}'"#), "go", "go")
    };
    assert_snapshot!(answer("https://proxy.example,direct", "sum.example"), @"go = proxy.example:443,sum.example:443");
    assert_snapshot!(answer("https://a.example|https://b.example/x,off", "sum.example+033de0ae https://sums.corp.example"), @"go = a.example:443,b.example:443,sums.corp.example:443");
    assert_snapshot!(answer("off", "off"), @"preset 'go': it does not say where it fetches from");
}

#[test]
fn maven_says_what_it_cannot_access() {
    let script = "echo '[ERROR] Plugin x or one of its dependencies could not be resolved: Cannot access central (https://repo.example/maven2) in offline mode'; exit 1";
    assert_snapshot!(preset(script, "mvn", "maven"), @"maven = repo.example:443");
}

#[test]
fn gradle_says_its_repositories() {
    let script = r#"grep -q mavenCentral ask.gradle || exit 1
echo 'fetches from https://repo.example/maven2/'; echo 'fetches from file:/home/x'; echo 'fetches from https://plugins.example/m2'"#;
    assert_snapshot!(preset(script, "gradle", "gradle"), @"gradle = plugins.example:443,repo.example:443");
}

#[test]
fn a_mirror_in_the_own_network_is_dialled_where_it_is() {
    let registry = |host: &str| preset(&format!(r#"echo '{{"registry": "https://{host}/"}}'"#), "npm", "npm");
    assert_snapshot!(registry("mirror.corp.example"), @"npm = mirror.corp.example:443@10.1.2.3");
    assert_snapshot!(registry("metadata.example"), @"npm = metadata.example:443");
    assert_snapshot!(registry("10.1.2.3"), @"preset 'npm': it fetches from 10.1.2.3, which a command cannot reach by that name");
    assert_snapshot!(registry("localhost:4873"), @"preset 'npm': it fetches from localhost:4873, which a command cannot reach by that name");
}

#[test]
fn presets_and_names_can_be_mixed() {
    let mut presets = Presets::default();
    let company: AllowList = "git.corp.example:22,*.cdn.example".parse().unwrap();
    presets.define("company", company).unwrap();
    presets.define("go", "goproxy.corp.example".parse().unwrap()).unwrap();
    assert!(presets.define("a.b", AllowList::default()).is_err());
    let machine = Machine::new();
    machine.tool("npm", r#"echo '{"registry": "https://registry.example/"}'"#);
    let expansion = expand(&presets, &machine.tools, "allow=npm,a.example,company,go,npm").unwrap();
    assert_snapshot!(expansion, @"
    npm = registry.example:443
    company = git.corp.example:22,*.cdn.example
    go = goproxy.corp.example
    ");
    assert_snapshot!(expansion.list, @"a.example,git.corp.example:22,goproxy.corp.example,registry.example:443,*.cdn.example");
    let error = expand(&presets, &machine.tools, "allow=nmp").unwrap_err();
    assert_snapshot!(error, @"there is no preset 'nmp' (there are npm, pip, uv, cargo, go, maven, gradle, company); a host of one label is written with its port, nmp:443");
}

#[test]
fn a_tool_that_does_not_answer_is_named_with_advice() {
    let mut machine = Machine::new();
    let error = |machine: &Machine, script: Option<&str>| {
        if let Some(script) = script {
            machine.tool("npm", script);
        }
        // Only the stand-ins: this machine may have an npm.
        let mut tools = machine.tools.clone();
        tools.environment[0].1 = machine.path("bin").into();
        expand(&Presets::default(), &tools, "allow=npm").unwrap_err()
    };
    let missing = error(&machine, None);
    assert_snapshot!(missing, @"preset 'npm': it is not installed in a folder of PATH outside the workspace");
    assert_snapshot!(missing.advice().unwrap(), @"give the names that npm fetches from: --network allow=NAME,…; or define the preset in [presets] of the configuration file");
    assert_snapshot!(error(&machine, Some("exit 3")), @"preset 'npm': it fails");
    assert_snapshot!(
        error(&machine, Some("printf 'npm warn old\\n\\033[31mnpm error\\033[0m no\\a config\\nnpm error log\\n' >&2; exit 3")),
        @"preset 'npm': it fails, and says: npm error no config"
    );
    assert_snapshot!(error(&machine, Some("echo first; echo second; exit 3")), @"preset 'npm': it fails, and says: first");
    let long = error(&machine, Some("printf '%05000d' 0; exit 3")).to_string();
    assert!(long.ends_with("000…") && long.chars().count() < 300, "{long}");
    assert_snapshot!(error(&machine, Some("echo '{}'")), @"preset 'npm': it does not say where it fetches from");
    assert_snapshot!(error(&machine, Some("echo nonsense")), @"preset 'npm': it does not say where it fetches from");
    assert_snapshot!(error(&machine, Some("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done")), @"preset 'npm': it writes more than 1024 KiB");
    machine.tools.timeout = Duration::from_millis(100);
    assert_snapshot!(error(&machine, Some("while :; do :; done")), @"preset 'npm': it does not answer within 0 s");
    // A child that keeps the output open is ended, too.
    assert_snapshot!(error(&machine, Some("(while :; do :; done) &")), @"preset 'npm': it does not answer within 0 s");
}

#[test]
fn a_tool_runs_in_an_empty_folder_with_the_users_environment() {
    let mut machine = Machine::new();
    machine.set("OWN", "kept");
    machine.set("NPM_CONFIG_USERCONFIG", machine.path("workspace/.npmrc"));
    machine.set("LISTED", format!("/x:{}/y", machine.path("workspace").display()));
    symlink(machine.path("workspace"), machine.path("home/link")).unwrap();
    let link = machine.path("home/link");
    machine.set("LINKED", &link);
    machine.set("LINKS", format!("/x:{}:/y", link.display()));
    machine.set("OPTION", format!("--quiet --require={}", link.display()));
    machine.set("ADDRESS", format!("file://{}", link.display()));
    machine.set("OTHER", "/x:/usr --require=/usr");
    let record = machine.path("seen");
    machine.tool(
        "npm",
        &format!(
            r#"{{ ls -A; cat package.json; echo " $OWN/$NPM_CONFIG_USERCONFIG/$LISTED/$LINKED"; echo "$LINKS$OPTION$ADDRESS$OTHER"; }} > {}
echo '{{"registry": "https://registry.example/"}}'"#,
            record.display()
        ),
    );
    machine.expand("allow=npm").unwrap();
    assert_snapshot!(fs::read_to_string(record).unwrap(), @"
    package.json
    {} kept///
    /x:/usr --require=/usr
    ");
    let left: Vec<_> =
        fs::read_dir(machine.path("home")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["link"], "the empty folder is gone");
}

#[test]
fn a_program_that_a_model_may_have_written_is_not_run() {
    let mut machine = Machine::new();
    let evil = machine.path("workspace/npm");
    write_program(&evil, "#!/bin/sh\necho '{\"registry\": \"https://evil.example/\"}'\n");
    let workspace = machine.path("workspace");
    let mut error = |path: Vec<PathBuf>| {
        machine.tools.environment[0].1 = std::env::join_paths(path).unwrap();
        expand(&Presets::default(), &machine.tools, "allow=npm").map(|expansion| expansion.to_string())
    };
    let missing = Err(PresetError::Tool { name: "npm".into(), error: ToolError::Missing });
    // In a folder of PATH, by a link of PATH, by a relative folder, by a link to the program.
    assert_eq!(error(vec![workspace.clone()]), missing);
    let linked = workspace.parent().unwrap().join("linked");
    symlink(&workspace, &linked).unwrap();
    assert_eq!(error(vec![linked]), missing);
    assert_eq!(error(vec![".".into(), "".into()]), missing);
    let bin = workspace.parent().unwrap().join("bin");
    symlink(&evil, bin.join("npm")).unwrap();
    assert_eq!(error(vec![bin.clone()]), missing);
    // The control: the same program elsewhere is run.
    fs::remove_file(bin.join("npm")).unwrap();
    write_program(&bin.join("npm"), "#!/bin/sh\necho '{\"registry\": \"https://evil.example/\"}'\n");
    assert_eq!(error(vec![workspace, bin]), Ok("npm = evil.example:443".into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_output_panics(text in "(\\PC|\n|https://[a-z]{1,4}\\.example|\\{|\"registry\":|\\}|'|=){0,40}") {
        let machine = Machine::new();
        fs::write(machine.path("text"), &text).unwrap();
        let script = format!("exec cat {}", machine.path("text").display());
        for (tool, preset) in [("npm", "npm"), ("mvn", "maven"), ("go", "go"), ("uv", "uv"), ("gradle", "gradle"), ("pip", "pip")] {
            machine.tool(tool, &script);
            // Whatever it says, what comes of it is a list of names or an error.
            if let Ok(expansion) = machine.expand(&format!("allow={preset}")) {
                prop_assert!(!expansion.list.is_empty());
            }
        }
    }
}
