//! Shares, for a reader.

use crate::study::significant;

/// A share in percent, for a reader.
pub(in crate::report) fn percent(share: f64) -> String {
    let value = 100.0 * share;
    if value == 0.0 {
        return "0 %".into();
    }
    // 0.1 and 100 keep no empty digits.
    let text = significant(value, 3);
    let text = if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text} %")
}
