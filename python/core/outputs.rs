//! Outputs of a function of Python.

use crate::errors::InputError;
use leakbound::black_box::Output;
use numpy::{
    PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// What an output may be, in the words of an error.
const KINDS: &str = "a number, a string, a truth value, None, an array of them, or a list or dict of outputs";

/// The outputs of so many runs: an array whose first axis is that of the runs, or a list.
pub fn outputs(value: &Bound<'_, PyAny>, runs: usize) -> PyResult<Vec<Output>> {
    if let Some(array) = array(value)? {
        return outputs_of_array(&array, runs);
    }
    let Some(items) = items(value) else {
        let kind = value.get_type().name()?;
        return Err(bad(format!("found {kind}, expected an array or a list of {runs} outputs")));
    };
    complete(&items.len().to_string(), items.len(), runs)?;
    items.iter().map(output).collect()
}

fn outputs_of_array(array: &Bound<'_, PyUntypedArray>, runs: usize) -> PyResult<Vec<Output>> {
    let shape = array.shape();
    complete(
        &format!("an array of shape {shape:?} with {}", shape.first().unwrap_or(&0)),
        shape.first().copied().unwrap_or(0),
        runs,
    )?;
    let truth = array.dtype().kind() == b'b';
    match (shape.len(), numbers(array)?) {
        // No number becomes an object of Python.
        (1, Some(numbers)) => {
            let of = |&number: &f64| if truth { Output::Bool(number != 0.0) } else { Output::Number(number) };
            Ok(numbers.as_array().iter().map(of).collect())
        }
        (2, Some(numbers)) => {
            Ok(numbers.as_array().outer_iter().map(|row| Output::Vector(row.iter().copied().collect())).collect())
        }
        _ => items(&array.call_method0("tolist")?).unwrap_or_default().iter().map(output).collect(),
    }
}

fn complete(found: &str, number: usize, runs: usize) -> PyResult<()> {
    if number == runs {
        return Ok(());
    }
    let hint = "a function of (dataset, runs, rng) gives one output for each run";
    Err(bad(format!("found {found} outputs, expected {runs} (hint: {hint})")))
}

/// An error of the function that is audited.
fn bad(sentence: String) -> PyErr {
    InputError::new_err((sentence, "function"))
}

/// Whole numbers up to this are doubles, all of them.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// One output. Lists of numbers are vectors, as in the answers of programs.
pub fn output(value: &Bound<'_, PyAny>) -> PyResult<Output> {
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Output::Number(number.value()));
    }
    if value.is_none() {
        return Ok(Output::Null);
    }
    // Before the integers, of which the truth values are a part.
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Output::Bool(truth.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return number(value);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Output::of_text(text.to_str()?.to_owned()));
    }
    if let Some(items) = items(value) {
        return Ok(Output::of_parts(items.iter().map(output).collect::<PyResult<_>>()?));
    }
    if let Ok(parts) = value.cast::<PyDict>() {
        let part = |(name, part): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((name.str()?.to_string(), output(&part)?));
        let object = Output::of_names(parts.iter().map(part).collect::<PyResult<_>>()?);
        return object.map_err(|reason| bad(format!("found {reason}, expected each key once")));
    }
    other(value)
}

/// A number in all its digits: whole numbers, fractions and decimals may have more of them than a double.
fn number(value: &Bound<'_, PyAny>) -> PyResult<Output> {
    // Beyond the range of doubles there is no nearest one.
    let double = value.extract::<f64>().unwrap_or(f64::NAN);
    if value.eq(double)? || value.ne(value)? {
        return Ok(Output::Number(double));
    }
    let text = value.str()?.to_string();
    Output::of_number(&text).map_err(|_| {
        let hint = "float() rounds it";
        bad(format!("found {text} as an output, expected a decimal number (hint: {hint})"))
    })
}

/// Arrays, and numbers of other packages than Python's own.
fn other(value: &Bound<'_, PyAny>) -> PyResult<Output> {
    if let Some(array) = array(value)? {
        return match (array.ndim(), numbers(&array)?) {
            (1, Some(numbers)) => Ok(Output::Vector(numbers.as_array().iter().copied().collect())),
            _ => output(&array.call_method0("tolist")?),
        };
    }
    // Truth values of NumPy are no numbers.
    if value.hasattr("dtype")? && value.hasattr("item")? {
        let item = value.call_method0("item")?;
        if !item.get_type().is(value.get_type()) {
            return output(&item);
        }
    }
    if value.extract::<f64>().is_ok() {
        return number(value);
    }
    Err({
        let kind = value.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string());
        bad(format!("found {kind} as an output, expected {KINDS}"))
    })
}

/// The items of a list or a tuple.
fn items<'py>(value: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    match (value.cast::<PyList>(), value.cast::<PyTuple>()) {
        (Ok(list), _) => Some(list.iter().collect()),
        (_, Ok(tuple)) => Some(tuple.iter().collect()),
        _ => None,
    }
}

/// An array of NumPy, or what becomes one: a series, a tensor. Scalars of NumPy stay what they are.
fn array<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return Ok(Some(array.clone()));
    }
    let scalar = || Ok::<bool, PyErr>(value.hasattr("ndim")? && value.getattr("ndim")?.eq(0)?);
    if !value.hasattr("__array__")? || scalar()? {
        return Ok(None);
    }
    let array = value.py().import("numpy")?.call_method1("asarray", (value,))?;
    Ok(Some(array.cast_into::<PyUntypedArray>()?))
}

/// The numbers of an array, which are not copied if they are doubles; none where a double cannot hold them all.
fn numbers<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Option<PyReadonlyArrayDyn<'py, f64>>> {
    if let Ok(doubles) = array.cast::<PyArrayDyn<f64>>() {
        return Ok(Some(doubles.try_readonly()?));
    }
    let (kind, long) = (array.dtype().kind(), array.dtype().itemsize() >= size_of::<f64>());
    if !b"fiub".contains(&kind) || kind == b'f' && long {
        return Ok(None);
    }
    let doubles = array.call_method1("astype", ("float64",))?;
    let doubles = doubles.cast::<PyArrayDyn<f64>>()?.try_readonly()?;
    let exact = !long || doubles.as_array().iter().all(|number| number.abs() < EXACT);
    Ok(exact.then_some(doubles))
}
