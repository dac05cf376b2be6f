use super::*;
use crate::membership::{LiraPlan, lira, threshold_attack};
use crate::special::ndtr;
use ndarray::array;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;

/// The score of one sample of one model.
fn score(views: &[Vec<f64>], pairs: ViewPairs) -> f64 {
    let flat: Vec<f64> = views.concat();
    let shape = (1, 1, views.len(), views[0].len());
    let embeddings = MemoryEmbeddings::new(Array4::from_shape_vec(shape, flat).unwrap(), array![[true]]).unwrap();
    of_block(&ScoredEmbeddings::new(&embeddings, pairs).unwrap(), 0..1)[[0, 0]]
}

fn of_block(scores: &ScoredEmbeddings<'_>, samples: Range<usize>) -> Array2<f64> {
    let ScoreBlock::Double(block) = scores.block(samples).unwrap() else { panic!("doubles expected") };
    block.index_axis(Axis(2), 0).to_owned()
}

/// First witness: two views at an angle θ have (1 + cos θ)/(1 - cos θ) = cot²(θ/2).
#[test]
fn two_views_have_a_closed_form() {
    let mut worst: f64 = 0.0;
    for exponent in -12..=0 {
        for angle in [3.0, 2.0, 1.0].map(|x: f64| x * 10f64.powi(exponent)) {
            let expected = -2.0 * (angle / 2.0).tan().abs().ln();
            let found = score(&[vec![7.0, 0.0], vec![1e-3 * angle.cos(), 1e-3 * angle.sin()]], ViewPairs::All);
            worst = worst.max((found - expected).abs());
        }
    }
    println!("largest error {worst:.1e}");
    assert!(worst < 1e-11, "{worst}");
    // Three views at right angles have ρ = 0, and so do four pairs at the corners of a square.
    let corners = [vec![1.0, 0.0, 0.0], vec![0.0, 2.0, 0.0], vec![0.0, 0.0, 3.0]];
    assert!(score(&corners, ViewPairs::All).abs() < 1e-15);
    // Pairs (0°, 60°) and (90°, 90°): the mean of 1/2 and 1, and of all six pairs (1/2 + 1 + 2 cos 30°)/6.
    let half = [vec![1.0, 0.0], vec![0.5, 0.75f64.sqrt()], vec![0.0, 1.0], vec![0.0, 5.0]];
    let fisher = |rho: f64| ((1.0 + rho) / (1.0 - rho)).ln();
    assert!((score(&half, ViewPairs::Disjoint) - fisher(0.75)).abs() < 1e-15);
    assert!((score(&half, ViewPairs::All) - fisher((1.5 + 3f64.sqrt()) / 6.0)).abs() < 1e-15);
}

/// Second witness: `validation/reference/encoder_scores.json`.
#[test]
fn scores_agree_with_their_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/reference/encoder_scores.json");
    let table: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (mut worst, mut nearly_alike): (f64, f64) = (0.0, 0.0);
    for entry in &table {
        let row = |row: &Value| row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        let views: Vec<Vec<f64>> = entry["embeddings"].as_array().unwrap().iter().map(row).collect();
        let pairs = if entry["pairs"] == "all" { ViewPairs::All } else { ViewPairs::Disjoint };
        let expected: f64 = entry["expected"].as_str().unwrap().parse().unwrap();
        let error = (score(&views, pairs) - expected).abs();
        // Views that agree to n digits keep 16 - n in their distance.
        let alike = expected.abs() > 20.0;
        let largest = if alike { &mut nearly_alike } else { &mut worst };
        *largest = largest.max(error);
        assert!(error < 4e-16 * (0.5 * expected.abs()).exp().max(25.0), "{entry}: {error}");
    }
    println!("{} entries, largest errors {worst:.1e}, and {nearly_alike:.1e} beyond 20", table.len());
    assert!(table.len() > 40);
}

/// Third witness: the cosine of two independent isotropic vectors in three dimensions is uniform on \[-1, 1\]
/// (Archimedes), so that the score is logistic. The largest distance of 20,000 scores from its distribution function
/// is above 2.2/√20000 with a probability below 2 exp(-2·2.2²) = 1.3e-4.
#[test]
fn scores_of_independent_views_are_logistic() {
    let mut stream = ChaCha8Rng::seed_from_u64(7);
    let draw = Array4::from_shape_simple_fn((20, 1000, 2, 3), || StandardNormal.sample(&mut stream));
    let embeddings = MemoryEmbeddings::new(draw, Array2::from_elem((20, 1000), true)).unwrap();
    let scores = of_block(&ScoredEmbeddings::new(&embeddings, ViewPairs::All).unwrap(), 0..1000);
    let mut scores: Vec<f64> = scores.into_raw_vec_and_offset().0;
    scores.sort_by(f64::total_cmp);
    let n = scores.len() as f64;
    let distance = scores.iter().enumerate().fold(0.0, |most: f64, (rank, score)| {
        let share = 1.0 / (1.0 + (-score).exp());
        most.max(share - rank as f64 / n).max((rank + 1) as f64 / n - share)
    });
    println!("distance times the root of n: {:.3}", distance * n.sqrt());
    assert!(distance < 2.2 / n.sqrt(), "{distance}");
}

/// Views are the direction of the sample with noise; members have less of it. The sum of many squares is near normal:
/// with noise of variance v in D dimensions around a center of length c, 1 - ρ is about v (D-1)/c² with 3 (D-1) degrees
/// of freedom from four views. LiRA knows how hard each sample is; one threshold for all does not.
#[test]
fn encoders_that_know_their_images_are_found() {
    let (models, samples, dimension) = (24, 80, 32);
    let mut stream = ChaCha8Rng::seed_from_u64(3);
    let members = Array2::from_shape_fn((models, samples), |(m, s)| (m + s) % 2 == 0);
    let hard: Vec<f64> = (0..samples).map(|_| 0.5 + stream.random::<f64>()).collect();
    let mut embeddings = Array4::zeros((models, samples, 4, dimension));
    for ((m, s, _, d), number) in embeddings.indexed_iter_mut() {
        let noise: f64 = StandardNormal.sample(&mut stream);
        let center = if d == s % dimension { 30.0 } else { 0.0 };
        *number = center + hard[s] * noise * if members[[m, s]] { 0.25 } else { 0.3 };
    }
    let embeddings = MemoryEmbeddings::new(embeddings, members).unwrap();
    let scores = ScoredEmbeddings::new(&embeddings, ViewPairs::All).unwrap();
    let auc = |guesses: &crate::membership::AttackScores| {
        let [inside, outside] = guesses.pooled(|_| true);
        crate::roc::Roc::new(&inside, &outside).unwrap().auc()
    };
    let (one, per_sample) =
        (auc(&threshold_attack(&scores).unwrap()), auc(&lira(&scores, &LiraPlan::default()).unwrap().scores));
    // ln(1 - ρ) of a sample: a mean difference of about 2 ln(0.3/0.25) against the spread of about 93 squares.
    let expected = ndtr(2.0 * (0.3f64 / 0.25).ln() / (2.0 * (2.0f64 / 93.0)).sqrt());
    println!("AUC of one threshold {one:.3}, of LiRA {per_sample:.3}, of one sample by theory about {expected:.3}");
    assert!(one > 0.55 && per_sample > one + 0.1, "{one} {per_sample}");
    assert!((per_sample - expected).abs() < 0.05, "{per_sample} {expected}");
}

#[test]
fn the_scale_of_a_view_and_the_size_of_a_block_do_not_matter() {
    let mut stream = ChaCha8Rng::seed_from_u64(5);
    let members = Array2::from_shape_fn((3, 40), |(m, s)| (m + s) % 2 == 0);
    let draw = Array4::from_shape_simple_fn((3, 40, 4, 9), || StandardNormal.sample(&mut stream));
    let scores = |embeddings: Array4<f64>, samples: Range<usize>| {
        let embeddings = MemoryEmbeddings::new(embeddings, members.clone()).unwrap();
        of_block(&ScoredEmbeddings::new(&embeddings, ViewPairs::All).unwrap(), samples)
    };
    let whole = scores(draw.clone(), 0..40);
    assert_eq!(scores(draw.clone(), 7..19), whole.slice_axis(Axis(1), (7..19).into()));
    // Powers of two change no digit, however large or small.
    for power in [-1000, -500, 1000] {
        assert_eq!(scores(draw.mapv(|x: f64| x * 2f64.powi(power)), 0..40), whole, "{power}");
    }
}

#[test]
fn views_that_are_the_same_end_the_scale() {
    let end = (2f64 / 1e-28).ln();
    let mut stream = ChaCha8Rng::seed_from_u64(9);
    for views in [2, 3, 18] {
        let view: Vec<f64> = (0..700).map(|_| StandardNormal.sample(&mut stream)).collect();
        // The same up to a factor is the same direction; rounding is not told apart from it.
        let all: Vec<Vec<f64>> = (0..views).map(|v| view.iter().map(|x| x * (1.0 + v as f64)).collect()).collect();
        assert!((score(&all, ViewPairs::All) - end).abs() < 1e-12, "{views}");
    }
    let opposite = [vec![3.0, 4.0], vec![-3.0, -4.0]];
    assert!((score(&opposite, ViewPairs::Disjoint) + end).abs() < 1e-12);
    assert!((score(&[vec![5e-324], vec![f64::MAX]], ViewPairs::All) - end).abs() < 1e-12);
}

/// Embeddings that break their contract.
struct Zeros(Array2<bool>);

impl ShadowEmbeddings for Zeros {
    fn members(&self) -> ArrayView2<'_, bool> {
        self.0.view()
    }

    fn views(&self) -> usize {
        2
    }

    fn dimension(&self) -> usize {
        3
    }

    fn embeddings(&self, samples: Range<usize>) -> Result<CowArray<'_, f64, Ix4>> {
        Ok(Array4::zeros((self.0.nrows(), samples.len(), 2, 3)).into())
    }
}

#[test]
fn what_does_not_fit_is_rejected() {
    let truth = array![[true, false], [false, true]];
    let made = |embeddings: Array4<f64>| MemoryEmbeddings::new(embeddings, truth.clone());
    let message = |embeddings: Array4<f64>| made(embeddings).unwrap_err().to_string();
    let mut zero = Array4::ones((2, 2, 3, 2));
    (0..2).for_each(|number| zero[[1, 0, 2, number]] = -0.0);
    let mut nan = Array4::ones((2, 2, 3, 2));
    nan[[0, 1, 2, 0]] = f64::NAN;
    let odd = made(Array4::ones((2, 2, 3, 2))).unwrap();
    insta::assert_snapshot!(
        [
            message(Array4::ones((2, 3, 2, 2))),
            message(Array4::ones((2, 2, 1, 2))),
            message(Array4::ones((2, 2, 2, 0))),
            message(nan),
            message(zero),
            ScoredEmbeddings::new(&odd, ViewPairs::Disjoint).err().unwrap().to_string(),
            ScoredEmbeddings::new(&Zeros(truth.clone()), ViewPairs::All).unwrap().block(1..2).unwrap_err().to_string(),
        ]
        .join("\n"),
        @"
        samples with scores has length 3; expected 2, as their truth
        views with embeddings has length 1; expected at least 2
        numbers of an embedding has length 0; expected at least 1
        number of an embedding = NaN is not in (-inf, inf)
        cosine similarity of embeddings: the embedding of model 1, sample 0, view 2 is zero, which has no direction
        cosine similarity of embeddings: 3 views do not split into pairs
        cosine similarity of embeddings: the embedding of model 0, sample 1, view 0 is zero, which has no direction
        "
    );
}
