//! Rules for choosing bins, as text.

use super::output_bins::{MOST_BINS, OutputBins, decimal};
use crate::error::{Error, Result};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// How bins are chosen.
///
/// ```
/// # use leakbound::audit::BinRule;
/// assert_eq!("quantile:20".parse::<BinRule>()?.to_string(), "quantile:20");
/// assert!("edges:2,1".parse::<BinRule>().is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum BinRule {
    /// This many bins with equal shares of a pilot ([`OutputBins::quantiles`]); written `quantile:K`.
    Quantiles(usize),
    /// Declared bins ([`OutputBins::new`]); written `edges:A,B,...`.
    Edges(OutputBins),
}

impl fmt::Display for BinRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantiles(bins) => write!(formatter, "quantile:{bins}"),
            Self::Edges(bins) => {
                let edges: Vec<String> = bins.cuts.iter().map(|cut| decimal(cut.at)).collect();
                write!(formatter, "edges:{}", edges.join(","))
            }
        }
    }
}

impl FromStr for BinRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let expected = "quantile:K with K from 2 to 1000, or edges:A,B,... with rising numbers";
        let unknown = || Error::syntax("bins", text, expected);
        let (kind, rest) = text.split_once(':').ok_or_else(unknown)?;
        match kind {
            "quantile" => {
                let bins = rest.parse().ok().filter(|bins| (2..=MOST_BINS).contains(bins)).ok_or_else(unknown)?;
                Ok(Self::Quantiles(bins))
            }
            "edges" => {
                let edges: Option<Vec<f64>> = rest.split(',').map(|edge| edge.trim().parse().ok()).collect();
                Ok(Self::Edges(OutputBins::new(&edges.ok_or_else(unknown)?).map_err(|_| unknown())?))
            }
            _ => Err(unknown()),
        }
    }
}

impl Serialize for BinRule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
