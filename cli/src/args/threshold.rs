//! Options of a threshold test before the argmax.

use crate::args::values::{listed, named, threshold};
use clap::Args;
use leakbound::distribution::{Noise, ThresholdForm, ThresholdTest};
use leakbound::{Error, Result};
use serde::Serialize;

/// A noisy threshold test, after which the mechanism may abstain.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct ThresholdOptions {
    /// Answer only where the largest count passes a noisy comparison with T votes (Confident-GNMax)
    #[arg(long, value_name = "T", value_parser = threshold, requires = "threshold_noise", allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// Noise of the threshold test: gaussian:sigma=S
    #[arg(long, value_name = "NOISE", requires = "threshold", allow_hyphen_values = true)]
    pub threshold_noise: Option<Noise>,
    /// Where that noise is added: max (one draw on the largest count) or per-class (a draw on each count)
    #[arg(long, value_name = "FORM", requires = "threshold", default_value = "max")]
    #[arg(hide_possible_values = true, value_parser = listed(named::<ThresholdForm>, ThresholdForm::ALL.map(ThresholdForm::name)))]
    pub threshold_form: ThresholdForm,
}

impl ThresholdOptions {
    /// The test, if one was requested.
    pub fn test(&self) -> Result<Option<ThresholdTest>> {
        match (self.threshold, self.threshold_noise) {
            (Some(threshold), Some(Noise::Gaussian(sigma))) => {
                ThresholdTest::new(threshold, sigma, self.threshold_form).map(Some)
            }
            (Some(_), Some(noise @ Noise::Laplace(_))) => Err(Error::Rejected {
                operation: "--threshold-noise",
                reason: format!("the threshold test has Gaussian noise, not {noise}"),
            }),
            _ => Ok(None),
        }
    }
}
