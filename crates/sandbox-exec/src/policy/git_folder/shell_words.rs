//! Splits shell commands into words, as far as needed to find the files that they name.

use std::iter::Peekable;
use std::str::Chars;

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    /// The end of a simple command.
    End,
}

/// A word without its quote marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub start: Start,
    /// The text after the start.
    pub text: String,
}

/// The beginning of a word that the shell expands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Start {
    /// Nothing to expand.
    #[default]
    Plain,
    /// The home folder, before a slash.
    Home,
    /// The value of a variable; the name is empty for a parameter such as `$1`.
    Variable(String),
    /// The output of a command.
    Output,
}

/// An open bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// A subshell, or the brackets of a function.
    Group,
    /// `$(`; `is_quoted` if it is between double quote marks.
    Output { is_quoted: bool },
}

/// Splits a command. Substituted commands are split as well; an expansion within a word is left unchanged.
pub(super) fn tokens(command: &str) -> Vec<Token> {
    let mut reading = Lexer {
        characters: command.chars().peekable(),
        tokens: Vec::new(),
        word: None,
        is_quoted: false,
        open: Vec::new(),
        backtick: None,
    };
    while let Some(next) = reading.characters.next() {
        reading.take(next);
    }
    reading.end();
    reading.tokens
}

struct Lexer<'a> {
    characters: Peekable<Chars<'a>>,
    tokens: Vec<Token>,
    word: Option<Word>,
    /// True between double quote marks.
    is_quoted: bool,
    open: Vec<Open>,
    /// Within backquotes: true if they are between double quote marks.
    backtick: Option<bool>,
}

impl Lexer<'_> {
    fn take(&mut self, next: char) {
        match next {
            '"' => {
                self.is_quoted = !self.is_quoted;
                self.word.get_or_insert_default();
            }
            '\\' => match self.characters.next() {
                Some('\n') | None => {}
                Some(escaped) => self.push(escaped),
            },
            '$' => self.insertion(),
            '`' => match self.backtick.take() {
                Some(is_quoted) => self.end_of_output(is_quoted),
                None => {
                    self.backtick = Some(self.is_quoted);
                    self.begin_output();
                }
            },
            _ if self.is_quoted => self.push(next),
            '\'' => {
                let text: String = self.characters.by_ref().take_while(|next| *next != '\'').collect();
                self.word.get_or_insert_default().text.push_str(&text);
            }
            '\n' | ';' | '&' | '|' => self.end(),
            '(' => {
                self.open.push(Open::Group);
                self.end();
            }
            ')' => match self.open.pop() {
                Some(Open::Output { is_quoted }) => self.end_of_output(is_quoted),
                Some(Open::Group) | None => self.end(),
            },
            '<' | '>' => self.end_word(),
            _ if next.is_whitespace() => self.end_word(),
            '#' if self.word.is_none() => {
                self.characters.by_ref().find(|next| *next == '\n');
                self.end();
            }
            '~' if self.word.is_none() && self.characters.peek() == Some(&'/') => {
                self.word = Some(Word { start: Start::Home, text: String::new() });
            }
            _ => self.push(next),
        }
    }

    /// Reads an expansion after its `$`.
    fn insertion(&mut self) {
        if self.characters.next_if_eq(&'(').is_some() {
            self.open.push(Open::Output { is_quoted: self.is_quoted });
            self.begin_output();
            return;
        }
        let is_of_name = |next: &char| next.is_ascii_alphanumeric() || *next == '_';
        let mut name = String::new();
        if self.characters.next_if_eq(&'{').is_some() {
            let inside: String = self.characters.by_ref().take_while(|next| *next != '}').collect();
            // `${NAME:-value}` begins with its name.
            name.extend(inside.chars().take_while(is_of_name));
        } else {
            while let Some(next) = self.characters.next_if(is_of_name) {
                name.push(next);
            }
            // `$@` and the like.
            if name.is_empty() {
                self.characters
                    .next_if(|next| next.is_ascii_punctuation() && !matches!(next, '"' | '\'' | '/'));
            }
        }
        match &mut self.word {
            Some(word) if !word.text.is_empty() || word.start != Start::Plain => {
                word.text.push('$');
                word.text.push_str(&name);
            }
            _ => {
                let start = if name == "HOME" { Start::Home } else { Start::Variable(name) };
                self.word = Some(Word { start, text: String::new() });
            }
        }
    }

    fn push(&mut self, next: char) {
        self.word.get_or_insert_default().text.push(next);
    }

    fn begin_output(&mut self) {
        self.is_quoted = false;
        // A quote mark before it does not begin a separate word.
        self.word.take_if(|word| *word == Word::default());
        self.end();
    }

    fn end_of_output(&mut self, is_quoted: bool) {
        self.end();
        self.is_quoted = is_quoted;
        self.word = Some(Word { start: Start::Output, text: String::new() });
    }

    fn end_word(&mut self) {
        self.tokens.extend(self.word.take().map(Token::Word));
    }

    fn end(&mut self) {
        self.end_word();
        if self.tokens.last().is_some_and(|last| *last != Token::End) {
            self.tokens.push(Token::End);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders the words of simple commands, with `|` between commands.
    fn rendered(command: &str) -> String {
        let text = |token: &Token| match token {
            Token::End => "|".to_owned(),
            Token::Word(Word { start, text }) => match start {
                Start::Plain => format!("[{text}]"),
                Start::Home => format!("[~{text}]"),
                Start::Variable(name) => format!("[${name}+{text}]"),
                Start::Output => format!("[()+{text}]"),
            },
        };
        tokens(command).iter().map(text).collect()
    }

    #[test]
    fn words_are_those_of_the_shell() {
        let rows = [
            ("a 'b c' \"d e\"f g\\ h", "[a][b c][d ef][g h]|"),
            ("~/x \"$HOME\"/y ${HOME}/z ~user/a", "[~/x][~/y][~/z][~user/a]|"),
            ("$A/x ${B:-c}/y \"$@\" $1 a$A", "[$A+/x][$B+/y][$+][$1+][a$A]|"),
            ("cd a && ./b; c | d\ne & f", "[cd][a]|[./b]|[c]|[d]|[e]|[f]|"),
            ("f() { ./x \"$@\"; }; f", "[f]|[{][./x][$+]|[}]|[f]|"),
            ("\"$(git rev-parse --show-toplevel)/a b\" c", "[git][rev-parse][--show-toplevel]|[()+/a b][c]|"),
            ("`git x`/a b", "[git][x]|[()+/a][b]|"),
            ("(cd a; b) >c 2>&1 # d", "[cd][a]|[b]|[c][2]|[1]|"),
            ("'$(a)' \"b'c\" \\$d", "[$(a)][b'c][$d]|"),
            ("", ""),
            ("\"a", "[a]|"),
        ];
        for (command, expected) in rows {
            assert_eq!(rendered(command), expected, "{command}");
        }
    }
}
