//! The changes of a layer, rendered for a reader, and the text of every error.

use cow_layer::{AdoptError, LayerChange, LayerError, LayerName, Side, Unavailable};
use rel_path::RelPath;
use sandbox_fs::FsError;

use crate::fixture::{Fixture, look, save, set_mode, write};

fn render(change: &LayerChange) -> String {
    let side = |side: &Option<Side>| match side {
        None => "absent".to_owned(),
        Some(Side::File { mode, size_bytes }) => format!("file {mode:o}, {size_bytes} bytes"),
        Some(Side::Symlink { target }) => format!("link to {}", String::from_utf8_lossy(target)),
        Some(Side::Folder { mode }) => format!("folder {mode:o}"),
        Some(other) => format!("{other:?}").to_lowercase(),
    };
    let tree = change.tree.map_or(String::new(), |tree| format!(" [{} entries]", tree.entries));
    let saved = if change.saved_meanwhile { " [saved meanwhile]" } else { "" };
    format!("{}: {} -> {}{tree}{saved}", change.path, side(&change.before), side(&change.after))
}

#[test]
fn a_listing_shows_both_sides_of_every_kind_of_change() {
    let fixture =
        Fixture::with_files(&["edited", "executable", "gone", "saved", "dir/kept", "old/one", "was-file"]);
    for name in ["edited", "executable", "gone", "saved", "dir/kept", "old/one", "was-file"] {
        set_mode(&fixture.workspace().join(name), 0o644);
    }
    for name in ["dir", "old"] {
        set_mode(&fixture.workspace().join(name), 0o755);
    }
    let (layer, upper) = fixture.layer();
    let upper_mode = |name: &str, mode| set_mode(&upper.path.join(name), mode);
    upper.write("edited", "a longer text\n");
    upper_mode("edited", 0o644);
    upper.write("executable", "executable\n");
    upper_mode("executable", 0o755);
    upper.remove("gone");
    upper.write("saved", "by the command\n");
    upper_mode("saved", 0o644);
    upper.link("link", "dir/kept");
    upper.set_folder_mode("dir", 0o700);
    upper.remove("old");
    upper.make_folder("new");
    write(&upper.path.join("new/inner"), "inner\n");
    upper_mode("new", 0o755);
    upper_mode("new/inner", 0o644);
    upper.remove("was-file");
    save(&fixture.workspace().join("saved"), "by another program\n");
    set_mode(&fixture.workspace().join("saved"), 0o644);
    let lines: Vec<String> = look(&layer).iter().map(render).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn every_error_has_a_text_that_names_the_path() {
    let path = || RelPath::parse("dir/a.txt").unwrap();
    let root_gone = || FsError::RootGone { replaced: false };
    let texts = [
        Unavailable::NoPath.to_string(),
        Unavailable::FolderMoved.to_string(),
        Unavailable::NoExchange { errno: 18 }.to_string(),
        Unavailable::CoarseTimes.to_string(),
        Unavailable::System { errno: 30 }.to_string(),
        LayerError::Exists.to_string(),
        LayerError::NotFound.to_string(),
        LayerError::Incomplete.to_string(),
        LayerError::TooManyEntries { limit: 10 }.to_string(),
        LayerError::CoarseTimes.to_string(),
        LayerError::NoSpace.to_string(),
        LayerError::Workspace(root_gone()).to_string(),
        LayerError::System { path: path(), errno: 5 }.to_string(),
        AdoptError::Changed { path: path() }.to_string(),
        AdoptError::FolderNotEmpty { path: path() }.to_string(),
        AdoptError::ParentMissing { folder: path() }.to_string(),
        AdoptError::NotInLayer { path: path() }.to_string(),
        AdoptError::Device { path: path() }.to_string(),
        AdoptError::Shared { path: path() }.to_string(),
        AdoptError::LeftInLayer { path: path() }.to_string(),
        AdoptError::OsPermission { path: path() }.to_string(),
        AdoptError::NoSpace { path: path() }.to_string(),
        AdoptError::Workspace(root_gone()).to_string(),
        AdoptError::System { path: path(), errno: 5 }.to_string(),
        "A name".parse::<LayerName>().unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(texts.join("\n"));
}
