//! Functions of the library that no command has for itself.

use crate::errors::rejected;
use leakbound::divergence::RdpCurve;
use leakbound::interval::BinomialCounts;
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order};
use leakbound::roc::Roc;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

fn curve(orders: &PyReadonlyArray1<'_, f64>, values: &PyReadonlyArray1<'_, f64>) -> leakbound::Result<RdpCurve> {
    let orders = orders.as_array().iter().map(|&order| Order::new(order)).collect::<leakbound::Result<_>>()?;
    RdpCurve::new(orders, values.as_array().to_vec())
}

/// The program `leakbound` with these arguments, of which the first is its name: its exit status.
#[pyfunction]
pub fn run_program(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| leakbound_cli::run_program(arguments))
}

/// ε at δ of a curve of Rényi divergences, and the order that attains it.
#[pyfunction]
pub fn rdp_epsilon(
    orders: PyReadonlyArray1<'_, f64>,
    values: PyReadonlyArray1<'_, f64>,
    delta: f64,
) -> PyResult<(f64, f64)> {
    let found = curve(&orders, &values).and_then(|curve| Ok(curve.epsilon(Delta::new(delta)?)));
    found.map(|(epsilon, order)| (epsilon.get(), order.get())).map_err(rejected)
}

/// δ at ε of a curve of Rényi divergences, and the order that attains it.
#[pyfunction]
pub fn rdp_delta(
    orders: PyReadonlyArray1<'_, f64>,
    values: PyReadonlyArray1<'_, f64>,
    epsilon: f64,
) -> PyResult<(f64, f64)> {
    let found = curve(&orders, &values).and_then(|curve| Ok(curve.delta(Epsilon::new(epsilon)?)));
    found.map(|(delta, order)| (delta, order.get())).map_err(rejected)
}

/// The two-sided Clopper-Pearson interval of a proportion.
#[pyfunction]
pub fn clopper_pearson(successes: u64, trials: u64, failure_probability: f64) -> PyResult<(f64, f64)> {
    let found = BinomialCounts::new(successes, trials)
        .and_then(|counts| leakbound::interval::clopper_pearson(counts, FailureProbability::new(failure_probability)?));
    found.map(|interval| (interval.lower, interval.upper)).map_err(rejected)
}

/// False positive rates, true positive rates and thresholds of every point of a ROC curve.
type Curve<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64);

/// The ROC curve of scores, high scores meaning members, and the area under it.
#[pyfunction]
pub fn roc<'py>(
    py: Python<'py>,
    members: PyReadonlyArray1<'py, f64>,
    non_members: PyReadonlyArray1<'py, f64>,
) -> PyResult<Curve<'py>> {
    let (members, others) = (members.as_array().to_vec(), non_members.as_array().to_vec());
    let roc = py.detach(|| Roc::new(&members, &others)).map_err(rejected)?;
    let points: Vec<_> = roc.points().collect();
    let column = |value: &dyn Fn(leakbound::roc::RocPoint) -> f64| -> Bound<'py, PyArray1<f64>> {
        points.iter().map(|&point| value(point)).collect::<Vec<f64>>().into_pyarray(py)
    };
    let (fpr, tpr) = (column(&|point| roc.fpr(point)), column(&|point| roc.tpr(point)));
    Ok((fpr, tpr, column(&|point| point.cut()), roc.auc()))
}
