mod limits;

use std::os::unix::fs::symlink;

use super::*;

struct Scene {
    /// Removed with this value.
    folder: tempfile::TempDir,
}

impl Scene {
    /// A home, and a repository without settings.
    fn new() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        for path in ["home", "work/.git", "work/scripts/hooks", "work/tools"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        Scene { folder }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.at(path), text).unwrap();
    }

    fn find(&self) -> ObeyedPaths {
        self.find_in("work")
    }

    fn find_in(&self, folder: &str) -> ObeyedPaths {
        ObeyedPaths::find(&self.at(folder), &self.at("home"), |_| None)
    }

    /// The paths, without those of this machine's own settings.
    fn named(&self) -> Vec<(String, ObeyedAs, bool)> {
        named(&self.find())
    }
}

fn named(obeyed: &ObeyedPaths) -> Vec<(String, ObeyedAs, bool)> {
    let row = |path: &ObeyedPath| {
        (path.path.to_str().unwrap().to_owned(), path.obeyed_as, path.is_in_every_repository)
    };
    obeyed.paths.iter().map(row).collect()
}

fn row(path: &str, obeyed_as: ObeyedAs) -> (String, ObeyedAs, bool) {
    (path.to_owned(), obeyed_as, false)
}

#[test]
fn paths_of_each_kind_are_found_in_settings_of_the_user_and_of_the_repository() {
    let scene = Scene::new();
    scene.put("work/tools/fsmonitor", "");
    scene.put(
        "work/.git/config",
        "[core]\n hooksPath = scripts/hooks\n fsmonitor = tools/fsmonitor\n attributesFile = attributes\n\
         excludesFile = ignored\n editor = vim\n[include]\n path = ../shared.gitconfig\n\
         [alias]\n x = !./tools/new\n y = status\n[user]\n name = a/b\n[filter \"f\"]\n clean = tools/fsmonitor %f\n",
    );
    scene.put("work/shared.gitconfig", "[includeIf \"gitdir:/nowhere\"]\n path = deeper\n");
    scene.put("work/deeper", "[diff \"d\"]\n textconv = sh tools/conv.sh\n");
    scene.put("work/tools/conv.sh", "");
    let expected = [
        row("attributes", ObeyedAs::Attributes),
        row("deeper", ObeyedAs::Settings),
        row("scripts/hooks", ObeyedAs::Hooks),
        row("shared.gitconfig", ObeyedAs::Settings),
        row("tools/conv.sh", ObeyedAs::Program),
        row("tools/fsmonitor", ObeyedAs::Program),
        row("tools/new", ObeyedAs::Program),
    ];
    assert_eq!(scene.named(), expected);
    assert_eq!(scene.find().left_out, []);
    // A folder of the repository as the workspace.
    assert_eq!(named(&scene.find_in("work/scripts")), [row("hooks", ObeyedAs::Hooks)]);
    assert_eq!(named(&scene.find_in("work/scripts/hooks")), [row("", ObeyedAs::Hooks)]);
    // The user's own settings hold in every repository.
    fs::remove_file(scene.at("work/.git/config")).unwrap();
    assert_eq!(scene.named(), []);
    let settings = format!(
        "[core]\n hooksPath = ./scripts/hooks\n[include]\n path = {}\n",
        scene.at("work/in").display()
    );
    scene.put("home/.gitconfig", &settings);
    let everywhere = ("scripts/hooks".to_owned(), ObeyedAs::Hooks, true);
    let expected = [row("in", ObeyedAs::Settings), row("scripts/hooks", ObeyedAs::Hooks), everywhere];
    assert_eq!(scene.named(), expected);
    let named_setting = &scene.find().paths[1].setting;
    assert_eq!(named_setting, "core.hooksPath");
}

#[test]
fn settings_in_variables_and_of_a_linked_worktree_are_read() {
    let scene = Scene::new();
    let variable = |name: &str| {
        let value = match name {
            "GIT_CONFIG_COUNT" => "1",
            "GIT_CONFIG_KEY_0" => "core.fsmonitor",
            "GIT_CONFIG_VALUE_0" => "./tools/new",
            "GIT_CONFIG_PARAMETERS" => "'core.hooksPath'='hooks' 'diff.a.textconv=./tools/conv '\\''x'\\'''",
            "GIT_CONFIG_GLOBAL" => "own",
            "GIT_SSH_COMMAND" => "ssh -F tools/ssh",
            "GIT_TEMPLATE_DIR" => "template",
            "EDITOR" => "./tools/edit --wait",
            "PATH" => "/usr/bin:bin:/nonexistent::.",
            "VISUAL" => "vim",
            _ => return None,
        };
        Some(value.into())
    };
    scene.put("work/tools/ssh", "");
    scene.put("work/own", "[core]\npager = ./tools/pager\n");
    let obeyed = ObeyedPaths::find(&scene.at("work"), &scene.at("home"), variable);
    let expected = [
        row("", ObeyedAs::Programs),
        row("bin", ObeyedAs::Programs),
        ("hooks".to_owned(), ObeyedAs::Hooks, true),
        row("hooks", ObeyedAs::Hooks),
        row("own", ObeyedAs::Settings),
        row("template", ObeyedAs::Hooks),
        row("tools/conv", ObeyedAs::Program),
        row("tools/edit", ObeyedAs::Program),
        row("tools/new", ObeyedAs::Program),
        row("tools/pager", ObeyedAs::Program),
        row("tools/ssh", ObeyedAs::Argument),
    ];
    let mut obeyed = named(&obeyed);
    obeyed.sort_by(|one, other| (&one.0, other.2).cmp(&(&other.0, one.2)));
    assert_eq!(obeyed, expected);
    fs::create_dir_all(scene.at("work/.git/worktrees/one")).unwrap();
    fs::create_dir_all(scene.at("linked")).unwrap();
    scene.put("linked/.git", &format!("gitdir: {}\n", scene.at("work/.git/worktrees/one").display()));
    scene.put("work/.git/worktrees/one/commondir", "../..\n");
    scene.put("work/.git/config", "[core]\nhooksPath = a\n");
    scene.put("work/.git/worktrees/one/config.worktree", "[core]\nhooksPath = b\n");
    assert_eq!(named(&scene.find_in("linked")), [row("a", ObeyedAs::Hooks), row("b", ObeyedAs::Hooks)]);
}

#[test]
fn links_on_the_way_count_as_well_and_a_circle_ends() {
    let scene = Scene::new();
    symlink("tools", scene.at("work/bin")).unwrap();
    symlink("circle", scene.at("work/circle")).unwrap();
    scene.put(
        "work/.git/config",
        "[core]\nhooksPath = bin/../bin/hooks\n[include]\npath = ../circle/x\npath = config\n",
    );
    let obeyed = scene.named();
    for path in ["bin", "tools/hooks"] {
        assert!(obeyed.contains(&row(path, ObeyedAs::Hooks)), "{path}: {obeyed:?}");
    }
    assert!(obeyed.contains(&row("circle", ObeyedAs::Settings)), "{obeyed:?}");
    // The repository's own settings are judged by what is in them.
    assert!(!obeyed.iter().any(|(path, ..)| path == ".git/config"), "{obeyed:?}");
}

#[test]
fn settings_that_are_kept_in_the_folder_are_obeyed() {
    let scene = Scene::new();
    fs::create_dir_all(scene.at("home/.config")).unwrap();
    symlink(scene.at("work/gitconfig"), scene.at("home/.gitconfig")).unwrap();
    symlink(scene.at("work/tools"), scene.at("home/.config/git")).unwrap();
    symlink("../own", scene.at("work/.git/config")).unwrap();
    let mut expected =
        ["gitconfig", "own", "tools/config"].map(|path| row(path, ObeyedAs::Settings)).to_vec();
    expected.insert(2, row("tools/attributes", ObeyedAs::Attributes));
    // A file that is missing is one that could be made.
    for text in [None, Some("[core]\nbare = false\n")] {
        for path in ["work/gitconfig", "work/own", "work/tools/config"] {
            text.into_iter().for_each(|text| scene.put(path, text));
        }
        let mut obeyed = scene.named();
        obeyed.retain(|(path, ..)| !path.ends_with("/config") || path == "tools/config");
        assert_eq!(obeyed, expected);
    }
}

#[test]
fn a_change_of_any_file_of_settings_is_seen() {
    let scene = Scene::new();
    scene.put("work/.git/config", "[include]\npath = ../more\n");
    let files = ["work/.git/config", "work/more", "home/.gitconfig"];
    for file in files {
        let obeyed = scene.find();
        assert!(obeyed.is_unchanged(), "the control");
        let text = fs::read_to_string(scene.at(file)).unwrap_or_default();
        scene.put(file, &format!("{text}[core]\nhooksPath = {}\n", file.len()));
        assert!(!obeyed.is_unchanged(), "{file}");
    }
    assert_eq!(scene.find().paths.iter().filter(|path| path.obeyed_as == ObeyedAs::Hooks).count(), 4);
}

#[test]
fn no_folder_of_git_hides_the_repository_around_it() {
    let scene = Scene::new();
    scene.put("work/.git/config", "[core]\nhooksPath = tools/hooks\n");
    scene.put("home/.gitconfig", "[core]\nfsmonitor = tools/watch\n");
    let expected = [row("hooks", ObeyedAs::Hooks), row("watch", ObeyedAs::Program)];
    let of_tools = |scene: &Scene| {
        let mut obeyed = named(&scene.find_in("work/tools"));
        // What would be in a repository of its own.
        obeyed.retain(|(path, ..)| path != "tools/watch");
        obeyed
    };
    assert_eq!(of_tools(&scene), expected);
    // A command may leave an empty one, which git passes over, or a whole repository.
    fs::create_dir_all(scene.at("work/tools/.git/objects")).unwrap();
    assert_eq!(of_tools(&scene), expected);
    scene.put("work/tools/.git/config", "[core]\nhooksPath = own\n");
    assert!(of_tools(&scene).contains(&row("own", ObeyedAs::Hooks)));
    assert!(expected.iter().all(|row| of_tools(&scene).contains(row)), "{:?}", of_tools(&scene));
}

#[test]
fn settings_of_submodules_and_of_linked_worktrees_are_read() {
    let scene = Scene::new();
    for path in
        ["sub/deep", "embedded/.git", "linked", ".git/modules/a/b", ".git/worktrees/one", "other/.git"]
    {
        fs::create_dir_all(scene.at(&format!("work/{path}"))).unwrap();
    }
    scene.put("work/.git/modules/a/b/HEAD", "");
    scene.put("work/.git/modules/a/b/config", "[core]\nworktree = ../../../../sub/deep\nhooksPath = h\n");
    scene.put("work/sub/deep/.git", "gitdir: ../../.git/modules/a/b\n");
    scene.put(
        "work/.gitmodules",
        "[submodule \"e\"]\npath = embedded\n[submodule \"missing\"]\npath = missing\n",
    );
    scene.put("work/embedded/.git/config", "[core]\nfsmonitor = ./watch\n");
    scene.put("work/.git/worktrees/one/gitdir", &format!("{}\n", scene.at("work/linked/.git").display()));
    scene.put("work/.git/worktrees/one/commondir", "../..\n");
    scene.put("work/.git/worktrees/one/config.worktree", "[core]\nhooksPath = own\n");
    scene.put("work/linked/.git", &format!("gitdir: {}\n", scene.at("work/.git/worktrees/one").display()));
    scene.put("work/other/.git/config", "[core]\nhooksPath = unread\n");
    let expected = [
        row("embedded/watch", ObeyedAs::Program),
        row("linked/own", ObeyedAs::Hooks),
        row("sub/deep/h", ObeyedAs::Hooks),
    ];
    assert_eq!(scene.named(), expected);
    // The user's settings hold in each of them.
    scene.put("home/.gitconfig", "[alias]\nx = !./new\n");
    let obeyed = scene.named();
    for path in ["new", "embedded/new", "linked/new", "sub/deep/new"] {
        assert!(obeyed.contains(&row(path, ObeyedAs::Program)), "{path}: {obeyed:?}");
    }
    // One that is added later is seen.
    let before = scene.find();
    assert!(before.is_unchanged(), "the control");
    fs::create_dir_all(scene.at("work/.git/modules/later")).unwrap();
    assert!(!before.is_unchanged());
}

#[test]
fn what_links_among_hooks_lead_to_is_a_hook() {
    let scene = Scene::new();
    for path in ["work/.git/hooks", "home/hooks"] {
        fs::create_dir_all(scene.at(path)).unwrap();
    }
    symlink("../../scripts/check", scene.at("work/.git/hooks/pre-commit")).unwrap();
    symlink(scene.at("work/scripts/other"), scene.at("home/hooks/pre-push")).unwrap();
    scene.put("work/.git/hooks/post-commit", "");
    scene.put("home/.gitconfig", "[core]\nhooksPath = ~/hooks\n");
    assert_eq!(scene.named(), [row("scripts/check", ObeyedAs::Hook), row("scripts/other", ObeyedAs::Hook)]);
    // All of the folder.
    fs::remove_dir_all(scene.at("work/.git/hooks")).unwrap();
    let before = scene.find();
    symlink("../scripts/hooks", scene.at("work/.git/hooks")).unwrap();
    assert!(!before.is_unchanged());
    assert!(scene.named().contains(&row("scripts/hooks", ObeyedAs::Hooks)), "{:?}", scene.named());
}

#[test]
fn a_link_that_leads_elsewhere_by_now_is_seen() {
    let scene = Scene::new();
    scene.put("work/.git/config", "[core]\nhooksPath = bin/hooks\n");
    let before = scene.find();
    assert!(before.is_unchanged(), "the control");
    symlink("tools", scene.at("work/bin")).unwrap();
    assert!(!before.is_unchanged());
    assert!(scene.named().contains(&row("tools/hooks", ObeyedAs::Hooks)));
}

#[test]
fn a_file_that_is_included_from_two_folders_is_read_for_each() {
    let scene = Scene::new();
    symlink(scene.at("work/tools/settings"), scene.at("home/.gitconfig")).unwrap();
    scene.put("work/tools/settings", "[include]\npath = more\n[core]\nhooksPath = h\n");
    scene.put("work/.git/config", "[include]\npath = ../tools/settings\n");
    assert!(scene.named().contains(&row("tools/more", ObeyedAs::Settings)), "{:?}", scene.named());
}

#[test]
fn values_of_all_forms_are_understood() {
    let scene = Scene::new();
    scene.put("work/tools/data", "");
    for (text, path, obeyed_as) in [
        ("[core]\nhooksPath = :(optional)h\n", "h", ObeyedAs::Hooks),
        ("[alias]\nx = -c core.fsmonitor=./watch status\n", "watch", ObeyedAs::Program),
        ("[alias]\nx = rebase --exec ./check\n", "check", ObeyedAs::Argument),
        ("[alias]\nx = log origin/main -- tools/data\n", "tools/data", ObeyedAs::Argument),
        ("[remote \"a\"]\nurl = ext::sh -c ./x%20y\n", "x%20y", ObeyedAs::Program),
        ("[tig \"bind\"]\nx = !./tool\n", "tool", ObeyedAs::Program),
        ("[gitflow \"path\"]\nhooks = h\n", "h", ObeyedAs::Hooks),
    ] {
        scene.put("work/.git/config", text);
        assert_eq!(scene.named(), [row(path, obeyed_as)], "{text}");
    }
    scene.put("work/.git/config", "[alias]\nx = log --oneline\n[core]\nhooksPath = %(prefix)/h\n");
    assert_eq!(scene.named(), [], "the control");
    // Steps upwards from a repository that may be anywhere.
    scene.put("work/.git/config", "");
    scene.put("home/.gitconfig", "[core]\nhooksPath = ../h\n");
    assert_eq!(scene.named(), [("h".to_owned(), ObeyedAs::Hooks, true)]);
}
