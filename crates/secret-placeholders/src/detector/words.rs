//! A measure of texts that read like words, whatever their language, and not like random letters.

/// The frequency of a letter after another in words, from 0 to 9; [`NEUTRAL`] is as often as by chance. The first row and
/// column stand for the start and the end of a word, the others for the letters of the alphabet. Counted in the names
/// and comments of some thousand libraries, and in messages of forty languages.
const FOLLOWS: [&[u8; 27]; 27] = [
    b"076877655724676572787555101",
    b"206770250604868060879442340",
    b"383548220841942730774710050",
    b"382538248607632930668521030",
    b"673259330810533620663522020",
    b"562784541301658253987243620",
    b"472467720901744830775600040",
    b"662319246701546531763611110",
    b"592149100801453810646503040",
    b"164766660001669850578050305",
    b"392429342614135951275814131",
    b"674459332812535640576404020",
    b"482359320904822830256530070",
    b"496339210802361780264600010",
    b"472778582604314730289441020",
    b"234763440404779560866756200",
    b"482438325702721870967512040",
    b"554365330300634243564923000",
    b"582459340804464740576532050",
    b"650628236803433661278602041",
    b"571439316900432730765512250",
    b"166646450601879370888000200",
    b"492339411900443630344100100",
    b"492358307801538741774201110",
    b"572748524800341493449311330",
    b"733425130501566480375013012",
    b"482239232800335710041311145",
];

const NEUTRAL: i32 = 6;

/// The cost of digits between letters.
const DIGITS_COST: i32 = 4;

/// The maximum number of characters examined.
const MOST_CHARACTERS: usize = 512;

/// Parts of words in names and messages about passwords, in lower case.
const OF_PASSWORDS: [&str; 26] = [
    "pass",
    "pwd",
    "secret",
    "auth",
    "crypt",
    "hash",
    "kennwort",
    "contrase",
    "senha",
    "heslo",
    "hasło",
    "haslo",
    "wachtwoord",
    "lösenord",
    "jelszó",
    "пароль",
    "charact",
    "zeichen",
    "caract",
    "teken",
    "least",
    "length",
    "must",
    "letter",
    "digit",
    "enter",
];

/// The score of a part about passwords.
const OF_PASSWORDS_WORTH: i32 = 10;

/// The score from which a text passes for words. Of sixteen random letters, one in two hundred does.
const LEAST_OF_WORDS: i32 = -4;

/// Checks for a text that passes for words: a name, a label, a message. Digits and punctuation do not count.
pub(crate) fn reads_like_words(text: &str) -> bool {
    worth(text) >= LEAST_OF_WORDS
}

/// Checks for a text that consists of words, with more certainty.
pub(crate) fn is_surely_of_words(text: &str) -> bool {
    worth(text) >= 0
}

/// Checks for letters that are not words, with more certainty.
pub(super) fn is_surely_random(text: &str) -> bool {
    worth(text) < 2 * LEAST_OF_WORDS
}

/// Checks for a word of messages about passwords.
pub(super) fn speaks_of_passwords(text: &str) -> bool {
    let lower = text.to_lowercase();
    OF_PASSWORDS.iter().any(|part| lower.contains(part))
}

fn worth(text: &str) -> i32 {
    let about = if speaks_of_passwords(text) { OF_PASSWORDS_WORTH } else { 0 };
    letters_worth(text) + about
}

/// Adds up how often the letters of a text follow each other.
fn letters_worth(text: &str) -> i32 {
    let characters: Vec<char> = text.chars().take(MOST_CHARACTERS).collect();
    let mut worth = 0;
    // The row of the previous letter; `None` if the table does not have it.
    let mut before = Some(0);
    let end_word = |before: &mut Option<usize>, worth: &mut i32| {
        *worth += before.filter(|row| *row > 0).map_or(0, |row| follows(row, 0));
        *before = Some(0);
    };
    let mut is_behind_digits = false;
    for (at, character) in characters.iter().enumerate() {
        if character.is_ascii_alphabetic() {
            if is_behind_digits || begins_word(&characters, at) {
                end_word(&mut before, &mut worth);
            }
            worth -= if is_behind_digits { DIGITS_COST } else { 0 };
            let row = usize::from(*character as u8 & 0x1f);
            worth += before.map_or(0, |before| follows(before, row));
            before = Some(row);
            is_behind_digits = false;
        } else if character.is_alphabetic() {
            worth += 1;
            before = None;
            is_behind_digits = false;
        } else {
            is_behind_digits =
                character.is_ascii_digit() && (is_behind_digits || before.is_none_or(|row| row > 0));
            end_word(&mut before, &mut worth);
        }
    }
    end_word(&mut before, &mut worth);
    worth
}

fn follows(before: usize, row: usize) -> i32 {
    i32::from(FOLLOWS[before][row] - b'0') - NEUTRAL
}

/// Checks for the first letter of a word in `camelCase` and `HTTPServer`.
fn begins_word(characters: &[char], at: usize) -> bool {
    let is = |at: Option<usize>, is: fn(&char) -> bool| at.and_then(|at| characters.get(at)).is_some_and(is);
    let before = at.checked_sub(1);
    characters[at].is_ascii_uppercase()
        && (is(before, char::is_ascii_lowercase)
            || is(before, char::is_ascii_uppercase) && is(Some(at + 1), char::is_ascii_lowercase))
}
