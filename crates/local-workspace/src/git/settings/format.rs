//! The format of a repository's objects and references, as set by its settings.

use git_index::ObjectFormat;

use crate::git::settings::text::{Setting, settings};

/// Returns the object format that a settings file sets; `None` if it cannot be read with certainty. Git takes it from
/// the last line that names it, and obeys it only with version 1 of the repository's format.
pub(crate) fn object_format(bytes: &[u8]) -> Option<ObjectFormat> {
    const KEY: &[u8] = b"objectformat";
    let Some(all) = settings(bytes) else {
        // Every spelling contains its name.
        let may_name = bytes.windows(KEY.len()).any(|part| part.eq_ignore_ascii_case(KEY));
        return (!may_name).then(ObjectFormat::default);
    };
    let is_sha256 = extension(&all, Setting::is_object_format) == Some("sha256");
    Some(if is_sha256 { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 })
}

/// Returns whether an existing repository keeps the format set by `before`, which is `None` for a new one.
///
/// In another format git would see none of its branches, and remove their objects. An ignored extension of the user
/// would come into force with another format version.
pub(crate) fn keeps_format(before: Option<&[u8]>, after: &[u8]) -> bool {
    let (Some(before), Some(after)) = (before.map_or_else(|| Some(Vec::new()), settings), settings(after))
    else {
        return false;
    };
    let is_other_extension = |setting: &Setting| setting.is_extension() && !setting.is_switch();
    let keeps_version =
        has_extensions(&before) == has_extensions(&after) || !before.iter().any(is_other_extension);
    let references = |settings: &[Setting]| {
        extension(settings, Setting::is_reference_format).unwrap_or("files").to_owned()
    };
    let objects =
        |settings: &[Setting]| extension(settings, Setting::is_object_format).unwrap_or("sha1").to_owned();
    keeps_version && references(&before) == references(&after) && objects(&before) == objects(&after)
}

/// Returns whether a repository is a partial clone by its settings, which fetches objects on demand.
pub(crate) fn fetches_objects(bytes: &[u8]) -> bool {
    const KEYS: [&str; 2] = ["partialclone", "promisor"];
    let is_such = |setting: &Setting| {
        setting.is_extension() && setting.key == KEYS[0]
            || setting.name_in("remote").is_some() && setting.key == KEYS[1]
    };
    settings(bytes).map_or_else(
        || {
            let text = bytes.to_ascii_lowercase();
            KEYS.iter().any(|key| text.windows(key.len()).any(|part| part == key.as_bytes()))
        },
        |settings| settings.iter().any(is_such),
    )
}

/// Returns whether git obeys extensions.
pub(super) fn has_extensions(settings: &[Setting]) -> bool {
    last_value(settings, Setting::is_format_version) == Some("1")
}

/// Returns the value of an extension that git obeys.
fn extension(settings: &[Setting], is_wanted: impl Fn(&Setting) -> bool) -> Option<&str> {
    last_value(settings, is_wanted).filter(|_| has_extensions(settings))
}

/// Returns the value of the last of these settings.
fn last_value(settings: &[Setting], is_wanted: impl Fn(&Setting) -> bool) -> Option<&str> {
    settings.iter().rfind(|setting| is_wanted(setting))?.value.as_deref()
}

impl Setting {
    pub(super) fn is_format_version(&self) -> bool {
        !self.is_named && &*self.section == "core" && self.key == "repositoryformatversion"
    }

    pub(super) fn is_extension(&self) -> bool {
        !self.is_named && &*self.section == "extensions"
    }

    pub(super) fn is_object_format(&self) -> bool {
        self.is_extension() && self.key == "objectformat"
    }

    fn is_reference_format(&self) -> bool {
        self.is_extension() && self.key == "refstorage"
    }

    /// Returns whether it makes git obey a `config.worktree`.
    pub(super) fn is_switch(&self) -> bool {
        self.is_extension() && self.key == "worktreeconfig"
    }
}
