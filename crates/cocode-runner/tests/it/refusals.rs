use std::fs;

use cocode_runner::{RepositoryError, Runner, RunnerConfig, RunnerError, StopFlag};

use crate::fixture::{Fixture, Log, MARKED, agent, refused, request};

#[test]
fn repositories_that_cannot_be_used_are_refused() {
    let fixture = Fixture::new();
    let open =
        |name: &str| Runner::open(RunnerConfig { repository: fixture.root.join(name), ..fixture.config() });
    for name in ["none", "bare", "empty"] {
        fs::create_dir(fixture.root.join(name)).unwrap();
    }
    let error = refused(open("none"));
    assert!(matches!(error, RunnerError::Repository(RepositoryError::None)), "{error:?}");
    fixture.git_in(&fixture.root.join("bare"), &["init", "-q", "--bare"]);
    let error = refused(open("bare"));
    assert!(matches!(error, RunnerError::Repository(RepositoryError::Bare)), "{error:?}");
    fixture.git_in(&fixture.root.join("empty"), &["init", "-q"]);
    let runner = open("empty").unwrap();
    let error = refused(runner.plan(&request(vec![agent("a", "true")])));
    assert!(matches!(error, RunnerError::Repository(RepositoryError::NoCommits)), "{error:?}");
}

#[test]
fn bad_requests_are_refused_before_anything_is_made() {
    let fixture = Fixture::new();
    let runner = fixture.runner();
    let plan = |change: &dyn Fn(&mut cocode_runner::RunRequest)| {
        let mut request = request(vec![agent("a", "true")]);
        change(&mut request);
        refused(runner.run(&request, &StopFlag::new(), &Log::default()))
    };
    assert!(matches!(plan(&|request| request.agents.clear()), RunnerError::NoAgents));
    assert!(matches!(plan(&|request| request.agents.push(agent("a", "x"))), RunnerError::Twice { .. }));
    assert!(matches!(plan(&|request| request.body = " \n".into()), RunnerError::EmptyBody));
    let no_base = plan(&|request| request.base = Some("nowhere".into()));
    assert!(matches!(no_base, RunnerError::Repository(RepositoryError::NoBase { .. })));
    let missing = plan(&|request| {
        request.agents = vec![cocode_runner::AgentDefinition::new("no-such-program".parse().unwrap())];
    });
    assert!(matches!(missing, RunnerError::NoProgram { .. }));
    assert!(runner.records().unwrap().is_empty());
    assert!(!fixture.worktrees().exists());
    assert_eq!(fixture.git(&["branch", "--list", "cocode/*"]), "");
}

#[test]
fn an_existing_branch_or_folder_is_never_adopted() {
    let fixture = Fixture::new();
    fixture.git(&["branch", "cocode/7-a"]);
    let runner = fixture.runner();
    let run = || runner.run(&request(vec![agent("a", "true")]), &StopFlag::new(), &Log::default());
    assert!(matches!(refused(run()), RunnerError::BranchExists { .. }));
    fixture.git(&["branch", "-D", "cocode/7-a"]);
    let path = runner.plan(&request(vec![agent("a", "true")])).unwrap().lines()[0].worktree.clone();
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("precious"), "kept").unwrap();
    assert!(matches!(refused(run()), RunnerError::FolderExists { .. }));
    assert_eq!(fs::read_to_string(path.join("precious")).unwrap(), "kept");
}

#[test]
fn worktrees_inside_a_repository_are_refused() {
    let fixture = Fixture::new();
    let config = RunnerConfig { worktrees: fixture.repository().join("trees"), ..fixture.config() };
    let error = refused(Runner::open(config).unwrap().plan(&request(vec![agent("a", "true")])));
    assert!(matches!(error, RunnerError::InsideRepository { .. }));
}

#[test]
fn one_process_has_the_state_folder() {
    let fixture = Fixture::new();
    let _first = fixture.runner();
    assert!(matches!(refused(Runner::open(fixture.config())), RunnerError::Open(_)));
}

#[test]
fn the_base_is_the_remotes_default_branch_with_its_slashes() {
    let fixture = Fixture::new();
    fixture.git(&["update-ref", "refs/remotes/origin/rel/1", "HEAD"]);
    fixture.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/rel/1"]);
    let runner = fixture.runner();
    let base = |request: &cocode_runner::RunRequest| runner.plan(request).unwrap().lines()[0].base.clone();
    let mut request = request(vec![agent("a", "true")]);
    assert_eq!(base(&request), "origin/rel/1");
    fixture.git(&["branch", "rel/1"]);
    assert_eq!(base(&request), "rel/1");
    request.base = Some("main".into());
    assert_eq!(base(&request), "main");
}

#[test]
fn two_repositories_of_one_name_have_folders_of_their_own() {
    let (one, other) = (Fixture::new(), Fixture::new());
    let path = |fixture: &Fixture| {
        let config = RunnerConfig { worktrees: one.worktrees(), ..fixture.config() };
        let runner = Runner::open(config).unwrap();
        runner.plan(&request(vec![agent("a", "true")])).unwrap().lines()[0].worktree.clone()
    };
    assert_ne!(path(&one), path(&other));
}

#[test]
fn a_missing_identity_does_not_keep_agents_from_committing() {
    let fixture = Fixture::new();
    fs::write(fixture.root.join("home/.gitconfig"), "[core]\n\tabbrev = 12\n").unwrap();
    let record = fixture.run(MARKED);
    assert_eq!(record.state, cocode_env::AgentState::Ready);
    assert_ne!(fixture.git(&["log", "-1", "--format=%an", &record.branch]), "Eve");
}

#[test]
fn an_identity_in_variables_alone_is_that_of_agents() {
    for new in [Fixture::new, Fixture::shared] {
        let mut fixture = new();
        fs::write(fixture.root.join("home/.gitconfig"), "[core]\n\tabbrev = 12\n").unwrap();
        for (name, value) in [("GIT_AUTHOR_NAME", "Eve"), ("GIT_AUTHOR_EMAIL", "e@localhost")] {
            fixture.host.variables.insert(name.into(), value.into());
        }
        let record = fixture.run(MARKED);
        assert_eq!(record.state, cocode_env::AgentState::Ready, "{record:?}");
        let identity = fixture.git(&["log", "-1", "--format=%an %ae %cn", &record.branch]);
        assert_eq!(identity, "Eve e@localhost Eve");
    }
}

#[test]
fn a_path_that_is_not_a_line_of_text_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::new();
    for name in [&b"two\nlines"[..], b"end\n", b"no text\xff"] {
        let folder = fixture.root.join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir(&folder).unwrap();
        fixture.git_in(&folder, &["init", "-q", "-b", "main"]);
        fixture.git_in(&folder, &["commit", "-q", "--allow-empty", "-m", "start"]);
        let opened = Runner::open(RunnerConfig { repository: folder, ..fixture.config() });
        assert!(
            matches!(refused(opened), RunnerError::Repository(RepositoryError::Path)),
            "{}",
            name.escape_ascii()
        );
    }
    // The control: blanks and letters of all kinds are a line of text.
    let folder = fixture.root.join("zwei Wörter");
    fs::create_dir(&folder).unwrap();
    fixture.git_in(&folder, &["init", "-q", "-b", "main"]);
    assert!(Runner::open(RunnerConfig { repository: folder, ..fixture.config() }).is_ok());
}
