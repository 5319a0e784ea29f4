//! The smallest picture and the smallest sound.

/// A red point, as PNG in base64.
pub(crate) const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A sound without samples, as WAV in base64.
pub(crate) const SOUND: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// The type of the picture.
pub(crate) const PNG: &str = "image/png";

/// The type of the sound.
pub(crate) const WAV: &str = "audio/wav";
