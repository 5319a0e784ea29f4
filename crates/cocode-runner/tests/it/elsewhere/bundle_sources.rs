use std::fs;
use std::path::Path;

use cocode_runner::{BUNDLE_LIMIT_BYTES, BundleError, BundleHeader, BundleSource};

use crate::fixture::Fixture;

fn source(fixture: &Fixture, folder: &Path) -> Result<BundleSource, BundleError> {
    BundleSource::open(&fixture.host, folder)
}

fn header(file: &Path) -> BundleHeader {
    BundleHeader::read(&mut fs::read(file).unwrap().as_slice()).unwrap().0
}

/// Adds a commit with one file and returns its name.
fn commit(fixture: &Fixture, name: &str, text: &str) -> String {
    fs::write(fixture.repository().join(name), text).unwrap();
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "-q", "-m", name]);
    fixture.git(&["rev-parse", "HEAD"])
}

#[test]
fn git_itself_reads_the_bundles() {
    for format in ["sha1", "sha256"] {
        let fixture = Fixture::new();
        fs::remove_dir_all(fixture.repository().join(".git")).unwrap();
        fixture.git(&["init", "-q", "-b", "main", "--object-format", format]);
        commit(&fixture, "a.txt", "a\n");
        let old = commit(&fixture, "old.txt", &"a long file\n".repeat(1000));
        let new = commit(&fixture, "new.txt", "x\n");
        let other = fixture.root.join("other");
        fs::create_dir(&other).unwrap();
        fixture.git_in(&other, &["init", "-q", "-b", "main", "--object-format", format]);
        let source = source(&fixture, &fixture.repository()).unwrap();
        let [whole, thin] = ["whole", "thin"].map(|name| fixture.root.join(name));
        let size = source.write(&old, &[], &whole, BUNDLE_LIMIT_BYTES).unwrap();
        // Two commits, two trees, a.txt and old.txt.
        assert_eq!((size.objects, size.bytes), (6, fs::metadata(&whole).unwrap().len()), "{format}");
        assert_eq!(header(&whole).prerequisites, Vec::<String>::new());
        let git = |arguments: &[&str]| fixture.git_in(&other, arguments);
        git(&["bundle", "verify", "-q", whole.to_str().unwrap()]);
        assert_eq!(git(&["bundle", "unbundle", whole.to_str().unwrap()]), format!("{old} refs/cocode/tip"));
        git(&["update-ref", "refs/heads/main", &old]);
        let size = source.write(&new, std::slice::from_ref(&old), &thin, BUNDLE_LIMIT_BYTES).unwrap();
        assert_eq!(size.objects, 3, "{format}");
        assert_eq!(header(&thin).prerequisites, [old]);
        git(&["bundle", "verify", "-q", thin.to_str().unwrap()]);
        git(&["bundle", "unbundle", thin.to_str().unwrap()]);
        git(&["fsck", "--strict", &new]);
    }
}

#[test]
fn only_ancestors_that_are_here_become_prerequisites() {
    let fixture = Fixture::new();
    let start = fixture.git(&["rev-parse", "HEAD"]);
    fixture.git(&["checkout", "-q", "-b", "side"]);
    let side = commit(&fixture, "side.txt", "x");
    fixture.git(&["checkout", "-q", "main"]);
    let tip = commit(&fixture, "tip.txt", "x");
    let missing = "1".repeat(40);
    let tree = fixture.git(&["rev-parse", "HEAD^{tree}"]);
    let names = [side, start.clone(), missing, tree, "main".into(), start.clone(), "-x\n".into()];
    let file = fixture.root.join("bundle");
    let source = source(&fixture, &fixture.repository()).unwrap();
    let size = source.write(&tip, &names, &file, BUNDLE_LIMIT_BYTES).unwrap();
    assert_eq!((header(&file).prerequisites, size.objects), (vec![start], 3));
    // The tip itself is known: the bundle has no objects.
    let size = source.write(&tip, std::slice::from_ref(&tip), &file, BUNDLE_LIMIT_BYTES).unwrap();
    assert_eq!((header(&file).prerequisites, size.objects), (vec![tip], 0));
}

#[test]
fn the_size_limit_is_exact_and_leaves_nothing() {
    let fixture = Fixture::new();
    let noise: String =
        (0..20_000_u64).map(|number| format!("{:x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let tip = commit(&fixture, "noise.txt", &noise);
    let source = source(&fixture, &fixture.repository()).unwrap();
    let folder = fixture.root.join("out");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("bundle");
    let bytes = source.write(&tip, &[], &file, BUNDLE_LIMIT_BYTES).unwrap().bytes;
    assert!(bytes > 50_000, "{bytes}");
    fs::remove_file(&file).unwrap();
    for limit in [bytes - 1, bytes / 2, 200, 1] {
        let error = source.write(&tip, &[], &file, limit).unwrap_err();
        assert!(matches!(error, BundleError::TooLarge { limit_bytes } if limit_bytes == limit), "{error:?}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }
    assert_eq!(source.write(&tip, &[], &file, bytes).unwrap().bytes, bytes);
}

#[test]
fn incomplete_repositories_are_refused_with_the_remedy() {
    let fixture = Fixture::new();
    commit(&fixture, "b.txt", "b");
    fixture.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", fixture.repository().display());
    fixture.git_in(&fixture.root, &["clone", "-q", "--depth=1", &url, "shallow"]);
    fixture.git_in(&fixture.root, &["clone", "-q", "--filter=blob:none", &url, "partial"]);
    fixture.git_in(&fixture.root, &["clone", "-q", &url, "whole"]);
    let open = |name: &str| source(&fixture, &fixture.root.join(name));
    let missing = open("whole").unwrap().write(&"1".repeat(40), &[], &fixture.root.join("x"), 1 << 20);
    let no_name = open("whole").unwrap().write("main", &[], &fixture.root.join("x"), 1 << 20);
    let errors = [
        open("shallow").unwrap_err(),
        open("partial").unwrap_err(),
        missing.unwrap_err(),
        no_name.unwrap_err(),
        open("home").unwrap_err(),
    ];
    insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"), @r"
    the repository is shallow, so its history cannot be sent: run `git fetch --unshallow` first
    the repository is a partial clone, so its files cannot be sent: make a full one with `git clone`, without --filter
    the repository has no commit 1111111111111111111111111111111111111111: fetch it, or name a branch that is here
    the repository has no commit main: fetch it, or name a branch that is here
    this folder belongs to no git repository
    ");
}

#[test]
fn warnings_name_what_is_not_sent() {
    let fixture = Fixture::new();
    let start = fixture.git(&["rev-parse", "HEAD"]);
    let source = source(&fixture, &fixture.repository()).unwrap();
    assert_eq!(source.warnings(&start).unwrap(), Vec::<String>::new());
    fs::create_dir(fixture.repository().join("art")).unwrap();
    fs::write(fixture.repository().join("art/.gitattributes"), "*.psd filter=lfs diff=lfs\n").unwrap();
    // Not one of the files that name filters.
    fs::write(fixture.repository().join("notes.txt"), "filter=lfs\n").unwrap();
    fixture.git(&["add", "."]);
    fixture.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{start},vendor/lib")]);
    fixture.git(&["commit", "-q", "-m", "x"]);
    let commit = fixture.git(&["rev-parse", "HEAD"]);
    let warnings = source.warnings(&commit).unwrap().join("\n");
    insta::assert_snapshot!(warnings, @r"
    the contents of submodules are not sent: vendor/lib
    of files in Git LFS only the pointers are sent, not the contents, by: art/.gitattributes
    ");
}
