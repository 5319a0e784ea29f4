//! The clipboard of the desktop, held by this process.

use arboard::Clipboard;

/// A connection to the clipboard of the desktop. What it puts there is there for as long as the connection.
pub(crate) struct DesktopClipboard(Clipboard);

impl DesktopClipboard {
    /// Connects; `None` where there is no desktop.
    pub(crate) fn open() -> Option<DesktopClipboard> {
        Clipboard::new().ok().map(DesktopClipboard)
    }

    /// Reads the text on the clipboard; `None` if there is none, as with a picture.
    pub(crate) fn read(&mut self) -> Option<String> {
        self.0.get_text().ok()
    }

    /// Puts a text on the clipboard. Returns false if that failed.
    pub(crate) fn write(&mut self, text: &str) -> bool {
        self.0.set_text(text).is_ok()
    }
}
