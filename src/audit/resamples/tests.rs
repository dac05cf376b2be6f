use super::*;
use crate::audit::tests;
use crate::distribution::OutcomeDistribution;
use crate::divergence::renyi_divergence;
use crate::quantity::Order;

fn counts(x: &[u64], y: &[u64]) -> PairedCounts {
    tests::counts(x.to_vec(), y.to_vec())
}

#[test]
fn outcomes_of_one_world_share_a_cell_seen_in_both() {
    assert_eq!(partition(&counts(&[5, 5], &[4, 6])), [0, 1]);
    assert_eq!(partition(&counts(&[5, 5, 3], &[4, 0, 6])), [1, 0, 0]);
    assert_eq!(partition(&counts(&[5, 5, 0, 3], &[4, 0, 6, 1])), [1, 0, 0, 2]);
    assert_eq!(partition(&counts(&[5, 0, 3], &[4, 0, 6])), [1, 0, 2]);
    assert_eq!(partition(&counts(&[5, 0], &[0, 6])), [0, 0]);
    assert_eq!(partition(&counts(&[5, 5], &[9, 0])), [0, 0]);
}

/// The plug-in of a recording is the divergence of its frequencies.
#[test]
fn the_plug_in_is_the_divergence_of_the_frequencies() {
    for (x, y) in [
        ([7_000u64, 2_000, 1_000], [5_000u64, 4_000, 1_000]),
        ([5_000_001, 2_000_000, 2_999_999], [5_000_000, 2_000_001, 2_999_999]),
        ([1, 999, 9_000], [900, 9_000, 100]),
    ] {
        let draw = Resamples::draw(&counts(&x, &y), &[vec![0, 1, 2]], 100, 0);
        let distribution = |x: &[u64; 3]| {
            let n = x.iter().sum::<u64>() as f64;
            OutcomeDistribution::from_probabilities(&x.map(|x| x as f64 / n)).unwrap()
        };
        for a in [1.0001, 2.0, 7.5, 64.0, 300.0] {
            let order = Order::new(a).unwrap();
            let forward = renyi_divergence(&distribution(&x), &distribution(&y), order).unwrap();
            let reverse = renyi_divergence(&distribution(&y), &distribution(&x), order).unwrap();
            let [own, back] = Direction::BOTH.map(|direction| draw[0].observed(a, direction));
            assert!((own / forward - 1.0).abs() < 1e-5 && (back / reverse - 1.0).abs() < 1e-5, "{own} {forward}");
        }
    }
}

/// Against the definition, output by output.
#[test]
fn acceleration_is_that_of_the_jackknife() {
    let counts = counts(&[9, 5, 3], &[4, 6, 11]);
    let draw = &Resamples::draw(&counts, &[vec![0, 1, 2]], 100, 0)[0];
    for direction in Direction::BOTH {
        let (mut cubes, mut squares) = (0.0, 0.0);
        for world in 0..2 {
            let outputs: Vec<usize> = (0..3).flat_map(|c| vec![c; draw.observed[world][c] as usize]).collect();
            let n = outputs.len() as f64;
            let without: Vec<f64> = outputs
                .iter()
                .map(|&gone| {
                    let mut fewer = draw.observed.clone();
                    fewer[world][gone] -= 1;
                    draw.of_counts(&fewer[0], &fewer[1], 2.5, direction)
                })
                .collect();
            let mean = without.iter().sum::<f64>() / n;
            for value in without {
                let u = (n - 1.0) * (mean - value) / n;
                (cubes, squares) = (cubes + u.powi(3), squares + u.powi(2));
            }
        }
        let expected = cubes / (6.0 * squares.powf(1.5));
        let found = draw.acceleration(2.5, direction);
        assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
    }
}

/// Means and variances of resampled frequencies, each within five standard errors (6e-7 each, 12 of them).
#[test]
fn resamples_have_the_distribution_of_the_frequencies() {
    let (x, y) = ([600u64, 300, 100], [50_000u64, 49_990, 10]);
    let draws = 20_000;
    let all = Resamples::draw(&counts(&x, &y), &[vec![0, 1, 2], vec![0, 0, 1]], draws, 3);
    for (values, x) in [(&all[0].p, x), (&all[0].q, y)] {
        let n = x.iter().sum::<u64>() as f64;
        for cell in 0..3 {
            let (p, draws) = (x[cell] as f64 / n, draws as f64);
            let variance = p * (1.0 - p) / n;
            let (mut sum, mut squares) = (0.0, 0.0);
            for row in values.chunks_exact(3) {
                let z = (row[cell] - p) / variance.sqrt();
                (sum, squares) = (sum + z, squares + z * z);
            }
            // The fourth moment of a standardized binomial is 3 + (1 - 6pq)/npq.
            let fourth = 3.0 + (1.0 - 6.0 * p * (1.0 - p)) / (n * p * (1.0 - p));
            assert!((sum / draws.sqrt()).abs() < 5.0);
            assert!((squares / draws - 1.0).abs() < 5.0 * ((fourth - 1.0) / draws).sqrt());
        }
    }
    for (pair, whole) in all[1].p.chunks_exact(2).zip(all[0].p.chunks_exact(3)) {
        assert!((pair[1] - whole[2]).abs() < 1e-12 && (pair[0] + pair[1] - 1.0).abs() < 1e-12);
    }
}

#[test]
fn threads_do_not_matter() {
    let counts = counts(&[600, 300, 100], &[500, 400, 100]);
    let draw = || Resamples::draw(&counts, &[vec![0, 1, 2]], 1_000, 9)[0].p.clone();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(draw);
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(draw);
    assert_eq!(one, three);
}

/// The cell that receives the remainder has the same frequencies as if it had been counted, to the last digit; and K
/// sets of one outcome take K additions each per resample.
#[test]
fn sets_of_one_outcome_are_counted_once() {
    let (x, y): (Vec<u64>, Vec<u64>) =
        ((0..50u64).map(|c| 3 + c * c % 17).collect(), (0..50).map(|c| 2 + c % 5).collect());
    let alone = |outcome: usize| (0..50).map(|other| usize::from(other != outcome)).collect();
    let mut partitions: Vec<Vec<usize>> = (0..50).map(alone).collect();
    partitions.push((0..50).collect());
    let places = Places::new(&partitions, &[vec![2; 50], vec![50]].concat());
    assert_eq!(places.places.len(), 50 + 49);
    let mut all = Resamples::draw(&counts(&x, &y), &partitions, 300, 7);
    let whole = all.pop().unwrap();
    for (outcome, set) in all.iter().enumerate() {
        for (row, rest) in whole.p.chunks_exact(50).zip(set.p.chunks_exact(2)) {
            assert_eq!(row[outcome], rest[0]);
            let others: f64 = (0..50).filter(|&other| other != outcome).map(|other| row[other]).sum();
            assert!((others - rest[1]).abs() < 1e-14);
        }
    }
    let total = x.iter().sum::<u64>() as f64;
    let counted = |p: f64| (p * total).round() / total == p;
    assert!(all.iter().all(|set| set.p.iter().all(|&p| counted(p))));
}
