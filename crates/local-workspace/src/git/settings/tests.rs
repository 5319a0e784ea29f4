//! Tests of the reader of settings files.

use git_index::ObjectFormat;

use super::{
    HarmfulChange, Surroundings, changed_directions, harmful, is_harmless, keeps_format, object_format,
    worktree,
};

/// The harmful settings that are set or removed.
fn judged(before: &str, after: &str) -> Option<Vec<String>> {
    judged_with(before, after, false)
}

fn judged_with(before: &str, after: &str, has_harmless_sibling: bool) -> Option<Vec<String>> {
    let change = change(before, after, has_harmless_sibling)?.to_string();
    let (names, _advice) = change.split_once("; ").unwrap();
    let names = names.replace("sets ", "").replace(" and removes ", ", ").replace("removes ", "");
    Some(names.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

fn change(before: &str, after: &str, has_harmless_sibling: bool) -> Option<HarmfulChange> {
    let surroundings = Surroundings {
        is_worktree: &|value| value == Some("../../../sub"),
        has_harmless_sibling: &|| has_harmless_sibling,
    };
    harmful(Some(before.as_bytes()), after.as_bytes(), &surroundings)
}

const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";

#[test]
fn what_git_writes_by_itself_is_harmless() {
    for more in [
        "",
        "[remote \"origin\"]\n\turl = https://example.org/a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
        "[remote \"origin\"]\r\n\turl = git@example.org:a/b.git\r\n",
        "[remote \"o\"]\n\turl = h:other\n[branch \"main\"]\n\tremote = o\n\tmerge = refs/heads/main\n",
        "[remote \"a/o\"]\n\turl = \"https://[::1]/x?y\" # ours\n[branch \"main\"]\n\tremote = \"a/o\" ; ours\n",
        "[branch \"main\"]\n\tremote = .\n[branch \"b\"]\n\tpushRemote = ssh://h/x\n",
        "# a note\n[user]\n\tname = A B\n\temail = a@b.c\n[pull] rebase = true\n[advice]\n\tdetachedHead\n",
        "[core]\n\tworktree = ../../../sub\n",
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n\tobjectFormat = sha256\n",
        "[maintenance]\n\tauto = false\n",
        "[submodule \"x\"]\n\tactive = true\n\turl = https://h/x.git\n",
    ] {
        assert_eq!(judged(PLAIN, &format!("{PLAIN}{more}")), Some(vec![]), "{more}");
    }
}

#[test]
fn what_runs_programs_or_leads_away_is_named() {
    for (more, name) in [
        ("[core]\n\tfsmonitor = touch x\n", "core.fsmonitor"),
        ("[CORE] FsMonitor = touch x\n", "core.fsmonitor"),
        ("[core]\n\thooksPath = h\n", "core.hookspath"),
        ("[core]\n\tsshCommand = x\n\teditor = y\n", "core.sshcommand"),
        ("[core]\n\tbare = true\n", "core.bare"),
        ("[core]\n\tworktree = /home\n", "core.worktree"),
        ("[filter \"f\"]\n\tclean = x\n", "filter.f.clean"),
        ("[diff \"d\"]\n\tcommand = x\n", "diff.d.command"),
        ("[diff]\n\texternal = x\n", "diff.external"),
        ("[alias]\n\tst = !x\n", "alias.st"),
        ("[credential]\n\thelper = !x\n", "credential.helper"),
        ("[include]\n\tpath = x\n", "include.path"),
        ("[includeIf \"gitdir:/\"]\n\tpath = x\n", "includeif.gitdir:/.path"),
        ("[url \"ext::sh -c x\"]\n\tinsteadOf = https:\n", "url.ext::sh -c x.insteadof"),
        ("[remote \"o\"]\n\turl = ext::sh\n", "remote.o.url"),
        ("[remote \"o\"]\n\turl = ssh://-oProxyCommand=x/y\n", "remote.o.url"),
        ("[remote \"o\"]\n\turl = ./target/x.git\n", "remote.o.url"),
        ("[remote \"o\"]\n\tpushurl = /srv/x.git\n", "remote.o.pushurl"),
        ("[remote \"o\"]\n\turl = file:///srv/x.git\n", "remote.o.url"),
        ("[remote \"o\"]\n\turl = a/b:c\n", "remote.o.url"),
        ("[remote]\n\tpushDefault = target\n", "remote.pushdefault"),
        ("[branch \"m\"]\n\tremote = target/x\n", "branch.m.remote"),
        ("[branch \"m\"]\n\tpushRemote = target\n", "branch.m.pushremote"),
        ("[remote \"/r\"]\n\turl = h:x\n[branch \"m\"]\n\tremote = /r\n", "remote./r.url"),
        ("[branch \"m\"]\n\tremote = r#o\n[remote \"r#o\"]\n\turl = h:x\n", "branch.m.remote"),
        ("[branch \"m\"]\n\tremote = \"r#o\"\n[remote \"r#o\"]\n\turl = h:x\n", "branch.m.remote"),
        ("[branch \"m\"]\n\tremote = o\n[remote \"o\"]\n\turl = \"\"\n", "branch.m.remote"),
        ("[remote]\n\tpushDefault = a/../r\n[remote \"a/../r\"]\n\turl = h:x\n", "remote.pushdefault"),
        ("[submodule \"s\"]\n\turl = ./x\n", "submodule.s.url"),
        ("[remote \"o\"]\n\turl = \"ext\"::sh\n", "remote.o.url"),
        ("[remote \"o\"]\n\tuploadpack = x\n", "remote.o.uploadpack"),
        ("[submodule \"s\"]\n\tupdate = !x\n", "submodule.s.update"),
        ("[extensions]\n\tworktreeConfig = true\n", "extensions.worktreeconfig"),
        ("[core]\n\trepositoryformatversion = --\n", "core.repositoryformatversion"),
        ("[extensions]\n\tobjectFormat = sha256\n", "extensions.objectformat"),
        (
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trelativeWorktrees = true\n",
            "extensions.relativeworktrees",
        ),
        ("[core]\n\tworktree = ../../../sub\u{2003}\n", "core.worktree"),
        ("[core]\n\tworktree = ../../../sub\u{b}\n", "core.worktree"),
        ("[protocol]\n\tallow = always\n", "protocol.allow"),
        (
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = files:///srv/x\n",
            "extensions.refstorage",
        ),
        ("[remote \"--upload-pack=x\"]\n\turl = https://h/x\n", "remote.--upload-pack=x.url"),
        ("[remote \"-x\"]\n\tprune = true\n", "remote.-x.prune"),
        ("[branch \"-x\"]\n\tmerge = refs/heads/x\n", "branch.-x.merge"),
        ("[submodule \"--x\"]\n\turl = https://h/x\n", "submodule.--x.url"),
        ("[user \"x\"]\n\tname = y\n", "user.x.name"),
        ("[gpg]\n\tprogram = x\n", "gpg.program"),
    ] {
        let named = judged(PLAIN, &format!("{PLAIN}{more}")).unwrap();
        assert_eq!(named.first().map(String::as_str), Some(name), "{more}");
    }
}

/// Without version 1 git ignores extensions or refuses the repository, and reads an index in SHA-1.
#[test]
fn object_format_counts_with_version_1_only() {
    let format =
        |version: &str| object_format(format!("[extensions]\n\tobjectFormat = sha256\n{version}").as_bytes());
    assert_eq!(
        format("[core]\n\trepositoryFormatVersion = 1 ; as git writes it\n"),
        Some(ObjectFormat::Sha256)
    );
    for version in ["", "[core]\n\trepositoryformatversion = 1\n\trepositoryformatversion = 0\n"] {
        assert_eq!(format(version), Some(ObjectFormat::Sha1), "{version}");
    }
    let sha256 = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n";
    for after in ["[extensions]\n\tobjectformat = sha256\n", &sha256.replace('1', "0")] {
        assert_ne!(judged(sha256, after), Some(vec![]), "{after}");
    }
    assert_eq!(
        judged("[core]\n\trepositoryformatversion = 0\n", "[core]\n\tbare = false\n"),
        Some(vec!["core.repositoryformatversion".to_owned()])
    );
}

#[test]
fn object_format_of_settings_that_are_not_understood_is_unknown() {
    let alias = "[alias]\n\tx = a\\\n b\n";
    assert_eq!(object_format(alias.as_bytes()), Some(ObjectFormat::Sha1));
    let named =
        format!("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tObjectFormat = sha256\n{alias}");
    assert_eq!(object_format(named.as_bytes()), None);
}

/// Git would see none of the branches, or obey extensions of the user that it ignored.
#[test]
fn repository_that_was_there_keeps_its_format() {
    let keeps = |before: &str, after: &str| keeps_format(Some(before.as_bytes()), after.as_bytes());
    let first = "[core]\n\trepositoryformatversion = 1\n";
    let with = |extension: &str| format!("{first}[extensions]\n\t{extension}\n");
    let (tables, sha256) = (with("refStorage = reftable"), with("objectFormat = sha256"));
    let sound = [
        (PLAIN, first),
        (first, PLAIN),
        (PLAIN, &with("refStorage = files")),
        (PLAIN, &with("objectFormat = sha1")),
        (&tables, &format!("{tables}[user]\n\tname = a\n")),
        ("[extensions]\n\tworktreeConfig = true\n", &with("worktreeConfig = true")),
    ];
    for (before, after) in sound {
        assert!(keeps(before, after), "{before} {after}");
    }
    let other = [
        (PLAIN, &*tables),
        (&tables, PLAIN),
        (&tables, first),
        (&tables, &with("refStorage = reftable\n\trefStorage = files")),
        (PLAIN, &sha256),
        (&sha256, first),
        ("[extensions]\n\tmine = x\n", &with("mine = x")),
        ("[extensions]\n\tmine = x\n", first),
        ("[extensions]\n\trefStorage = reftable\n", &tables),
    ];
    for (before, after) in other {
        assert!(!keeps(before, after), "{before} {after}");
    }
    assert!(keeps_format(None, first.as_bytes()) && !keeps_format(None, tables.as_bytes()));
}

#[test]
fn settings_of_a_working_tree_come_into_force_only_if_they_are_harmless() {
    let on = format!("{PLAIN}[extensions]\n\tworktreeConfig = true\n");
    let name = || Some(vec!["extensions.worktreeconfig".to_owned()]);
    assert_eq!(judged_with(PLAIN, &on, true), Some(vec![]));
    assert_eq!(judged_with(PLAIN, &on, false), name());
    // The user's settings stay in force.
    assert_eq!(judged_with(&on, &on, false), Some(vec![]));
    for after in [
        PLAIN,
        &on.replace("worktreeConfig = true", "worktreeConfig = false"),
        &on.replace("worktreeConfig = true", "worktreeConfig"),
    ] {
        assert_ne!(judged_with(&on, after, true), Some(vec![]), "{after}");
    }
    assert!(is_harmless(
        b"[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = true\n[index]\n\tsparse = false\n"
    ));
    assert!(!is_harmless(b"[core]\n\tsparseCheckout = true\n\thooksPath = x\n"));
}

#[test]
fn worktree_of_a_submodule_is_read_as_git_reads_it() {
    let read = |text: &str| worktree(text.as_bytes()).ok();
    assert_eq!(read(PLAIN), Some(None));
    assert_eq!(read("[core]\n\tworktree = ../../../sub\n"), Some(Some("../../../sub".to_owned())));
    // The last of two counts, and quoted text, or text after a semicolon, is read differently.
    for value in ["a\n\tworktree = b", "\"a\"", "a;b", "a # b", "a\\tb", "a\tb"] {
        assert_eq!(read(&format!("[core]\n\tworktree = {value}\n")), None, "{value}");
    }
    let two = format!("{PLAIN}[core]\n\tworktree = ../../../sub\n\tworktree = ../../../sub\n");
    assert_eq!(judged(PLAIN, &two), Some(vec!["core.worktree".to_owned(), "core.worktree".to_owned()]));
    assert_eq!(judged(&two, &two), Some(vec![]));
}

#[test]
fn directions_that_change_are_named_without_credentials() {
    let remote = |url: &str| format!("{PLAIN}[remote \"o\"]\n\turl = {url}\n[push]\n\tdefault = simple\n");
    let named = |before: &str, after: &str| changed_directions(Some(before.as_bytes()), after.as_bytes());
    assert_eq!(
        named(PLAIN, &remote("https://me:secret@h/x")),
        ["remote.o.url = https://***@h/x", "push.default = simple"]
    );
    assert_eq!(named(&remote("https://h/x"), &remote("https://other/x")), ["remote.o.url = https://other/x"]);
    assert_eq!(named(&remote("h:x"), PLAIN), ["remote.o.url is gone", "push.default is gone"]);
    assert_eq!(named(&remote("h:x"), &remote("h:x")), [""; 0]);
}

#[test]
fn what_is_not_understood_is_not_read() {
    for more in [
        "[core]\n\tfs\\\nmonitor = x\n",
        "[core.fsmonitor]\n\tx = y\n",
        "[core][alias] x = y\n",
        "key = before any section\n",
        "[core\n",
        "[a \"b\\\"c\"]\n\tx = y\n",
        "\u{feff}[core]\n",
        "[core]\n\tname = a\u{0}b\n",
        "[core]\n\ta b = c\n",
        "[remote\"o\"]\n\turl = h:x\n",
        "[user]\n\tname = \"A\n",
        "[user]\n\tname = a\\q\n",
    ] {
        assert_eq!(judged("", more), None, "{more}");
    }
    assert!(!is_harmless(b"[user]\n\tname = \xff\n"));
    // Settings of the user that are not understood are not replaced.
    assert_eq!(judged("[alias]\n\tx = a\\\n b\n", PLAIN), None);
}

#[test]
fn what_the_user_has_set_stays_as_it_is() {
    let mine = format!("{PLAIN}[alias]\n\tst = status\n[core]\n\teditor = vi\n");
    let with_remote = format!("{mine}[remote \"o\"]\n\turl = h:srv/x\n");
    assert_eq!(judged(&mine, &with_remote), Some(vec![]));
    assert_eq!(judged(&mine, PLAIN), Some(vec!["alias.st".into(), "core.editor".into()]));
    let swapped = format!("{PLAIN}[core]\n\teditor = vi\n[alias]\n\tst = status\n");
    assert_eq!(judged(&mine, &swapped), Some(vec!["core.editor".into(), "alias.st".into()]));
}

#[test]
fn change_of_settings_says_what_to_do() {
    let says = |before: &str, after: &str| change(before, after, false).unwrap().to_string();
    let by_user = "if that is wanted, ask the user to do it with `git config`";
    let mine = format!("{PLAIN}[alias]\n\tst = status\n");
    assert_eq!(says(PLAIN, &mine), format!("sets alias.st; {by_user}"));
    assert_eq!(says(&mine, PLAIN), format!("removes alias.st; {by_user}"));
    assert_eq!(says(&mine, &mine.replace("status", "log")), format!("sets alias.st; {by_user}"));
    let both = says(&mine, &format!("{PLAIN}[commit]\n\tgpgSign = false\n"));
    assert_eq!(
        both,
        format!(
            "sets commit.gpgsign and removes alias.st; {by_user}; to commit without a signature, use \
             `git -c commit.gpgsign=false commit`"
        )
    );
    let cloned = says(PLAIN, &format!("{PLAIN}[remote \"origin\"]\n\turl = /srv/x\n"));
    assert!(
        cloned.starts_with("sets remote.origin.url; ") && cloned.contains("`git remote remove`"),
        "{cloned}"
    );
    let added = says(PLAIN, &format!("{PLAIN}[submodule \"s\"]\n\turl = /srv/x\n"));
    assert!(added.contains("`git submodule update --init`") && !added.contains("remote remove"), "{added}");
    let many: String = (0..7).map(|number| format!("[alias]\n\tx{number} = y\n")).collect();
    assert!(says(PLAIN, &format!("{PLAIN}{many}")).contains("alias.x4 and 2 more;"));
}

/// Other programs keep them there, and git renames and removes them with a branch or remote.
#[test]
fn settings_of_other_programs_come_and_go() {
    for section in [
        "[branch \"x\"]\n\tvscode-merge-base = origin/main\n\tgh-merge-base = main\n",
        "[remote \"o\"]\n\turl = h:x\n\tgh-resolved = base\n",
        "[remote \"o\"]\n\turl = h:x\n\tgh-resolved = owner/repo\n",
        "[gitflow \"branch\"]\n\tmaster = main\n\tdevelop = develop\n[gitflow \"prefix\"]\n\tfeature = feature/\n\tversiontag =\n",
        "[gitflow \"branch.feature/x\"]\n\tbase = develop\n",
        "[lfs]\n\trepositoryformatversion = 0\n",
    ] {
        let with = format!("{PLAIN}{section}");
        assert_eq!(judged(PLAIN, &with), Some(vec![]), "{section}");
        assert_eq!(judged(&with, PLAIN), Some(vec![]), "{section}");
    }
    for section in [
        "[branch \"x\"]\n\tvscode-merge-base = --upload-pack=x\n",
        "[branch \"x\"]\n\tgh-merge-base = a b\n",
        "[remote \"o\"]\n\tgh-resolved = --x/y\n",
        "[gitflow \"prefix\"]\n\tfeature = $(x)\n",
        "[gitflow \"path\"]\n\thooks = x\n",
        "[gitflow]\n\tbranch = x\n",
        "[lfs]\n\trepositoryformatversion = 999\n",
        "[lfs]\n\turl = x\n",
    ] {
        assert_ne!(judged(PLAIN, &format!("{PLAIN}{section}")), Some(vec![]), "{section}");
    }
    let resolved = "[remote \"o\"]\n\tgh-resolved = owner/repo\n";
    assert_eq!(changed_directions(None, resolved.as_bytes()), ["remote.o.gh-resolved = owner/repo"]);
}

#[test]
fn settings_of_the_user_go_with_their_branch_remote_or_submodule() {
    let tool =
        format!("{PLAIN}[branch \"b\"]\n\tmerge = refs/heads/b\n\ttool = x\n\tmergeOptions = -s ours\n");
    let server = format!("{PLAIN}[remote \"o\"]\n\turl = /srv/x\n\tuploadpack = x\n");
    let module = format!("{PLAIN}[submodule \"s\"]\n\tactive = true\n\turl = /srv/x\n\tupdate = !x\n");
    let renamed = "[branch \"c\"]\n\tmerge = refs/heads/b\n\ttool = x\n";
    for (before, after) in [
        (&tool, PLAIN),
        (&tool, &format!("{PLAIN}{renamed}")),
        (&tool, &format!("{PLAIN}[branch \"b\"]\n")),
        (&server, PLAIN),
        (&module, PLAIN),
    ] {
        assert_eq!(judged(before, after), Some(vec![]), "{before} {after}");
    }
    // Another branch has the same.
    let two = format!("{tool}[branch \"z\"]\n\ttool = x\n");
    let one = format!("{PLAIN}[branch \"z\"]\n\ttool = x\n");
    assert_eq!(judged(&two, &one), Some(vec![]));
    let following = format!("{server}[branch \"m\"]\n\tremote = o\n");
    for (before, after, name) in [
        (
            &tool,
            format!("{PLAIN}[branch \"b\"]\n\tmerge = refs/heads/b\n\tmergeOptions = -s ours\n"),
            "branch.b.tool",
        ),
        (&tool, format!("{PLAIN}[branch \"c\"]\n\ttool = y\n"), "branch.c.tool"),
        (&tool, format!("{PLAIN}[branch \"c\"]\n\tmergeOptions = -s ours\n"), "branch.c.mergeoptions"),
        (&tool, format!("{PLAIN}[branch \"-c\"]\n\ttool = x\n"), "branch.-c.tool"),
        (&tool, format!("{tool}[branch \"c\"]\n\ttool = x\n"), "branch.c.tool"),
        (&server, server.replace("\"o\"", "\"p\""), "remote.p.url"),
        (&module, module.replace("\"s\"", "\"t\""), "submodule.t.url"),
        (&module, module.replace("\turl = /srv/x\n", ""), "submodule.s.url"),
        // It would be the path of a repository.
        (
            &following,
            following.replace("[remote \"o\"]\n\turl = /srv/x\n\tuploadpack = x\n", ""),
            "branch.m.remote",
        ),
    ] {
        let named = judged(before, &after).unwrap();
        assert_eq!(named.first().map(String::as_str), Some(name), "{before} {after}");
    }
}
