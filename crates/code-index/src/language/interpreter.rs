//! The interpreter that a script names on its first line.

/// The most bytes of a first line that are parsed.
const LINE_BYTES: usize = 256;

/// Returns the file extension for the interpreter of a script: `py` for `#!/usr/bin/env python3`.
pub(super) fn ending(text: &[u8]) -> Option<&'static str> {
    let line = text.strip_prefix(b"#!")?;
    let line = &line[..line.len().min(LINE_BYTES)];
    let line = std::str::from_utf8(line.split(|byte| *byte == b'\n').next()?).ok()?;
    let mut words = line.split_ascii_whitespace();
    let mut program = last(words.next()?);
    if program == "env" {
        // Skip options of `env` and variables that it sets.
        program = last(words.find(|word| !word.starts_with('-') && !word.contains('='))?);
    }
    Some(match program.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.') {
        "sh" | "bash" | "dash" | "ksh" | "ash" => "sh",
        "python" | "pypy" => "py",
        "node" => "js",
        "ruby" => "rb",
        "php" => "php",
        "lua" | "luajit" => "lua",
        "elixir" => "exs",
        "escript" => "erl",
        "Rscript" => "R",
        "pwsh" => "ps1",
        _ => return None,
    })
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
