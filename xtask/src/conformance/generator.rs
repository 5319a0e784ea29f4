//! Contents of a workspace that a case describes, and the orders by which it sets other things up.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::expected::{list, text};
use super::fixture::Fixture;
use super::problem::{Problem, ensure};

/// The most that is generated: what a case describes is written to the disk.
const MOST_BYTES: u64 = 64 << 20;
const MOST_FILES: u64 = 20_000;

/// Puts into the workspace what one member of `files` means; a name that begins with `_` is an order, of which a list means
/// several.
pub(super) fn set_up(fixture: &Fixture, name: &str, content: &Value) -> Result<(), Problem> {
    if !name.starts_with('_') {
        let content =
            content.as_str().ok_or_else(|| Problem::new(format!("{name} has no text: {content}")))?;
        return fixture.put(name, content);
    }
    if content.is_array() {
        return list(content).iter().try_for_each(|one| set_up(fixture, name, one));
    }
    let content = text(content);
    match name {
        "_symlink" => {
            let (link, target) = pair(content)?;
            fixture.link(link, target_of(fixture, target)?)
        }
        "_hardlink" => {
            let (link, target) = pair(content)?;
            Ok(fs::hard_link(target_of(fixture, target)?, fixture.workspace().join(link))?)
        }
        "_fifo" => {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            let (path, kind) = (fixture.workspace().join(content), rustix::fs::FileType::Fifo);
            Ok(rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0)?)
        }
        "_dir" | "_mkdir" | "_directory" => Ok(fs::create_dir_all(fixture.workspace().join(content))?),
        "_mode" | "_chmod" => {
            let (path, mode) =
                content.rsplit_once(' ').ok_or_else(|| Problem::new(format!("no mode: {content}")))?;
            let mode = fs::Permissions::from_mode(u32::from_str_radix(mode, 8)?);
            Ok(fs::set_permissions(fixture.workspace().join(path), mode)?)
        }
        "_generate" => generate(fixture, content),
        _ => Err(Problem::new(format!("the set-up '{name}' is not understood"))),
    }
}

fn pair(content: &str) -> Result<(&str, &str), Problem> {
    content.split_once(" -> ").ok_or_else(|| Problem::new(format!("no link: {content}")))
}

/// Returns the target of a link: a path outside by its description, or the path as it stands.
fn target_of(fixture: &Fixture, target: &str) -> Result<std::path::PathBuf, Problem> {
    Ok(match target {
        "directory outside" => fixture.outside().join("folder"),
        "file outside" | "file outside with 'hit'" => fixture.outside().join("file"),
        _ if target.contains(" outside") => {
            return Err(Problem::new(format!("the link's target '{target}' is not understood")));
        }
        _ => match target.strip_prefix("outside/") {
            Some(name) => fixture.outside().join(name),
            None => target.into(),
        },
    })
}

/// `500 empty files`, `20 empty folders`, `3 files of 10 bytes`, `big of 1048576 bytes`, `2 MiB, 20000 lines`, `300 lines`,
/// `deep of 30 levels`.
fn generate(fixture: &Fixture, described: &str) -> Result<(), Problem> {
    let unknown = || Problem::new(format!("the generator '{described}' is not understood"));
    let (name, amount) = described.split_once(" of ").unwrap_or(("", described));
    let words: Vec<&str> = amount.split_whitespace().collect();
    // `files` in front of the size: so many of them.
    if let Some((count, "files")) = name.split_once(' ') {
        let (count, size) = (number(count)?, size(&words).ok_or_else(unknown)?);
        ensure(count <= MOST_FILES && size <= MOST_BYTES / count.max(1), || {
            format!("{described} is too much")
        })?;
        let content = "x".repeat(usize::try_from(size)?);
        return (0..count).try_for_each(|index| fixture.put(&numbered(index, count), &content));
    }
    let name = if name.is_empty() { "big" } else { name };
    match words.as_slice() {
        [count, "empty", "files"] => {
            let count = number(count)?;
            ensure(count <= MOST_FILES, || format!("{described} is too much"))?;
            (0..count).try_for_each(|index| fixture.put(&numbered(index, count), ""))
        }
        [count, "empty", "folders" | "directories"] => {
            let count = number(count)?;
            ensure(count <= MOST_FILES, || format!("{described} is too much"))?;
            let make = |index| {
                fs::create_dir(fixture.workspace().join(format!("d{}", &numbered(index, count)[1..])))
            };
            Ok((0..count).try_for_each(make)?)
        }
        [count, "lines"] => {
            let count = number(count)?;
            ensure(count <= MOST_FILES * 50, || format!("{described} is too much"))?;
            let lines: String = (1..=count).map(|line| format!("line {line}\n")).collect();
            fixture.put(name, lines)
        }
        [count, "levels"] => {
            let count = number(count)?;
            ensure(count <= 200, || format!("{described} is too much"))?;
            fixture.put(&format!("{}file", format!("{name}/").repeat(usize::try_from(count)?)), "deep\n")
        }
        [amount, unit, lines, "lines"] if unit.ends_with(',') => {
            let bytes = size(&[amount, unit.trim_end_matches(',')]).ok_or_else(unknown)?;
            let lines = number(lines)?;
            ensure(bytes <= MOST_BYTES && (1..=bytes).contains(&lines), || {
                format!("{described} is too much")
            })?;
            let line = format!("{}\n", "y".repeat(usize::try_from(bytes.div_ceil(lines) - 1)?));
            fixture.put(name, line.repeat(usize::try_from(lines)?))
        }
        words => {
            let bytes = size(words).ok_or_else(unknown)?;
            ensure(bytes <= MOST_BYTES, || format!("{described} is too much"))?;
            fixture.put(name, "x".repeat(usize::try_from(bytes)?))
        }
    }
}

/// The name of one of so many files, all of one length.
fn numbered(index: u64, count: u64) -> String {
    let width = count.saturating_sub(1).to_string().len().max(3);
    format!("f{index:0width$}")
}

fn number(text: &str) -> Result<u64, Problem> {
    text.replace(',', "").parse().map_err(|_| Problem::new(format!("'{text}' is not a number")))
}

fn size(words: &[&str]) -> Option<u64> {
    let [amount, unit] = words else { return None };
    let unit = match *unit {
        "byte" | "bytes" | "B" => 1,
        "kB" | "KB" => 1_000,
        "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "MiB" => 1 << 20,
        _ => return None,
    };
    amount.replace(',', "").parse::<u64>().ok()?.checked_mul(unit)
}
