//! The styles of the view.

use ratatui::style::{Color, Modifier, Style};

/// The styles: with the terminal's own colours, or with none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    has_colours: bool,
}

impl Palette {
    /// Colours of the terminal's theme, so that they fit a light and a dark one.
    #[must_use]
    pub fn coloured() -> Palette {
        Palette { has_colours: true }
    }

    /// No colours; only bold, faint and inverse. Colour is never the only carrier of information in the view.
    #[must_use]
    pub fn plain() -> Palette {
        Palette { has_colours: false }
    }

    pub(crate) fn good(self) -> Style {
        self.colour(Color::Green)
    }

    pub(crate) fn bad(self) -> Style {
        self.colour(Color::Red)
    }

    pub(crate) fn note(self) -> Style {
        self.colour(Color::Yellow)
    }

    pub(crate) fn title(self) -> Style {
        self.colour(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    fn colour(self, colour: Color) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new() }
    }
}
