//! A mechanism with one known Rényi divergence.

use super::draws::order;
use crate::accountant::{Theorem, WorstCases};
use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::mechanism::draw::{between, no_record, scale};
use crate::mechanism::{Bins, DataKind, Mechanism, MechanismKind, Parameter, Parameters, rejected};
use crate::quantity::Order;
use crate::simulate::Sampler;
use std::sync::Arc;

/// Any mechanism about which only this is known: D at one order is at most `rdp`, for neighbors in both directions.
pub const CONVERSION: &MechanismKind = &MechanismKind {
    name: "conversion",
    example: "conversion:rdp=1,rdp_order=2",
    data: DataKind::OneRecord,
    parameters: &[
        Parameter::number("rdp", &[1.0, 0.5, 0.1, 0.0]),
        Parameter::number("rdp_order", &[2.0, 3.0, 5.0, 10.0, 1.5]),
    ],
    releases: None,
    theorems: &[],
    noise_hides: false,
    read: |parameters| {
        let (rdp, order) = (parameters.not_negative("rdp")?, parameters.in_domain("rdp_order", Order::new)?);
        Ok(Arc::new(KnownRdp { rdp, order }))
    },
    draw_data: no_record,
    draw: |stream, _| {
        // All kinds draw a scale first.
        scale(stream)?;
        let rdp = between(stream, 1e-4, 30.0);
        Some(Arc::new(KnownRdp { rdp, order: order(stream)? }))
    },
};

/// What is known of a mechanism whose Rényi divergence is converted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct KnownRdp {
    pub rdp: f64,
    pub order: Order,
}

impl Mechanism for KnownRdp {
    fn kind(&self) -> &'static MechanismKind {
        CONVERSION
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("rdp", self.rdp).with("rdp_order", self.order.get())
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        Vec::new()
    }

    fn output_distribution(&self, _: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
        Err(rejected("a conversion has no outputs of its own".into()))
    }

    fn sampler(&self, _: &VoteHistogram, _: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
        Err(rejected("a conversion has no outputs of its own".into()))
    }
}
