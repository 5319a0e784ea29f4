//! Mount points, such as the files that a container is given one by one.

use std::fs;

use sandbox_fs::{
    ContentHash, Expected, FileMode, FileRoot, FsError, FsPolicy, ReadOnlyReason, RootRules, WriteBits,
};

use crate::fixture::{METHODS, Sandbox, path};
use crate::namespace;

#[test]
fn a_mount_point_is_refused_as_one() {
    let sandbox = Sandbox::new();
    for name in ["a.txt", "source.txt", "d/x"] {
        sandbox.file(name, "x");
    }
    let mount = "cd workspace && mount --bind source.txt a.txt && mount --bind d d";
    namespace::run("mount_points::child_with_mounts", mount, sandbox.top());
    assert_eq!(sandbox.read("a.txt"), "x");
}

#[test]
#[ignore = "runs in a namespace, started by a_mount_point_is_refused_as_one"]
fn child_with_mounts() {
    let Some(folder) = namespace::folder_of_child() else { return };
    let workspace = folder.join("workspace");
    let refused = |name: &str| FsError::ReadOnly { path: path(name), reason: ReadOnlyReason::MountPoint };
    for method in METHODS {
        for bits in [WriteBits::Respect, WriteBits::Ignore] {
            let policy = FsPolicy::default().with_write_bits(bits);
            let rules = RootRules::default();
            let root = FileRoot::open_with_method(&workspace, &rules, policy, method).unwrap();
            let name = path("a.txt");
            assert_eq!(root.open_file(&name).unwrap().read_to_end(9).unwrap(), b"x");
            assert_eq!(root.stage(&name, b"y", FileMode::Keep).unwrap_err(), refused("a.txt"));
            for expected in [None, Some(ContentHash::of(b"x"))] {
                let error = root.remove_file(&name, expected.as_ref()).unwrap_err();
                assert_eq!(error, refused("a.txt"));
            }
            let moved = root.rename_noreplace(&name, &root, &path("b.txt")).unwrap_err();
            assert_eq!(moved, refused("a.txt"));
            // What is in a mounted folder can be changed, but not the folder.
            let staged = root.stage(&path("d/x"), b"x", FileMode::Keep).unwrap();
            staged.publish(Expected::Content(ContentHash::of(b"x"))).unwrap();
            let text = root.stage(&name, b"y", FileMode::Keep).unwrap_err().to_string();
            assert!(text.contains("mount point") && !text.contains("try again"), "{text}");
        }
    }
    fs::remove_file(workspace.join("d/x")).unwrap();
    let root = FileRoot::open_with_method(&workspace, &RootRules::default(), FsPolicy::default(), METHODS[0]);
    assert_eq!(root.unwrap().remove_empty_folder(&path("d")).unwrap_err(), refused("d"));
}

#[test]
#[ignore = "runs in a namespace, started by a_file_that_became_a_mount_point_is_refused_as_one"]
fn child_that_mounts() {
    let Some(folder) = namespace::folder_of_child() else { return };
    let workspace = folder.join("workspace");
    let rules = RootRules::default();
    let root = FileRoot::open_with_method(&workspace, &rules, FsPolicy::default(), METHODS[0]).unwrap();
    let staged = root.stage(&path("a.txt"), b"y", FileMode::Keep).unwrap();
    rustix::mount::mount_bind(workspace.join("source.txt"), workspace.join("a.txt")).unwrap();
    // The mark is looked at when a version is staged, so this is the EBUSY of the exchange.
    let error = staged.publish(Expected::Content(ContentHash::of(b"x"))).unwrap_err();
    assert_eq!(error, FsError::ReadOnly { path: path("a.txt"), reason: ReadOnlyReason::MountPoint });
}

#[test]
fn a_file_that_became_a_mount_point_is_refused_as_one() {
    let sandbox = Sandbox::new();
    sandbox.file("a.txt", "x");
    sandbox.file("source.txt", "x");
    namespace::run("mount_points::child_that_mounts", "true", sandbox.top());
    assert_eq!(sandbox.read("a.txt"), "x");
    assert!(sandbox.leftovers().is_empty());
}
