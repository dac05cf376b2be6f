//! Tails of the normal distribution and binomial point probabilities.

use super::check::TableCheck;
use super::{Case, Decimal};
use leakbound::Result;
use leakbound::special::{erfc, log_binomial_pmf, log_erfc, log_ndtr, ndtr, ndtr_complement, ndtri, ndtri_exp};
use serde::Deserialize;

const RELATIVE: f64 = 1e-14;

#[derive(Deserialize)]
#[serde(tag = "fn", content = "x", rename_all = "snake_case")]
pub(super) enum Inputs {
    Erfc(f64),
    LogErfc(f64),
    Ndtr(f64),
    NdtrComplement(f64),
    LogNdtr(f64),
    Ndtri(f64),
    NdtriExp(f64),
    LogBinomPmf(u64, u64, f64),
}

pub(super) fn compare(check: &mut TableCheck, Case { inputs, expected }: Case<Inputs, Decimal>) -> Result<()> {
    let (quantity, value, entry) = match inputs {
        Inputs::Erfc(x) => ("erfc", erfc(x), format!("{x:e}")),
        Inputs::LogErfc(x) => ("ln erfc", log_erfc(x), format!("{x:e}")),
        Inputs::Ndtr(z) => ("Phi", ndtr(z), format!("{z:e}")),
        Inputs::NdtrComplement(z) => ("1-Phi", ndtr_complement(z), format!("{z:e}")),
        Inputs::LogNdtr(z) => ("ln Phi", log_ndtr(z), format!("{z:e}")),
        Inputs::Ndtri(p) => ("Phi^-1", ndtri(p), format!("{p:e}")),
        Inputs::NdtriExp(ln_p) => ("Phi^-1 of ln p", ndtri_exp(ln_p), format!("{ln_p:e}")),
        Inputs::LogBinomPmf(k, n, p) => ("ln pmf", log_binomial_pmf(k, n, p), format!("{k} of {n}, {p:e}")),
    };
    check.begin(format!("{quantity} at {entry}"));
    check.relative(quantity, value, expected, RELATIVE);
    Ok(())
}
