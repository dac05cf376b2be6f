//! Tables of a TOML file whose keys are not all known beforehand, with the line of each.

use super::fault::{fault, hinted, listed, quoted};
use super::toml_text::TomlText;
use crate::error::{Error, InputError, Result};
use crate::order;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of a table with their lines.
pub(super) struct Keys<'a> {
    text: &'a TomlText<'a>,
    /// Names with hyphens, lines and values.
    keys: Vec<(String, usize, &'a Spanned<DeValue<'a>>)>,
}

impl<'a> Keys<'a> {
    /// # Errors
    /// [`Error::Input`] for a key in two spellings, and for a date: no key takes one.
    pub(super) fn of(text: &'a TomlText<'a>, table: &'a DeTable<'a>) -> Result<Self> {
        let key = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let name: &std::borrow::Cow<'_, str> = key.get_ref();
            (name.replace('_', "-"), text.line(key.span().start), value)
        };
        let mut keys: Vec<_> = table.iter().map(key).collect();
        order::sort(&mut keys, |a, b| a.1.cmp(&b.1));
        let own = Self { text, keys };
        for (place, (name, line, value)) in own.keys.iter().enumerate() {
            if let Some((_, first, _)) = own.keys[..place].iter().find(|(other, ..)| other == name) {
                let found = format!("the key {} a second time, first in line {first}", quoted(name));
                return Err(own.line_fault(*line, found, "each key once, with hyphens or underscores").into());
            }
            if let Some(start) = date(value) {
                let error = own.line_fault(text.line(start), "a date", "a number, a text, a truth value or a list");
                return Err(hinted(error, "a text has quotes").into());
            }
        }
        Ok(own)
    }

    pub(super) fn fault(
        &self,
        line: usize,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> InputError {
        fault(self.text.file, format!("line {line}, {key}"), found, expected)
    }

    /// The rejection of a value by a type of the library.
    pub(super) fn explain(&self, line: usize, error: Error) -> Error {
        match error {
            Error::Syntax { quantity, value, expected } => self.fault(line, quantity, quoted(&value), expected).into(),
            Error::Domain { quantity, value, domain } => {
                self.fault(line, quantity, value.to_string(), format!("a value in {domain}")).into()
            }
            other => other,
        }
    }

    /// Rejects the first key that is not known.
    pub(super) fn check(&self, known: &[&str]) -> Result<()> {
        let Some((name, line, _)) = self.keys.iter().find(|(name, ..)| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let found = format!("the key {}", quoted(name));
        let error = fault(self.text.file, format!("line {line}"), found, format!("one of {}", listed(known)));
        let near = |other: &&&str| strsim::osa_distance(other, name);
        let best = known.iter().min_by_key(near).filter(|best| near(best) <= 1 + name.len() / 4);
        Err(match best {
            Some(best) => hinted(error, format!("did you mean `{best}`?")),
            None => error,
        }
        .into())
    }

    pub(super) fn value(&self, key: &str) -> Option<(usize, Value)> {
        let (_, line, value) = self.keys.iter().find(|(name, ..)| name == key)?;
        Some((*line, json(value.get_ref())))
    }

    /// The table `[key]`.
    pub(super) fn table(&self, key: &str) -> Result<Option<Self>> {
        match self.keys.iter().find(|(name, ..)| name == key) {
            None => Ok(None),
            Some((_, line, value)) => match value.get_ref() {
                DeValue::Table(keys) => Self::of(self.text, keys).map(Some),
                _ => Err(self.fault(*line, key, "another value", format!("a table [{key}]")).into()),
            },
        }
    }

    /// The tables of `[[key]]`, with their lines.
    pub(super) fn list(&self, key: &str) -> Result<Vec<(usize, Self)>> {
        let Some((_, line, value)) = self.keys.iter().find(|(name, ..)| name == key) else { return Ok(Vec::new()) };
        let expected = format!("tables [[{key}]]");
        let DeValue::Array(tables) = value.get_ref() else {
            return Err(self.fault(*line, key, "another value", expected).into());
        };
        let table = |table: &'a Spanned<DeValue<'a>>| match table.get_ref() {
            DeValue::Table(keys) => Ok((self.text.line(table.span().start), Self::of(self.text, keys)?)),
            _ => Err(Error::from(self.fault(*line, key, "a list of other values", expected.clone()))),
        };
        tables.iter().map(table).collect()
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<(usize, String)>> {
        match self.keys.iter().find(|(name, ..)| name == key) {
            None => Ok(None),
            Some((_, line, value)) => match value.get_ref() {
                DeValue::String(text) => Ok(Some((*line, text.to_string()))),
                other => Err(self.fault(*line, key, json(other).to_string(), "a text").into()),
            },
        }
    }

    pub(super) fn parsed<T>(&self, key: &str, parse: impl Fn(&str) -> Result<T>) -> Result<Option<T>> {
        let Some((line, text)) = self.text(key)? else { return Ok(None) };
        parse(&text).map(Some).map_err(|error| self.explain(line, error))
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<(usize, f64)>> {
        match self.value(key) {
            None => Ok(None),
            Some((line, value)) => match value.as_f64() {
                Some(number) => Ok(Some((line, number))),
                None => Err(self.fault(line, key, value.to_string(), "a number").into()),
            },
        }
    }

    pub(super) fn whole(&self, key: &str, least: u64) -> Result<Option<u64>> {
        match self.value(key) {
            None => Ok(None),
            Some((line, value)) => match value.as_u64().filter(|&count| count >= least) {
                Some(count) => Ok(Some(count)),
                None => {
                    let expected = format!("a whole number of at least {least}");
                    Err(self.fault(line, key, value.to_string(), expected).into())
                }
            },
        }
    }

    /// The name of an entry, which becomes part of the names of files.
    pub(super) fn name(&self, line: usize) -> Result<String> {
        let expected = "a name of at most 60 letters, digits, hyphens, dots and underscores";
        let Some((line, name)) = self.text("name")? else {
            return Err(self.fault(line, "name", "no name", expected).into());
        };
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        if name.is_empty() || name.len() > 60 || name.starts_with('.') || !name.chars().all(plain) {
            return Err(self.fault(line, "name", quoted(&name), expected).into());
        }
        Ok(name)
    }

    /// All keys with their lines and values.
    pub(super) fn each(&self) -> impl Iterator<Item = (&str, usize, Value)> {
        self.keys.iter().map(|(name, line, value)| (name.as_str(), *line, json(value.get_ref())))
    }

    /// Something wrong with a whole line.
    pub(super) fn line_fault(&self, line: usize, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(self.text.file, format!("line {line}"), found, expected)
    }
}

/// The place of a date in a value.
fn date(value: &Spanned<DeValue<'_>>) -> Option<usize> {
    match value.get_ref() {
        DeValue::Datetime(_) => Some(value.span().start),
        DeValue::Array(items) => items.iter().find_map(date),
        DeValue::Table(table) => table.iter().find_map(|(_, item)| date(item)),
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => None,
    }
}

/// A value as JSON has it; what JSON does not have, such as nan, is a text.
fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            let text = number.as_str();
            let whole = i64::from_str_radix(text, number.radix()).map(Value::from);
            whole
                .or_else(|_| u64::from_str_radix(text, number.radix()).map(Value::from))
                .unwrap_or_else(|_| text.into())
        }
        DeValue::Float(number) => {
            let text = number.as_str();
            let finite = text.parse().ok().and_then(serde_json::Number::from_f64);
            finite.map_or_else(|| text.into(), Value::Number)
        }
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Array(list) => list.iter().map(|value| json(value.get_ref())).collect(),
        DeValue::Table(table) => {
            Value::Object(table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref()))).collect())
        }
    }
}
