//! Words and numbers around figures.

use super::ink::SeriesKind;
use crate::study::significant;

/// A value as a reader wants it.
pub(super) fn number(value: f64) -> String {
    match value {
        f64::INFINITY => "∞".into(),
        f64::NEG_INFINITY => "-∞".into(),
        _ => trimmed(&significant(value, 4)),
    }
}

/// Without the zeros that only fill up digits.
fn trimmed(text: &str) -> String {
    let (number, power) =
        text.split_once('e').map_or((text, String::new()), |(number, power)| (number, format!("e{power}")));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number}{power}")
}

/// What each kind of line means.
pub(super) fn key(kinds: impl Iterator<Item = SeriesKind> + Clone) -> String {
    let present = SeriesKind::ALL.into_iter().filter(|kind| kinds.clone().any(|other| other == *kind));
    let words: Vec<String> = present.map(|kind| format!("{}: {}", kind.line(), kind.words())).collect();
    let text = words.join(", ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_empty_digits() {
        let words = [0.0, 2.0, 0.25, 1e-5, 123_456.0, f64::INFINITY, 100.0].map(number);
        assert_eq!(words, ["0", "2", "0.25", "1e-5", "1.235e5", "∞", "100"]);
    }

    #[test]
    fn only_kinds_that_are_there_are_explained() {
        let words = key([SeriesKind::Upper, SeriesKind::Exact].into_iter());
        assert_eq!(words, "Thick: exact value, dashed: upper bound.");
        assert_eq!(key([].into_iter()), "");
    }
}
