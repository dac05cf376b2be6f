//! Text in figures and pages: what may be shown of a text, and how wide it is.

use crate::error::one_line;

/// A text that is legal in HTML and XML and stays in its place: control characters, line breaks and marks that turn the
/// direction of writing are spelled out. Tags and quotes are escaped where it is written.
pub(in crate::report) fn visible(text: &str) -> String {
    // The two characters, besides control characters, that XML has no form for.
    one_line(&text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"))
}

/// At most this many characters of a visible text.
pub(in crate::report) fn shortened(text: &str, most: usize) -> String {
    // Spelling out makes a text at most ten times as long: no need to spell out what is cut off.
    let text = visible(text.char_indices().nth(most + 1).map_or(text, |(end, _)| &text[..end]));
    match text.char_indices().nth(most) {
        None => text,
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Characters of a name if there is room for it.
pub(super) const LONG_NAME: usize = 100;

/// About how wide a text is in a sans-serif font of this size: rather more than less.
pub(super) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(em).sum::<f64>()
}

fn em(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' | '(' | ')' | '-' | 't' | 'f' | 'r' => {
            0.38
        }
        'm' | 'w' | 'M' | 'W' | '‖' | '…' | '≤' => 0.9,
        'A'..='Z' => 0.7,
        // East Asian wide characters and pictures.
        '\u{1100}'.. => 1.05,
        _ => 0.6,
    }
}

/// As much of a text as fits.
pub(super) fn fitted(text: &str, room: f64, size: f64) -> String {
    let mut most = 200;
    loop {
        let text = shortened(text, most);
        if width(&text, size) <= room || most <= 2 {
            return text;
        }
        most = most.min(text.chars().count()) - 1;
    }
}

/// A text in lines that fit; at most this many, the last of them cut.
pub(super) fn wrapped(text: &str, room: f64, size: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in shortened(text, 1000).split(' ') {
        let full = lines.len() == most;
        match lines.last_mut() {
            Some(line) if full || width(line, size) + width(word, size) + 0.4 * size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fitted(line, room, size)).collect()
}

/// Heights at least `gap` apart and within the ends where they fit, each near the one wanted; `wanted` is in order.
pub(super) fn apart(wanted: &[f64], gap: f64, [top, bottom]: [f64; 2]) -> Vec<f64> {
    let mut heights = wanted.to_vec();
    for index in 0..heights.len() {
        let least = if index == 0 { top } else { heights[index - 1] + gap };
        heights[index] = heights[index].max(least);
    }
    let mut most = bottom;
    for height in heights.iter_mut().rev() {
        *height = height.min(most);
        most = *height - gap;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_texts_become_one_visible_line() {
        assert_eq!(visible("a\nb\u{0}\u{202e}c\u{ffff}<"), "a\\nb\\u{0}\\u{202e}c\u{fffd}<");
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
        assert_eq!(shortened(&"\u{7}".repeat(100_000), 6), "\\u{7}…");
        assert_eq!(shortened("", 0), "");
    }

    #[test]
    fn names_are_moved_apart() {
        assert_eq!(apart(&[10.0, 11.0, 50.0], 10.0, [0.0, 100.0]), [10.0, 20.0, 50.0]);
        assert_eq!(apart(&[98.0, 99.0], 10.0, [0.0, 100.0]), [90.0, 100.0]);
        assert_eq!(apart(&[], 10.0, [0.0, 100.0]), [0.0; 0]);
    }

    #[test]
    fn lines_fit_their_room() {
        let text = "one two three four five six seven eight nine ten";
        let lines = wrapped(text, 100.0, 12.0, 9);
        assert_eq!(lines.join(" "), text);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, 12.0) <= 100.0), "{lines:?}");
        let cut = wrapped(text, 100.0, 12.0, 2);
        assert!(cut.len() == 2 && cut[1].ends_with('…') && width(&cut[1], 12.0) <= 100.0, "{cut:?}");
        assert_eq!(wrapped("", 100.0, 12.0, 2), [""]);
        assert!(width(&fitted(&"W".repeat(10_000), 80.0, 12.0), 12.0) <= 80.0);
        assert!(!fitted("abc", 0.0, 12.0).is_empty());
    }
}
