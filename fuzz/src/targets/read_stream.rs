//! Any bytes as raw outputs of a stream: a rejection of one line, or bounds that are numbers, and that grow with no
//! claim.

use leakbound::audit::{EProcess, OutputWorld, PairStream};
use leakbound::bound::Direction;
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order};
use leakbound::record::{OutcomeNames, read_outputs};
use std::ops::ControlFlow;

const OUTCOMES: usize = 64;

pub fn run(input: &[u8]) {
    let mut names = OutcomeNames::default();
    let process = EProcess::new(OUTCOMES).expect("64 outcomes");
    let mut stream = PairStream::new(process, u64::from(input.first().copied().unwrap_or(0)));
    let read = read_outputs("fuzzed", input, &mut names, |_, world, outcome, _| {
        match world {
            OutputWorld::Dataset => stream.observe(outcome)?,
            OutputWorld::Neighbor => stream.observe_neighbor(outcome)?,
        }
        Ok(ControlFlow::Continue(()))
    });
    if let Err(error) = read {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    let process = stream.process();
    let failure = FailureProbability::new(0.05).expect("a probability");
    for order in [1.0 + 1e-9, 2.0, 500.0] {
        let order = Order::new(order).expect("an order");
        for direction in Direction::BOTH {
            let bound = process.lower_bound(order, direction, failure).value;
            assert!((0.0..f64::INFINITY).contains(&bound), "{order} {direction}: {bound}");
            let [low, high] = [0.1, 1.0].map(|claim| process.log_e_value(order, direction, claim));
            assert!(high >= 0.0 && low >= high - 1e-9, "{order} {direction}: {low} {high}");
        }
    }
    let epsilon = Epsilon::new(0.5).expect("an epsilon");
    let delta = Delta::new(1e-5).expect("a delta");
    assert!(process.log_e_value_of_epsilon(epsilon, delta, Direction::Forward) >= 0.0);
}
