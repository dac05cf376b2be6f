//! A line of an external accountant as an answer.

use super::accountant::AccountantAnswer;
use crate::error::one_line;
use crate::json;
use crate::program::{Fault, FaultKind, quoted, with_special_numbers_as_strings};

/// Reads a line of an external accountant as its answer, as [`ExternalAccountant`](super::ExternalAccountant) does:
/// `{"value": number}`, where infinity may be the string `inf` or Python's `Infinity`, or `{"error": "reason"}`.
///
/// # Errors
/// A [`Fault`] for any other line.
///
/// # Example
/// ```
/// use leakbound::program::FaultKind;
/// use leakbound::verify::{AccountantAnswer, read_answer};
///
/// assert_eq!(read_answer(r#"{"value": 0.5}"#), Ok(AccountantAnswer::Value(0.5)));
/// assert_eq!(read_answer("0.5").unwrap_err().kind, FaultKind::Malformed);
/// ```
pub fn read_answer(line: &str) -> std::result::Result<AccountantAnswer, Fault> {
    let malformed = |expected: &str| Fault {
        kind: FaultKind::Malformed,
        message: format!("{} is not an answer; expected {expected}", quoted(line)),
    };
    const FORMS: &str = r#"{"value": NUMBER} or {"error": "REASON"}"#;
    let value: serde_json::Value = json::from_str(line)
        .or_else(|_| json::from_str(&with_special_numbers_as_strings(line)))
        .map_err(|error| malformed(if error.is_data() { "each key once" } else { FORMS }))?;
    let object = value.as_object().ok_or_else(|| malformed(FORMS))?;
    match (object.get("value"), object.get("error")) {
        (None, Some(serde_json::Value::String(reason))) => Ok(AccountantAnswer::Declined(one_line(reason))),
        (Some(value), None) => {
            let number = match value {
                serde_json::Value::Number(number) => number.as_f64(),
                serde_json::Value::String(text) => match text.to_ascii_lowercase().as_str() {
                    "inf" | "infinity" | "+inf" => Some(f64::INFINITY),
                    "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
                    "nan" => Some(f64::NAN),
                    _ => None,
                },
                _ => None,
            };
            number.map(AccountantAnswer::Value).ok_or_else(|| malformed("a number or \"inf\" as value"))
        }
        _ => Err(malformed(FORMS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_in_every_form_and_nothing_else() {
        assert_eq!(read_answer(r#"{"value": 0.5}"#), Ok(AccountantAnswer::Value(0.5)));
        assert_eq!(read_answer(r#"{"value": 3, "order": 2}"#), Ok(AccountantAnswer::Value(3.0)));
        for text in [r#"{"value": "inf"}"#, r#"{"value": Infinity}"#] {
            assert_eq!(read_answer(text), Ok(AccountantAnswer::Value(f64::INFINITY)));
        }
        for text in [r#"{"value": NaN}"#, r#"{"value": "nan"}"#] {
            assert!(matches!(read_answer(text), Ok(AccountantAnswer::Value(value)) if value.is_nan()));
        }
        assert_eq!(read_answer(r#"{"error": "no"}"#), Ok(AccountantAnswer::Declined("no".into())));
        for text in ["", "0.5", "null", "[1]", r#"{"value": "x"}"#, r#"{"value": null}"#, "{}", r#"{"value"#] {
            assert_eq!(read_answer(text).unwrap_err().kind, FaultKind::Malformed, "{text}");
        }
        for text in [r#"{"value": 1, "value": 2}"#, r#"{"value": Infinity, "of": [{"a": 0, "a": 0}]}"#] {
            let fault = read_answer(text).unwrap_err();
            assert_eq!(fault.message, format!("`{text}` is not an answer; expected each key once"));
        }
    }
}
