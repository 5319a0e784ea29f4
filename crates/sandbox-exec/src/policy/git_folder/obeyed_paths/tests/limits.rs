//! Limits: a command that exceeds one takes no protection away.

use std::os::unix::fs::symlink;

use super::super::super::hook_links::LINK_LIMIT;
use super::super::super::path_list::PATH_LIMIT;
use super::super::super::repositories::{REPOSITORY_LIMIT, SETTINGS_LIMIT_BYTES};
use super::super::super::settings_reader::INCLUDED_LIMIT;
use super::*;

impl Scene {
    /// Adds a linked working tree.
    fn worktree(&self, root: &str, name: &str) {
        let (root, folder) = (self.at(root), self.at(&format!("work/.git/worktrees/{name}")));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&folder).unwrap();
        fs::write(root.join(".git"), format!("gitdir: {}\n", folder.display())).unwrap();
        fs::write(folder.join("gitdir"), root.join(".git").as_os_str().as_encoded_bytes()).unwrap();
        fs::write(folder.join("commondir"), "../..\n").unwrap();
    }

    /// Adds a submodule with settings.
    fn submodule(&self, root: &str, settings: &str) {
        let folder = self.at(&format!("work/.git/modules/{root}"));
        fs::create_dir_all(self.at(&format!("work/{root}"))).unwrap();
        fs::create_dir_all(&folder).unwrap();
        let up = "../".repeat(root.split('/').count() + 2);
        fs::write(folder.join("HEAD"), "").unwrap();
        fs::write(folder.join("config"), format!("[core]\nworktree = {up}{root}\n{settings}")).unwrap();
        self.put(&format!("work/{root}/.git"), &format!("gitdir: {}\n", folder.display()));
    }

    /// Puts as many aliases into the settings of the user.
    fn aliases(&self, count: usize) {
        let aliases: String = (0..count).map(|number| format!("a{number} = !./tools/{number}\n")).collect();
        self.put("home/.gitconfig", &format!("[alias]\n{aliases}"));
    }
}

/// Checks whether a path is on the list, by itself or at any depth.
fn covers(obeyed: &ObeyedPaths, path: &str, obeyed_as: ObeyedAs) -> bool {
    let fits = |one: &ObeyedPath| {
        if one.is_in_every_repository {
            Path::new(path).ends_with(&one.path)
        } else {
            one.path == Path::new(path)
        }
    };
    obeyed.paths.iter().any(|one| one.obeyed_as == obeyed_as && fits(one))
}

#[test]
fn settings_beyond_the_limits_are_not_complete() {
    let scene = Scene::new();
    let left_out = |text: String| {
        scene.put("work/.git/config", &text);
        scene.find().left_out
    };
    let hooks = |count: usize| {
        (0..count).map(|number| format!("[core]\nhooksPath = h/{number}\n")).collect::<String>()
    };
    assert_eq!(left_out(hooks(PATH_LIMIT)), [], "the control");
    assert_eq!(left_out(hooks(PATH_LIMIT + 1)), [LeftOut::Paths]);
    let included = |count: usize| {
        (0..count).map(|number| format!("[include]\npath = /nonexistent/{number}\n")).collect::<String>()
    };
    assert_eq!(left_out(included(INCLUDED_LIMIT)), [], "the control");
    assert_eq!(left_out(included(INCLUDED_LIMIT + 1)), [LeftOut::Settings]);
    // Many repositories leave the same room for other files.
    (0..REPOSITORY_LIMIT).for_each(|number| scene.worktree(&format!("work/w{number}"), &number.to_string()));
    assert_eq!(left_out(included(INCLUDED_LIMIT)), [], "the control");
    scene.worktree("work/more", "more");
    assert_eq!(left_out(included(INCLUDED_LIMIT)), [LeftOut::Repositories]);
}

#[test]
fn a_file_that_a_command_makes_longer_is_read_to_its_end() {
    let scene = Scene::new();
    for (length, left_out) in [(1 << 20, vec![]), (SETTINGS_LIMIT_BYTES as usize, vec![LeftOut::Settings])] {
        let text = format!("#{}\n[core]\nfsmonitor = ./tools/watch\n", "x".repeat(length));
        scene.put("work/.git/config", &text);
        let obeyed = scene.find();
        assert_eq!(covers(&obeyed, "tools/watch", ObeyedAs::Program), left_out.is_empty(), "{length}");
        assert_eq!(obeyed.left_out, left_out, "{length}");
    }
}

#[test]
fn texts_that_a_command_may_set_name_no_programs() {
    let scene = Scene::new();
    let texts: String = (0..PATH_LIMIT + 1)
        .map(|number| format!("[branch \"{number}\"]\ndescription = !./n/{number}\n"))
        .collect();
    scene.put(
        "work/.git/config",
        &format!("{texts}[core]\nfsmonitor = ./tools/watch\n[tig \"bind\"]\nx = !./bind\n"),
    );
    assert_eq!(scene.named(), [row("bind", ObeyedAs::Program), row("tools/watch", ObeyedAs::Program)]);
    assert_eq!(scene.find().left_out, []);
}

#[test]
fn more_working_trees_take_no_path_of_the_users_settings_away() {
    for trees in [10, 49, 300] {
        let scene = Scene::new();
        scene.aliases(9);
        (0..trees).for_each(|number| scene.worktree(&format!("work/wt/{number}"), &number.to_string()));
        let obeyed = scene.find();
        assert_eq!(obeyed.left_out, [], "{trees}");
        for number in 0..9 {
            for path in [
                format!("tools/{number}"),
                format!("wt/0/tools/{number}"),
                format!("wt/{}/tools/{number}", trees - 1),
            ] {
                assert!(covers(&obeyed, &path, ObeyedAs::Program), "{trees}: {path}");
            }
        }
        // In few repositories, paths count at their own location.
        assert_eq!(covers(&obeyed, "other/tools/1", ObeyedAs::Program), trees > 10, "{trees}");
        assert!(!covers(&obeyed, "tools/other", ObeyedAs::Program), "the control");
        assert!(obeyed.paths.len() <= PATH_LIMIT, "{trees}");
    }
}

#[test]
fn what_is_older_comes_before_what_a_command_adds() {
    let scene = Scene::new();
    scene.submodule("zz/own", "[core]\nfsmonitor = ./watch\n");
    (0..REPOSITORY_LIMIT).for_each(|number| scene.submodule(&format!("a{number}"), ""));
    fs::create_dir_all(scene.at("work/.git/modules/deep/er/than/others")).unwrap();
    let obeyed = scene.find();
    assert_eq!(obeyed.left_out, [LeftOut::Repositories]);
    let has_ages = fs::metadata(scene.at("work")).unwrap().created().is_ok();
    assert_eq!(covers(&obeyed, "zz/own/watch", ObeyedAs::Program), has_ages);
    // Nor does one kind take room from another.
    scene.worktree("work/linked", "linked");
    scene.put("work/.git/worktrees/linked/config.worktree", "[core]\nfsmonitor = ./watch\n");
    assert!(covers(&scene.find(), "linked/watch", ObeyedAs::Program));
}

#[test]
fn long_paths_of_working_trees_take_no_path_away() {
    let scene = Scene::new();
    scene.aliases(100);
    let long = ["x".repeat(250).as_str(); 14].join("/");
    (0..100).for_each(|number| scene.worktree(&format!("work/{long}/{number}"), &number.to_string()));
    scene.submodule("own", "[core]\nfsmonitor = ./watch\n");
    let obeyed = scene.find();
    assert_eq!(obeyed.left_out, [LeftOut::Repositories], "the control");
    for path in ["tools/0", "tools/99", "own/watch", "own/tools/99", &format!("{long}/99/tools/99")] {
        assert!(covers(&obeyed, path, ObeyedAs::Program), "{path}");
    }
}

#[test]
fn links_and_examples_among_hooks_take_no_path_away() {
    let scene = Scene::new();
    scene.aliases(9);
    fs::create_dir_all(scene.at("work/.git/hooks")).unwrap();
    scene.put(
        "work/.git/config",
        "[core]\nhooksPath = scripts/hooks\n[gitflow \"path\"]\nhooks = .git/flow\n",
    );
    symlink("../../scripts/check", scene.at("work/.git/hooks/pre-commit")).unwrap();
    for number in 0..3000 {
        scene.put(&format!("work/.git/hooks/{number}.sample"), "");
        scene.put(&format!("work/scripts/hooks/{number}"), "");
        symlink("x", scene.at(&format!("work/.git/hooks/link{number}.sample"))).unwrap();
    }
    let obeyed = scene.find();
    assert_eq!(obeyed.left_out, []);
    assert!(covers(&obeyed, "scripts/check", ObeyedAs::Hook));
    let link = |number: usize| {
        symlink(format!("../../!{number}"), scene.at(&format!("work/scripts/hooks/l{number}"))).unwrap()
    };
    // They lead to paths that sort before others.
    (0..PATH_LIMIT).for_each(link);
    assert_eq!(scene.find().left_out, [LeftOut::Paths]);
    (PATH_LIMIT..=LINK_LIMIT).for_each(link);
    let obeyed = scene.find();
    assert_eq!(obeyed.left_out, [LeftOut::Hooks, LeftOut::Paths]);
    // Paths on the list "never" precede those on "reported", as every path is then.
    assert!(covers(&obeyed, ".git/flow", ObeyedAs::Hooks));
    (0..9).for_each(|number| {
        assert!(covers(&obeyed, &format!("tools/{number}"), ObeyedAs::Program), "{number}")
    });
}

#[test]
fn commands_that_are_nested_too_deep_are_not_complete() {
    let scene = Scene::new();
    let nested = |depth: usize| {
        let quoted =
            |command: &str| format!("sh -c \"{}\"", command.replace('\\', "\\\\").replace('"', "\\\""));
        let command = (0..depth).fold("./tools/run x".to_owned(), |command, _| quoted(&command));
        let value = command.replace('\\', "\\\\").replace('"', "\\\"");
        scene.put("work/.git/config", &format!("[alias]\nx = \"!{value}\"\n"));
        (covers(&scene.find(), "tools/run", ObeyedAs::Program), scene.find().left_out)
    };
    assert_eq!(nested(4), (true, vec![]), "the control");
    assert_eq!(nested(5), (false, vec![LeftOut::Commands]));
}

#[test]
fn a_command_in_more_folders_than_are_looked_at_is_not_complete() {
    let scene = Scene::new();
    fs::create_dir_all(scene.at("work/tools/deep")).unwrap();
    scene.put("work/tools/deep/run", "");
    let obeyed = |command: &str| {
        scene.put("work/.git/config", &format!("[alias]\nx = \"!{command}\"\n"));
        scene.find()
    };
    let few = obeyed("cd tools && cd deep && ./run");
    assert_eq!(few.left_out, [], "the control");
    assert_eq!(named(&few), [row("tools/deep/run", ObeyedAs::Program)], "the control");
    // The same folder again counts once.
    assert_eq!(obeyed(&"cd /a; ".repeat(1000)).left_out, []);
    for count in [40, 10_000] {
        let again = obeyed(&format!("cd tools && cd deep && ./run; {}", "cd a; ".repeat(count)));
        assert_eq!(again.left_out, [LeftOut::Commands], "{count}");
        assert_eq!(named(&again), [row("tools/deep/run", ObeyedAs::Program)], "{count}");
        let others: String = (0..count).map(|number| format!("cd /{number}; ")).collect();
        assert_eq!(obeyed(&others).left_out, [LeftOut::Commands], "{count} others");
    }
}

#[test]
fn commands_in_commands_end_at_a_limit() {
    let scene = Scene::new();
    let obeyed = |command: String| {
        scene.put("work/.git/config", &format!("[alias]\nx = \"!{command}\"\n"));
        scene.find()
    };
    // Each word is a path in each folder, and each command in a word begins in each.
    let within = |folders: &str, words: usize| {
        let inner = format!("{folders} a {}", "b ".repeat(words));
        let quoted = inner.replace(' ', "\\\\ ").replace(';', "\\\\;");
        format!("{folders} sh -c '{folders} sh -c {quoted}'")
    };
    assert_eq!(obeyed(within("cd a;", 10)).left_out, [], "the control");
    assert_eq!(obeyed(within("cd a; cd b; cd c; cd d; cd e;", 1000)).left_out, [LeftOut::Commands]);
    // A folder's long name makes all paths relative to it long.
    let long = format!("cd {}; {}", "a".repeat(400_000), "./b; ".repeat(60_000));
    assert_eq!(obeyed(long).left_out, [LeftOut::Commands]);
    let many: String = (0..4000).map(|number| format!("~user{number}/a ")).collect();
    assert_eq!(obeyed(format!("cat {many}")).left_out, [], "the control");
    assert_eq!(obeyed(format!("cat {many} {many} {many}")).left_out, [LeftOut::Commands]);
}
