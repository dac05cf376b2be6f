//! Any counts, failure probability, order and δ: bounds are finite, never negative, and in their proven order.

use crate::input::typed;
use leakbound::audit::{AuditPlan, Guide, KCutBox, Method, OutputSet, Rectangle, SimultaneousIntervals, audit_counts};
use leakbound::bound::Direction;
use leakbound::counts::{MAX_COUNT, PairedCounts};
use leakbound::interval::{BinomialCounts, RectangleProbability};
use leakbound::quantity::{Delta, FailureProbability, Order};

pub fn run(bytes: &[u8]) {
    let Some((failure, order, delta, outcomes)) = typed::<(f64, f64, f64, Vec<(u64, u64, u8)>)>(bytes) else { return };
    let (Ok(failure), Ok(order)) = (FailureProbability::new(failure), Order::new(order)) else { return };
    let delta = Delta::new(delta).unwrap_or(Delta::new(1e-5).expect("a legal delta"));
    // Sizes from 1 to 2^53, small and large ones alike.
    let size = |count: u64, shift: u8| (count >> (shift % 64)) % (MAX_COUNT + 1);
    let outcomes: Vec<[u64; 2]> =
        outcomes.into_iter().take(6).map(|(a, b, shift)| [size(a, shift), size(b, shift)]).collect();
    let [counts, counts_neighbor] = [0, 1].map(|world| outcomes.iter().map(|outcome| outcome[world]).collect());
    let labels = (0..outcomes.len()).map(|outcome| outcome.to_string()).collect();
    let Ok(counts) = PairedCounts::new(labels, counts, counts_neighbor) else { return };

    let first = OutputSet::new((0..counts.outcomes()).map(|outcome| outcome == 0).collect());
    let [p, q] = first.inside(&counts).expect("a set of the outcomes");
    rectangles(p, q, failure, order, delta);
    k_cuts(&counts, failure, order);

    let plan = AuditPlan {
        orders: vec![order, Order::new(2.0).expect("a legal order")],
        delta,
        failure,
        methods: Method::ALL.to_vec(),
        directions: Direction::BOTH.to_vec(),
        seed: 0,
        resamples: 100,
    };
    let fixed = Guide::fixed_list(counts.outcomes());
    let pilot = Guide::from_pilot(&counts, &plan.orders, &plan.directions)
        .unwrap_or_else(|error| panic!("{counts:?}: {error}"));
    for guide in [fixed, Guide::declared(first), pilot] {
        let audit = audit_counts(&counts, &guide, &plan).unwrap_or_else(|error| panic!("{counts:?}: {error}"));
        let rdp = audit.rdp.iter().map(|row| row.bound.value);
        // Two normal distributions that differ have an infinite ε at δ = 0.
        let infinite = |method: &str| method == "gdp" && delta.get() == 0.0;
        let epsilon = audit.epsilon.iter().filter(|row| !infinite(row.bound.method)).map(|row| row.bound.value);
        assert!(rdp.chain(epsilon).all(|value| value.is_finite() && value >= 0.0), "{counts:?} {guide:?}: {audit:?}");
    }
}

fn rectangles(p: BinomialCounts, q: BinomialCounts, failure: FailureProbability, order: Order, delta: Delta) {
    for tails in [Rectangle::four_tails, Rectangle::two_tails] {
        let rectangle = tails(p, q, failure).unwrap_or_else(|error| panic!("{p:?} {q:?} {failure}: {error}"));
        for direction in Direction::BOTH {
            let [corner, termwise] = [rectangle.corner(order, direction), rectangle.termwise(order, direction)];
            assert!(corner.value.is_finite() && termwise.value >= 0.0, "{rectangle:?} {order}: {corner:?}");
            assert!(corner.value >= termwise.value, "{rectangle:?} {order} {direction}: {corner:?} {termwise:?}");
            let epsilon = rectangle.epsilon(delta, direction).value;
            assert!(epsilon.is_finite() && epsilon >= 0.0, "{rectangle:?} {delta}: {epsilon}");
        }
        let mu = rectangle.gdp().value;
        assert!(mu.is_finite() && mu >= 0.0, "{rectangle:?}: {mu}");
    }
}

fn k_cuts(counts: &PairedCounts, failure: FailureProbability, order: Order) {
    let limits = KCutBox::new(counts, failure).unwrap_or_else(|error| panic!("{counts:?} {failure}: {error}"));
    let goodman = SimultaneousIntervals::goodman(counts, failure);
    let sison_glaz = SimultaneousIntervals::sison_glaz(counts, failure, RectangleProbability::Edgeworth);
    for direction in Direction::BOTH {
        let least = limits.bound(order, direction).value;
        assert!(least.is_finite() && least >= 0.0, "{counts:?} {failure} {order} {direction}: {least}");
        for intervals in [&goodman, &sison_glaz] {
            let intervals = intervals.as_ref().unwrap_or_else(|error| panic!("{counts:?} {failure}: {error}"));
            let [paper, nearest] = [intervals.bound(order, direction), intervals.nearest(order, direction)];
            assert!(paper.value.is_finite() && paper.value >= 0.0, "{counts:?} {failure} {order}: {paper:?}");
            assert!(nearest.value.is_finite() && nearest.value >= 0.0, "{counts:?} {failure} {order}: {nearest:?}");
        }
    }
}
