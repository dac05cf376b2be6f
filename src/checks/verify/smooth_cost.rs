//! A mechanism whose smooth sensitivity is requested.

use crate::accountant::{Theorem, WorstCases};
use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::mechanism::draw::{few_votes, pick, scale};
use crate::mechanism::{Bins, DataKind, Mechanism, MechanismKind, Parameter, Parameters, rejected};
use crate::quantity::NoiseScale;
use crate::simulate::Sampler;
use std::sync::Arc;

/// What is asked at an order is the β-smooth sensitivity of the data-dependent cost of GNMax at that order.
pub const SMOOTH_SENSITIVITY: &MechanismKind = &MechanismKind {
    name: "smooth-sensitivity",
    example: "smooth-sensitivity:sigma=40,beta=0.1",
    data: DataKind::Votes,
    parameters: &[Parameter::noise("sigma"), Parameter::number("beta", &[0.0, 1.0, 0.1])],
    releases: None,
    theorems: &[],
    noise_hides: false,
    read: |parameters| {
        Ok(Arc::new(SmoothCost { sigma: parameters.scale("sigma")?, beta: parameters.not_negative("beta")? }))
    },
    draw_data: few_votes,
    draw: |stream, _| {
        Some(Arc::new(SmoothCost { sigma: scale(stream)?, beta: *pick(stream, &[0.0, 0.01, 0.1, 0.5, 2.0]) }))
    },
};

/// The cost of GNMax whose smooth sensitivity is requested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SmoothCost {
    pub(super) sigma: NoiseScale,
    pub(super) beta: f64,
}

impl Mechanism for SmoothCost {
    fn kind(&self) -> &'static MechanismKind {
        SMOOTH_SENSITIVITY
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.sigma.get()).with("beta", self.beta)
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        Vec::new()
    }

    fn output_distribution(&self, _: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
        Err(rejected("a sensitivity is not released".into()))
    }

    fn sampler(&self, _: &VoteHistogram, _: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
        Err(rejected("a sensitivity is not released".into()))
    }
}
