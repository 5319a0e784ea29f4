//! Ranking as by hand with `grep`: files with the most words first, then those with the most matching lines.

/// Returns the paths, best first.
pub(crate) fn rank(files: &[(String, String)], query: &str) -> Vec<String> {
    let words: Vec<String> = query
        .split(|one: char| !one.is_alphanumeric() && one != '_')
        .filter(|word| word.len() >= 3)
        .map(str::to_lowercase)
        .collect();
    let mut matches: Vec<(usize, usize, &str)> = Vec::new();
    for (path, text) in files {
        let text = text.to_lowercase();
        let distinct = words.iter().filter(|word| text.contains(word.as_str())).count();
        if distinct > 0 {
            let lines =
                text.lines().filter(|line| words.iter().any(|word| line.contains(word.as_str()))).count();
            matches.push((distinct, lines, path));
        }
    }
    matches
        .sort_by(|left, right| (right.0, right.1).cmp(&(left.0, left.1)).then_with(|| left.2.cmp(right.2)));
    matches.into_iter().map(|(_, _, path)| path.to_owned()).collect()
}
