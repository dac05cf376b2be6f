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

/// A quantity, such as an order, which has its domain.
pub fn quantity<T: DeserializeOwned>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_else(|error| panic!("{value}: {error}"))
}

/// All numbers of an array.
pub fn numbers(value: &Value) -> Vec<f64> {
    rows(value).iter().map(number).collect()
}

/// Both ends of ε by privacy losses.
pub fn losses(document: &Value) -> [f64; 2] {
    ends(&document["losses"]["epsilon"])
}

/// Both ends of what is enclosed.
pub fn ends(enclosed: &Value) -> [f64; 2] {
    ["lower", "upper"].map(|end| number(&enclosed[end]))
}

/// The text that each row has under this name.
pub fn texts<'a>(value: &'a Value, name: &str) -> Vec<&'a str> {
    rows(value).iter().map(|row| row[name].as_str().unwrap_or_else(|| panic!("no text {name} in {row}"))).collect()
}

/// The codes of a document's warnings.
pub fn codes(document: &Value) -> Vec<&str> {
    texts(&document["warnings"], "code")
}

/// The curve of all queries together that has this name and direction.
pub fn curve<'a>(document: &'a Value, name: &str, direction: &str) -> &'a Value {
    let curves = rows(&document["composed"]["curves"]);
    let found = curves.iter().find(|curve| curve["name"] == name && curve["direction"] == direction);
    found.unwrap_or_else(|| panic!("no {name} {direction}"))
}

/// The row of which this member has this value.
pub fn row<'a>(value: &'a Value, name: &str, wanted: &str) -> &'a Value {
    rows(value).iter().find(|row| row[name] == wanted).unwrap_or_else(|| panic!("no {name} {wanted} in {value}"))
}
