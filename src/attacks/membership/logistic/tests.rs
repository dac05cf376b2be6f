use super::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn design(x: &[Vec<f64>], member: &[bool]) -> Design {
    let rows: Vec<(&[f64], bool)> = x.iter().map(Vec::as_slice).zip(member.iter().copied()).collect();
    let mut design = Design::new(&rows);
    (0..rows.len()).for_each(|row| design.add(row, 1.0));
    design
}

#[test]
fn one_view_has_a_closed_form_of_its_stationary_point() {
    // One feature, 0 or 1: the gradient of w is w + C Σ_{x=1} (p - y) = 0, and that of b is Σ (p - y) = 0.
    let x = [1.0, 1.0, 1.0, 0.0, 0.0, 1.0].map(|x| vec![x]);
    let member = [true, true, false, false, false, true];
    for c in [1e-3, 1.0, 100.0] {
        let mut weights = vec![0.0; 2];
        fit(&design(&x, &member), c, &mut weights, &RefCell::default()).unwrap();
        let pull = |row: usize| probability(&weights, &x[row]) - f64::from(u8::from(member[row]));
        assert!((0..6).map(pull).sum::<f64>().abs() < 1e-12);
        let sum: f64 = (0..6).map(|row| x[row][0] * pull(row)).sum();
        assert!((weights[0] + c * sum).abs() < 1e-11 * (1.0 + c), "{c}");
    }
}

/// Coordinate by coordinate, each by bisection of the derivative: slow, and without a Hessian.
fn by_bisection(x: &[Vec<f64>], member: &[bool], c: f64) -> Vec<f64> {
    let features = x[0].len();
    let mut weights = vec![0.0; features + 1];
    for _ in 0..4000 {
        let mut most: f64 = 0.0;
        for place in 0..=features {
            let slope = |value: f64, weights: &mut Vec<f64>| {
                weights[place] = value;
                let pulls = x.iter().zip(member).map(|(x, &member)| {
                    let feature = if place == features { 1.0 } else { x[place] };
                    feature * (probability(weights, x) - f64::from(u8::from(member)))
                });
                (if place == features { 0.0 } else { value }) + c * pulls.sum::<f64>()
            };
            let before = weights[place];
            let (mut low, mut high) = (-50.0, 50.0);
            while high - low > 1e-14 {
                let middle = 0.5 * (low + high);
                if middle <= low || middle >= high {
                    break;
                }
                if slope(middle, &mut weights) > 0.0 { high = middle } else { low = middle }
            }
            weights[place] = 0.5 * (low + high);
            most = most.max((weights[place] - before).abs());
        }
        if most < 1e-13 {
            break;
        }
    }
    weights
}

#[test]
fn minima_are_those_of_coordinate_descent() {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(8);
    for (models, features, bits, c) in [(11, 3, true, 1.0), (20, 4, false, 1.0), (9, 2, true, 0.01)] {
        let mut number = || {
            let uniform: f64 = generator.random();
            if bits { f64::from(u8::from(uniform < 0.6)) } else { 4.0 * uniform - 2.0 }
        };
        let x: Vec<Vec<f64>> = (0..models).map(|_| (0..features).map(|_| number()).collect()).collect();
        let member: Vec<bool> = (0..models).map(|model| model % 2 == 0).collect();
        let expected = by_bisection(&x, &member, c);
        let mut weights = vec![0.0; features + 1];
        fit(&design(&x, &member), c, &mut weights, &RefCell::default()).unwrap();
        for (got, expected) in weights.iter().zip(&expected) {
            assert!((got - expected).abs() < 1e-10, "{weights:?} {expected}");
        }
    }
}

#[test]
fn rows_without_weight_are_not_there() {
    let x: Vec<Vec<f64>> = (0..10).map(|row| vec![f64::from(row % 3), f64::from(row % 4)]).collect();
    let member: Vec<bool> = (0..10).map(|row| row % 2 == 0).collect();
    let mut all = design(&x, &member);
    all.add(9, -1.0);
    let (mut with, mut without) = (vec![0.0; 3], vec![0.0; 3]);
    fit(&all, 1.0, &mut with, &RefCell::default()).unwrap();
    fit(&design(&x[..9], &member[..9]), 1.0, &mut without, &RefCell::default()).unwrap();
    assert!(with.iter().zip(&without).all(|(a, b)| (a - b).abs() < 1e-14), "{with:?} {without:?}");
    assert!(all.both_sides());
    (0..9).step_by(2).for_each(|row| all.add(row, -1.0));
    assert!(!all.both_sides());
}
