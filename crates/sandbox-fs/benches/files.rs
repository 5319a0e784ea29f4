//! The cost of confinement, next to the same work through ordinary paths.

use std::fs;
use std::path::PathBuf;

use divan::{Bencher, black_box};
use rel_path::RelPath;
use sandbox_fs::{ContentHash, Expected, FileMode, FileRoot, FsPolicy, ResolveMethod, RootRules, WalkLimits};
use tempfile::TempDir;

const METHODS: [ResolveMethod; 2] = [ResolveMethod::Openat2, ResolveMethod::Walker];
const DEEP: &str = "src/one/two/three/file.rs";

fn main() {
    divan::main();
}

struct Project {
    folder: TempDir,
}

impl Project {
    fn new() -> Project {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let project = Project { folder };
        project.file(DEEP, &[b'x'; 4096]);
        project.file("big.txt", &vec![b'x'; 1 << 20]);
        project
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn file(&self, path: &str, content: &[u8]) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders can be made");
        fs::write(path, content).expect("a file can be written");
    }

    fn root(&self, method: ResolveMethod) -> FileRoot {
        let path = self.folder.path();
        FileRoot::open_with_method(path, &RootRules::default(), FsPolicy::default(), method)
            .expect("the temporary folder is a good root")
    }
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).expect("a path of this file is valid")
}

#[divan::bench(args = METHODS)]
fn open_and_read_4_kib(bencher: Bencher, method: ResolveMethod) {
    let project = Project::new();
    let (root, path) = (project.root(method), path(DEEP));
    bencher.bench_local(|| root.open_file(black_box(&path)).and_then(|file| file.read_to_end(1 << 20)));
}

#[divan::bench]
fn open_and_read_4_kib_by_name(bencher: Bencher) {
    let project = Project::new();
    let path = project.at(DEEP);
    bencher.bench_local(|| fs::read(black_box(&path)));
}

#[divan::bench(args = METHODS)]
fn open_and_read_1_mib(bencher: Bencher, method: ResolveMethod) {
    let project = Project::new();
    let (root, path) = (project.root(method), path("big.txt"));
    bencher.bench_local(|| root.open_file(black_box(&path)).and_then(|file| file.read_to_end(1 << 20)));
}

#[divan::bench(args = METHODS)]
fn replace_4_kib(bencher: Bencher, method: ResolveMethod) {
    let project = Project::new();
    let (root, path) = (project.root(method), path(DEEP));
    let content = [b'x'; 4096];
    let expected = Expected::Content(ContentHash::of(&content));
    bencher.bench_local(|| {
        let staged = root.stage(black_box(&path), &content, FileMode::Keep).expect("it can be staged");
        staged.publish(expected).expect("no other process writes it")
    });
}

#[divan::bench]
fn replace_4_kib_by_name(bencher: Bencher) {
    let project = Project::new();
    let (path, temporary) = (project.at(DEEP), project.at("src/one/two/three/temp"));
    bencher.bench_local(|| fs::write(&temporary, [b'x'; 4096]).and_then(|()| fs::rename(&temporary, &path)));
}

#[divan::bench(args = METHODS, sample_count = 10)]
fn walk_20_000_files(bencher: Bencher, method: ResolveMethod) {
    let project = Project::new();
    for number in 0..20_000 {
        project.file(&format!("tree/{}/{}/{number}.rs", number % 10, number % 200), b"");
    }
    let root = project.root(method);
    bencher.bench_local(|| {
        let walk = root.walk(&RelPath::root(), WalkLimits::default()).expect("the root can be walked");
        walk.count()
    });
}
