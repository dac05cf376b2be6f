//! What tests read from JSON: documents of the program, and values of references.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// A table of validation/reference.
pub fn reference<T: DeserializeOwned>(name: &str) -> T {
    let path = format!("{}/validation/reference/{name}", crate::ROOT);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The entries of an array.
pub fn rows(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no array"))
}

/// A finite number; infinity is a text in documents, and none here.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// All numbers of an array.
pub fn numbers(value: &Value) -> Vec<f64> {
    rows(value).iter().map(number).collect()
}
