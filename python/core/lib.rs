//! The compiled module `leakbound._core`: the command in the process of Python, and a few functions of the library.

mod call;
mod ending;
mod errors;
mod files;
mod function;
mod functions;
mod outputs;
mod worker;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::call::{Commands, Layout, accountants};
    #[pymodule_export]
    use super::functions::{clopper_pearson, rdp_delta, rdp_epsilon, roc, run_program};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
