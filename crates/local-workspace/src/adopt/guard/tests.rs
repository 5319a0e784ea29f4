//! The work of sorting grows with the effects, not with their number times the size of the settings that they depend
//! on.

use std::fs;

use sandbox_fs::{FsPolicy, RootRules};

use super::*;
use crate::adopt::entry_beginnings::LISTS_BUILT;
use crate::change::present::Present;
use crate::command::effect::EffectSide;
use crate::git::packed_names::LISTS_READ;
use crate::git::settings::FILES_READ;
use crate::git::stored_names::{INDEXES_READ, OBJECTS_JUDGED};

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn file(name: &str, text: impl AsRef<[u8]>) -> Effect {
    let after = Some(EffectSide::Kept(Present::file(text.as_ref().to_vec(), Some(0o644))));
    Effect { path: path(name), before: None, after }
}

fn folder(name: &str) -> Effect {
    Effect { path: path(name), before: None, after: Some(EffectSide::folder(0o755)) }
}

/// Sorts effects of a command on a layer over a folder with these files, and returns how many settings files were read as well.
fn sorted<Text: AsRef<[u8]>>(files: &[(&str, Text)], effects: Vec<Effect>) -> (Sorted, usize) {
    let workspace = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = workspace.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let root = FileRoot::open(workspace.path(), &RootRules::default(), FsPolicy::default()).unwrap();
    let was_there = |path: &RelPath| root.metadata(path).is_ok();
    let guard = Guard {
        protected: &root.policy().protected,
        hidden: &Hidden::new(None),
        was_there: &was_there,
        is_there_now: &was_there,
        is_layered: true,
        written_through: &[],
        root: &root,
    };
    let before = FILES_READ.get();
    let sorted = guard.sort(effects);
    (sorted, FILES_READ.get() - before)
}

const SETTINGS: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
const COMMIT: &str = "0123456789012345678901234567890123456789\n";

/// A commit without files or parents, as git compresses it. Its name is not compared.
const COMMIT_FILE: &[u8] = b"x\xdaK\xce\xcf\xcd\xcd,Q01c()JMU0I\xb202MI631JN2KM\xb2L403H55IJ\xb3H1\xb34\xb2\xb0HKJM5\xb140\xe1\x02\x00\xe4\x09\x10\x1e";

/// The file of that commit.
fn object() -> Effect {
    file(&format!(".git/objects/{}/{}", &COMMIT[..2], COMMIT[2..].trim_end()), COMMIT_FILE)
}

fn references(count: usize) -> impl Iterator<Item = Effect> {
    (0..count).map(|number| file(&format!(".git/refs/heads/b{number}"), COMMIT))
}

#[test]
fn settings_are_read_once_for_all_references_of_a_repository() {
    let work = |count: usize, is_new: bool| {
        let mut effects: Vec<_> = references(count).chain([object()]).collect();
        if is_new {
            effects.extend([
                folder(".git"),
                file(".git/config", SETTINGS),
                file(".git/HEAD", "ref: refs/heads/b0\n"),
            ]);
        }
        let all = effects.len();
        let mine = [(".git/config", SETTINGS), (".git/HEAD", "ref: refs/heads/main\n")];
        let (sorted, read) = sorted(if is_new { &[] } else { &mine }, effects);
        assert_eq!(sorted.allowed.len(), all, "{:?}", sorted.refused);
        assert!(read > 0, "the count counts");
        read
    };
    for is_new in [true, false] {
        assert_eq!(work(2, is_new), work(200, is_new), "new: {is_new}");
    }
}

#[test]
fn settings_are_read_once_for_all_files_that_lead_to_a_submodule() {
    let module = [
        folder(".git/modules/s"),
        file(".git/modules/s/config", format!("{SETTINGS}\tworktree = ../../../s0\n")),
    ];
    let work = |count: usize| {
        let links = (0..count).map(|number| file(&format!("s{number}/.git"), "gitdir: ../.git/modules/s\n"));
        let (sorted, read) = sorted(&[(".git/config", SETTINGS)], links.chain(module.clone()).collect());
        // The control: a single one fits.
        assert_eq!(sorted.refused.len(), count - 1, "{:?}", sorted.refused);
        assert!(read > 0, "the count counts");
        read
    };
    assert_eq!(work(2), work(200));
}

#[test]
fn beginnings_of_protected_names_are_listed_once_for_all_links() {
    let work = |count: usize| {
        let link = |name: String| Effect {
            path: path(&name),
            before: None,
            after: Some(EffectSide::link(b"elsewhere".to_vec())),
        };
        let links = (0..count).map(|number| link(format!("links/l{number}")));
        let before = LISTS_BUILT.get();
        let (sorted, _) = sorted::<&str>(&[], links.chain([link("x/.cargo".to_owned())]).collect());
        // The control: a link in place of a folder with a protected name.
        let refused: Vec<_> =
            sorted.refused.iter().map(|(effect, why)| (effect.path.to_string(), why)).collect();
        assert_eq!(refused, [("x/.cargo".to_owned(), &Refusal::Link)]);
        LISTS_BUILT.get() - before
    };
    assert_eq!((work(2), work(200)), (1, 1));
}

#[test]
fn packed_references_are_read_once_for_all_folders_of_logs() {
    let work = |count: usize| {
        let list = format!("{} refs/heads/taken\n", COMMIT.trim_end());
        let logs = (0..count).map(|number| folder(&format!(".git/logs/refs/heads/d{number}")));
        // The control: git keeps a log there.
        let taken = folder(".git/logs/refs/heads/taken");
        let mine = [(".git/config", SETTINGS), (".git/HEAD", "ref: refs/heads/main\n")];
        let before = LISTS_READ.get();
        let effects = logs.chain([taken, object(), file(".git/packed-refs", &list)]).collect();
        let (sorted, _) = sorted(&mine, effects);
        let refused: Vec<_> =
            sorted.refused.iter().map(|(effect, why)| (effect.path.to_string(), why)).collect();
        assert_eq!(refused, [(".git/logs/refs/heads/taken".to_owned(), &Refusal::FolderForFile)]);
        LISTS_READ.get() - before
    };
    assert_eq!((work(2), work(200)), (1, 1));
}

/// The file of a loose object, as git would write it without compression.
fn loose(kind: &str, content: &[u8]) -> Vec<u8> {
    let text = [format!("{kind} {}\0", content.len()).as_bytes(), content].concat();
    let mut file = vec![0x78, 0x01];
    let mut blocks = text.chunks(0xffff).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap();
        file.push(u8::from(blocks.peek().is_none()));
        file.extend(length.to_le_bytes().into_iter().chain((!length).to_le_bytes()));
        file.extend_from_slice(block);
    }
    let (mut one, mut two) = (1_u32, 0_u32);
    for byte in text {
        one = (one + u32::from(byte)) % 65521;
        two = (two + one) % 65521;
    }
    file.extend((two << 16 | one).to_be_bytes());
    file
}

fn loose_file(number: usize, kind: &str, content: &[u8]) -> Effect {
    let name = format!("{number:040x}");
    file(&format!(".git/objects/{}/{}", &name[..2], &name[2..]), loose(kind, content))
}

const MINE: [(&str, &str); 2] = [(".git/config", SETTINGS), (".git/HEAD", "ref: refs/heads/main\n")];

/// Their names are not compared, so the order of the paths may run from the tip to the beginning.
#[test]
fn objects_are_judged_once_however_many_lead_to_what_is_missing() {
    let work = |count: usize, is_whole: bool| {
        let commit = |number: usize| {
            let parent = if number == count && is_whole {
                String::new()
            } else {
                format!("parent {:040x}\n", number + 1)
            };
            let text = format!("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n{parent}\n");
            loose_file(number, "commit", text.as_bytes())
        };
        let before = OBJECTS_JUDGED.get();
        let (sorted, _) = sorted(&MINE, (1..=count).map(commit).collect());
        // The control.
        let (allowed, refused) = if is_whole { (count, 0) } else { (0, count) };
        assert_eq!((sorted.allowed.len(), sorted.refused.len()), (allowed, refused), "{:?}", sorted.refused);
        OBJECTS_JUDGED.get() - before
    };
    for is_whole in [true, false] {
        let (few, many) = (work(50, is_whole), work(500, is_whole));
        assert!(few >= 50 && many <= 11 * few, "{few} {many}");
    }
}

#[test]
fn trees_are_inflated_up_to_a_limit() {
    let blob = [(".git/objects/00/0000000000000000000000000000000000ffff", COMMIT_FILE)];
    let mine: Vec<(&str, &[u8])> =
        MINE.iter().map(|(path, text)| (*path, text.as_bytes())).chain(blob).collect();
    let entry = [&b"100644 x\0"[..], &[0; 18], &[0xff; 2]].concat();
    let tree = |number: usize| loose_file(number, "tree", &entry.repeat(4_000));
    let refused = |count: usize| {
        let before = OBJECTS_JUDGED.get();
        let (sorted, _) = sorted(&mine, (1..=count).map(tree).collect());
        // An object is judged once however often a tree names it.
        assert!(OBJECTS_JUDGED.get() - before <= 8 * count, "{}", OBJECTS_JUDGED.get() - before);
        let too_many = sorted.refused.iter().filter(|(_, why)| *why == Refusal::TooManyObjects).count();
        assert_eq!((sorted.allowed.len() + too_many, sorted.refused.len()), (count, too_many));
        too_many
    };
    assert_eq!(refused(5), 0, "control");
    assert!((10..19).contains(&refused(20)));
}

/// An index of a pack with one object, whose checksums and offset are zeros.
fn pack_index(object: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&object[at..at + 2], 16).unwrap();
    let name: Vec<u8> = (0..40).step_by(2).map(digits).collect();
    let counts = (0..=255).flat_map(|first| u32::from(first >= name[0]).to_be_bytes());
    let head = b"\xfftOc\0\0\0\x02".iter().copied().chain(counts);
    head.chain(name.iter().copied()).chain([0; 4 + 4 + 2 * 20]).collect()
}

#[test]
fn indexes_of_packs_are_read_once_for_all_references() {
    let work = |count: usize| {
        let missing = file(".git/refs/heads/missing", COMMIT.replace('0', "f"));
        let mine = [
            (".git/config", SETTINGS.as_bytes().to_vec()),
            (".git/HEAD", b"ref: refs/heads/main\n".to_vec()),
            (".git/objects/pack/pack-x.idx", pack_index(COMMIT)),
            (".git/objects/pack/pack-x.pack", Vec::new()),
        ];
        let before = INDEXES_READ.get();
        let (sorted, _) = sorted(&mine, references(count).chain([missing]).collect());
        let refused: Vec<_> =
            sorted.refused.iter().map(|(effect, why)| (effect.path.to_string(), why)).collect();
        // The control: that one is in no pack.
        assert_eq!(refused, [(".git/refs/heads/missing".to_owned(), &Refusal::MissingObject)]);
        assert_eq!(sorted.allowed.len(), count);
        INDEXES_READ.get() - before
    };
    assert_eq!((work(2), work(200)), (1, 1));
}
