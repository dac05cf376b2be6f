//! Upper bounds: what accountants promise.

mod gaussian;
mod gnmax;
mod laplace;

pub use gaussian::gaussian_rdp;
pub use gnmax::{gnmax_data_dependent, gnmax_data_independent, log_flip_probability};
pub use laplace::{laplace_rdp, lnmax_data_independent};
