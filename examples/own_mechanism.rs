//! A mechanism of one's own, simulated, sharded and audited: report noisy max with rounded noise.
//!
//! The program under audit adds exponential noise of scale b to the votes and lets the first of the largest win. With
//! real noise that is (1/b)-differentially private where a vote is added. This program rounds the noise up to a
//! multiple of b first, which looks harmless; but ties become likely, and at a tie one vote decides for sure: class 0
//! wins with probability 1/(1 + e^-1) = 0.7311 when tied and 0.2689 when a vote behind, so that ε is 1 and not 1/b =
//! 1/4.
//!
//! Run it with `cargo run --release --example own_mechanism`.

use leakbound::audit::{AuditPlan, Guide, Method, audit_counts, split_pilot};
use leakbound::bound::Direction;
use leakbound::quantity::{Delta, FailureProbability, Order};
use leakbound::simulate::{BLOCK_SAMPLES, PartialCounts, Sampler, Shard, Simulation, Stream, World, simulate};
use rand::RngExt;
use std::ops::ControlFlow;

/// Noisy argmax over votes, with noise rounded up to multiples of its scale.
struct RoundedNoisyMax {
    /// Votes per class under the dataset and under its neighbor.
    votes: [Vec<u64>; 2],
    /// b, in votes.
    scale: f64,
}

impl Sampler for RoundedNoisyMax {
    fn outcomes(&self) -> usize {
        self.votes[0].len()
    }

    // Every random number comes from the stream of the block, and nothing is remembered between blocks: that is all
    // that reproducible counts on any number of threads, machines and restarts need.
    fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        let votes = &self.votes[world.index()];
        for _ in 0..samples {
            let (mut winner, mut most) = (0, f64::NEG_INFINITY);
            for (class, &votes) in votes.iter().enumerate() {
                let noise = -(1.0 - stream.random::<f64>()).ln();
                let noisy = votes as f64 + self.scale * noise.ceil();
                if noisy > most {
                    (winner, most) = (class, noisy);
                }
            }
            counts[winner] += 1;
        }
    }
}

fn main() -> leakbound::Result<()> {
    // One vote more for class 1 in the neighboring dataset.
    let mechanism = RoundedNoisyMax { votes: [vec![10, 10], vec![10, 11]], scale: 4.0 };
    let claimed = 1.0 / mechanism.scale;
    let simulation = Simulation::new(100 * BLOCK_SAMPLES)?.seed(2026);

    // The whole simulation on all threads ..
    let counts = simulate(&mechanism, simulation, |_| ())?;

    // .. is what three machines find together, each in steps of a million samples or so, between which it could save
    // what it has.
    let mut merged = PartialCounts::new(simulation, mechanism.outcomes())?;
    for number in 1..=3 {
        let blocks = Shard::new(number, 3)?.blocks(simulation)?;
        let mut part = PartialCounts::new(simulation, mechanism.outcomes())?;
        let pause = |done| if done > 1_000_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        while part.advance(&mechanism, blocks.clone(), pause)? {}
        merged = merged.merge(&part)?;
    }
    assert_eq!(merged.counts()?, counts);

    // Lower bounds: the output set is chosen on a tenth of the outputs, the bound is computed on the others.
    let plan = AuditPlan {
        orders: vec![Order::new(2.0)?],
        delta: Delta::new(0.0)?,
        failure: FailureProbability::new(1e-6)?,
        methods: vec![Method::ClopperPearson],
        directions: vec![Direction::Forward, Direction::Reverse],
        seed: 0,
        resamples: 10_000,
    };
    let (pilot, rest) = split_pilot(&counts, 0.1, 0)?;
    let guide = Guide::from_pilot(&pilot, &plan.orders, &plan.directions)?;
    let audit = audit_counts(&rest, &guide, &plan)?;
    let epsilon = audit.epsilon.iter().map(|row| row.bound.value).fold(0.0, f64::max);
    println!("votes [10, 10] against [10, 11], noise rounded up to multiples of b = {}", mechanism.scale);
    println!("shares of class 0: {:.4} and {:.4}", share(counts.counts()), share(counts.counts_neighbor()));
    println!("claimed: epsilon = {claimed}; at least {epsilon:.4}, wrong with probability at most 1e-6");
    assert!(epsilon > claimed, "the rounding is not seen");
    assert!(epsilon < 1.0, "more than there is");
    println!("The claim is refuted.");
    Ok(())
}

fn share(counts: &[u64]) -> f64 {
    counts[0] as f64 / counts.iter().sum::<u64>() as f64
}

#[cfg(test)]
mod tests {
    /// It fails where the rounding is not seen, at a failure probability of 1e-6.
    #[test]
    fn the_claim_is_refuted() {
        super::main().unwrap();
    }
}
