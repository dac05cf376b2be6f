//! Recordings in memory files, against closed forms and simulated runs.

use super::*;
use crate::bound::Claimed;
use crate::quantity::{Delta, FailureProbability};
use crate::record::{MemoryBudget, read_tokens};
use crate::study::Claims;
use crate::study::unwatched;
use crate::token::{Decoding, NextTokens, TokenNeighbors, parse_mechanism, removed_members};
use ndarray::{Array1, Array2, Array3};
use ndarray_npy::NpzWriter;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn order(value: f64) -> Order {
    Order::new(value).unwrap()
}

fn claimed(value: f64) -> Claimed {
    Claimed::new(value).unwrap()
}

/// Logits \[position, member, token\] with those of a public model near them.
fn ensemble(seed: u64, [positions, members, tokens]: [usize; 3], spread: f32) -> (Array3<f32>, Array2<f32>) {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let public = Array2::from_shape_fn((positions, tokens), |_| 2.0 * stream.random::<f32>());
    let members = Array3::from_shape_fn((positions, members, tokens), |(position, _, token)| {
        public[[position, token]] + spread * (stream.random::<f32>() - 0.5)
    });
    (members, public)
}

/// A file with these arrays.
macro_rules! npz {
    ($path:expr, $($name:literal: $array:expr),*) => {{
        let mut npz = NpzWriter::new(File::create($path).unwrap());
        $(npz.add_array($name, $array).unwrap();)*
        npz.finish().unwrap();
    }};
}

fn written(folder: &Path, members: &Array3<f32>, public: &Array2<f32>, tokens: Option<Array1<i64>>) -> PathBuf {
    let path = folder.join("ensemble.npz");
    match tokens {
        Some(tokens) => npz!(&path, "logits": members, "public_logits": public, "tokens": &tokens),
        None => npz!(&path, "logits": members, "public_logits": public),
    }
    path
}

fn study(path: &Path, mechanism: &str, contexts: Contexts) -> TokensStudy {
    TokensStudy {
        recording: read_tokens(path, MemoryBudget::default()).unwrap(),
        decoding: Decoding::PLAIN,
        mechanism: parse_mechanism(mechanism).unwrap(),
        neighbors: TokenNeighbors::Removed,
        contexts,
        orders: vec![order(2.0), order(8.0)],
        delta: Delta::new(1e-5).unwrap(),
        failure_probability: FailureProbability::new(0.1).unwrap(),
        claims: Claims::default(),
        answer_claims: Vec::new(),
        transcripts: None,
        seed: 0,
        top: 3,
    }
}

/// The positions of a recording, as the room of tokens sees them.
fn positions(members: &Array3<f32>, public: &Array2<f32>) -> Vec<NextTokens> {
    members
        .outer_iter()
        .zip(public.outer_iter())
        .map(|(members, public)| {
            let (members, public) = (members.mapv(f64::from), public.mapv(f64::from));
            NextTokens::from_logits(members.view(), Some(public.view())).unwrap()
        })
        .collect()
}

#[test]
fn sums_are_those_of_positions_and_every_format_gives_the_same() {
    let folder = TempDir::new().unwrap();
    let (members, public) = ensemble(1, [5, 3, 7], 1.0);
    let tokens = Array1::from(vec![0i64, 3, 6, 2, 2]);
    let path = written(folder.path(), &members, &public, Some(tokens.clone()));
    let mechanism = "clipped-logits:clip=2,batch=3";
    let answer = study(&path, mechanism, Contexts::Fixed).run(&unwatched).unwrap();
    let all = positions(&members, &public);
    let parsed = parse_mechanism(mechanism).unwrap();
    for row in &answer.renyi {
        for (direction, found) in [(Direction::Forward, row.forward), (Direction::Reverse, row.reverse)] {
            let of = |position: &NextTokens| {
                let found = removed_members(&*parsed, position, &[order(row.order)]).unwrap();
                let one = found.iter().find(|one| one.neighbor as u64 == row.member && one.direction == direction);
                one.unwrap().value
            };
            let expected: f64 = all.iter().map(of).sum();
            assert!((found.0 / expected - 1.0).abs() < 1e-13, "{found:?} {expected}");
        }
    }
    for row in &answer.losses {
        let of = |(position, token): (&NextTokens, &i64)| {
            let released = parsed.released(position).unwrap();
            let without = released.neighbors().nth(row.member as usize).unwrap()[*token as usize];
            (released.whole()[*token as usize] / without).ln()
        };
        let expected: f64 = all.iter().zip(&tokens).map(of).sum();
        assert!((row.loss.unwrap().0 - expected).abs() < 1e-12);
    }
    // The position of the largest value is listed first, and was in the largest of a row.
    let first = &answer.leaking[0];
    assert!(answer.renyi.iter().any(|row| row.order == 2.0 && row.largest == first.divergence));
    assert!(answer.leaking.windows(2).all(|pair| pair[0].divergence.0 >= pair[1].divergence.0));

    let arrays = folder.path().join("arrays");
    std::fs::create_dir(&arrays).unwrap();
    ndarray_npy::write_npy(arrays.join("logits.npy"), &members).unwrap();
    ndarray_npy::write_npy(arrays.join("public_logits.npy"), &public).unwrap();
    ndarray_npy::write_npy(arrays.join("tokens.npy"), &tokens).unwrap();
    let tensors = folder.path().join("ensemble.safetensors");
    std::fs::write(&tensors, safetensors(&members, &public, &tokens)).unwrap();
    for other in [arrays, tensors] {
        let same = study(&other, mechanism, Contexts::Fixed).run(&unwatched).unwrap();
        assert_eq!(serde_json::to_string(&same).unwrap(), serde_json::to_string(&answer).unwrap());
    }
}

/// A token of these probabilities.
fn draw(probabilities: &[f64], stream: &mut ChaCha8Rng) -> usize {
    let mut left: f64 = stream.random();
    let given = probabilities.iter().position(|p| {
        left -= p;
        left < 0.0
    });
    given.unwrap_or(probabilities.len() - 1)
}

fn safetensors(members: &Array3<f32>, public: &Array2<f32>, tokens: &Array1<i64>) -> Vec<u8> {
    let data: [(&str, &str, &[usize], Vec<u8>); 3] = [
        ("logits", "F32", members.shape(), members.iter().flat_map(|x| x.to_le_bytes()).collect()),
        ("public_logits", "F32", public.shape(), public.iter().flat_map(|x| x.to_le_bytes()).collect()),
        ("tokens", "I64", tokens.shape(), tokens.iter().flat_map(|x| x.to_le_bytes()).collect()),
    ];
    let mut header = serde_json::json!({ "__metadata__": { "format": "np" } });
    let mut bytes = Vec::new();
    for (name, dtype, shape, one) in data {
        let offsets = [bytes.len(), bytes.len() + one.len()];
        header[name] = serde_json::json!({ "dtype": dtype, "shape": shape, "data_offsets": offsets });
        bytes.extend(one);
    }
    let header = header.to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes].concat()
}

/// A run of an ensemble with fixed contexts, drawn 2,000 times: its lower bounds are above the exact values no more
/// often than stated.
#[test]
fn lower_bounds_of_runs_hold() {
    let (members, public) = ensemble(3, [40, 3, 6], 4.0);
    let mechanism = parse_mechanism("clipped-logits:clip=3,batch=2").unwrap();
    let all = positions(&members, &public);
    let released: Vec<_> = all.iter().map(|position| mechanism.released(position).unwrap()).collect();
    let exact: Vec<f64> = (0..3)
        .flat_map(|member| [2.0, 8.0].map(|a| (member, order(a))))
        .map(|(member, order)| {
            let of = |position| {
                let found = removed_members(&*mechanism, position, &[order]).unwrap();
                found.iter().find(|one| one.neighbor == member && one.direction == Direction::Forward).unwrap().value
            };
            all.iter().map(of).sum()
        })
        .collect();
    let failure = FailureProbability::new(0.2).unwrap().split(3);
    let mut stream = ChaCha8Rng::seed_from_u64(4);
    let (mut wrong, mut informative) = (0, 0);
    for _ in 0..2_000 {
        let mut losses = [0.0; 3];
        for one in &released {
            let token = draw(one.whole(), &mut stream);
            for (loss, without) in losses.iter_mut().zip(one.neighbors()) {
                *loss += (one.whole()[token] / without[token]).ln();
            }
        }
        let bounds: Vec<f64> = losses
            .iter()
            .flat_map(|&loss| {
                let rectangle = Rectangle::of_observed_loss(loss, failure);
                [2.0, 8.0].map(|a| rectangle.corner(order(a), Direction::Forward).value)
            })
            .collect();
        wrong += u32::from(bounds.iter().zip(&exact).any(|(bound, exact)| bound > exact));
        informative += u32::from(bounds.iter().any(|bound| *bound > 0.0));
    }
    println!("{wrong} of 2000 wrong, {informative} above 0, exact {exact:?}");
    // 400 are stated; more than 460 would have a probability below 1e-3.
    assert!(wrong < 460 && informative > 500, "{wrong} {informative}");
}

#[test]
fn claims_are_tested_by_what_is_known() {
    let folder = TempDir::new().unwrap();
    let (members, public) = ensemble(5, [30, 4, 6], 6.0);
    let all = positions(&members, &public);
    let mechanism = parse_mechanism("clipped-logits:clip=4,batch=4").unwrap();
    // Tokens that member 1 alone would give: improbable in a run, but it is about the loss.
    let tokens: Array1<i64> = all
        .iter()
        .map(|position| {
            let released = mechanism.released(position).unwrap();
            let without = released.neighbors().nth(1).unwrap();
            let ratio = |token: &usize| released.whole()[*token] / without[*token];
            (0..6).max_by(|a, b| ratio(a).total_cmp(&ratio(b))).unwrap() as i64
        })
        .collect();
    let path = written(folder.path(), &members, &public, Some(tokens));
    let mut asked = study(&path, "clipped-logits:clip=4,batch=4", Contexts::Answered);
    asked.claims.epsilon = Some((crate::quantity::Epsilon::new(0.5).unwrap(), asked.delta));
    asked.claims.rdp = vec![(order(2.0), claimed(0.1)), (order(3.0), claimed(1e3))];
    asked.answer_claims = vec![(order(2.0), claimed(1e-6)), (order(2.0), claimed(4.0))];
    let answer = asked.run(&unwatched).unwrap();
    let refuted: Vec<bool> = answer.claims.iter().map(|claim| claim.refuted).collect();
    assert_eq!(refuted, [true, true, false, true, false], "{:#?}", answer.claims);
    assert!(answer.claims[0].query.contains("member 1") && answer.claims[0].failure_probability == 0.1);
    assert_eq!(answer.claims[3].failure_probability, 0.0);
    // ε at least is the loss, but for the failure probability of four members.
    let row = &answer.losses[1];
    let expected = row.loss.unwrap().0 + (1.0f64 - 1e-5 / 0.025).ln();
    assert!((row.epsilon_at_least.unwrap().0 - expected).abs() < 1e-9);
    assert!(row.epsilon_at_most.is_none());
    asked.contexts = Contexts::Fixed;
    let fixed = asked.run(&unwatched).unwrap();
    assert!(fixed.claims[1].refuted && fixed.claims[1].failure_probability == 0.0);
    assert!(fixed.losses.iter().all(|row| row.epsilon_at_most.is_some()));

    let silent = written(folder.path(), &members, &public, None);
    let mut asked = study(&silent, "clipped-logits:clip=4,batch=4", Contexts::Answered);
    asked.claims.mu = Some(claimed(1.0));
    let error = asked.run(&unwatched).unwrap_err().to_string();
    assert!(error.contains("none were recorded"), "{error}");
}

/// What PMixED charges is said to be exceeded where it is.
#[test]
fn a_charge_that_is_no_bound_is_named() {
    let folder = TempDir::new().unwrap();
    let (rare, other) = (4e-5f32, 4e-9f32);
    let logits = |p: f32| [p.ln(), (-p).ln_1p()];
    let members = Array3::from_shape_vec((1, 2, 2), [logits(rare), logits(other)].concat()).unwrap();
    let public = Array2::from_shape_vec((1, 2), logits(1e-6).to_vec()).unwrap();
    let path = written(folder.path(), &members, &public, None);
    let mut asked = study(&path, "mixed-tokens:order=3,radius=0.04", Contexts::Answered);
    asked.orders = vec![order(3.0), order(1.5)];
    let answer = asked.run(&unwatched).unwrap();
    assert_eq!(answer.warnings[0].code, "charge-exceeded");
    let charged = answer.accountants.iter().find(|row| !row.is_theorem()).unwrap();
    assert!(charged.largest.0 > 2.6 && charged.answer.0 < 0.09 && charged.above == 1);
    // Half of both members is the mixture: the theorem holds at the order that it covers.
    assert!(answer.accountants.iter().any(|row| row.is_theorem() && row.order == 1.5 && row.answer.0.is_finite()));
}

#[test]
fn planted_sequences_are_ranked_exactly() {
    use super::planted::test_planted;
    // All first of four: one case of 4^3.
    let best = test_planted(
        &[0, 1, 2],
        &[vec![-1.0, -2.0, -3.0, -4.0], vec![-5.0, -2.0, -3.0, -4.0], vec![-5.0, -4.0, -3.0, -6.0]],
    );
    assert!((best.p_value.0 * 64.0 - 1.0).abs() < 1e-11 && best.mean_rank.0 == 1.0 && best.expected.0 == 2.5);
    // Ties carry no information.
    let tied = test_planted(&[3, 3], &[vec![0.0; 4], vec![0.0; 4]]);
    assert_eq!((tied.p_value.0, tied.mean_rank.0), (1.0, 2.5));
    // A fair die without memory: p-values are not smaller than they should be.
    let mut stream = ChaCha8Rng::seed_from_u64(9);
    let small = (0..2_000)
        .filter(|_| {
            let likelihoods: Vec<Vec<f64>> = (0..6).map(|_| (0..3).map(|_| stream.random()).collect()).collect();
            let member: Vec<usize> = (0..6).map(|_| stream.random_range(0..3)).collect();
            test_planted(&member, &likelihoods).p_value.0 <= 0.1
        })
        .count();
    println!("{small} of 2000 p-values up to 0.1");
    assert!(small <= 245, "{small}");
}

/// A member that is replaced by a model set aside: the ensembles are written down by hand. And what pairs of models leak.
#[test]
fn members_are_replaced_and_come_in_pairs() {
    let folder = TempDir::new().unwrap();
    let (models, public) = ensemble(7, [6, 6, 5], 2.0);
    let path = folder.path().join("spares.npz");
    let (members, spares) = models.view().split_at(ndarray::Axis(1), 4);
    let tokens = Array1::from(vec![0i64, 1, 2, 3, 4, 0]);
    npz!(&path, "logits": &members, "spare_logits": &spares, "public_logits": &public, "tokens": &tokens);
    let (text, at) = ("clipped-logits:clip=2,batch=4", order(2.0));
    let mut asked = study(&path, text, Contexts::Fixed);
    asked.neighbors = TokenNeighbors::Replaced;
    let answer = asked.run(&unwatched).unwrap();
    assert_eq!(answer.losses.len(), 8);
    let mechanism = parse_mechanism(text).unwrap();
    let of = |chosen: [usize; 4]| -> Vec<Vec<f64>> {
        let all = positions(&models.select(ndarray::Axis(1), &chosen), &public);
        all.iter().map(|position| mechanism.released(position).unwrap().whole().to_vec()).collect()
    };
    let whole = of([0, 1, 2, 3]);
    for row in answer.renyi.iter().filter(|row| row.order == 2.0) {
        let mut chosen = [0, 1, 2, 3];
        chosen[row.member as usize] = 4 + row.replaced_by.unwrap() as usize;
        let divergence = |(p, q): (&Vec<f64>, &Vec<f64>)| {
            let of = |values: &[f64]| crate::distribution::OutcomeDistribution::from_probabilities(values).unwrap();
            crate::divergence::renyi_divergence(&of(p), &of(q), at).unwrap()
        };
        let expected: f64 = whole.iter().zip(&of(chosen)).map(divergence).sum();
        assert!((row.forward.0 / expected - 1.0).abs() < 1e-10, "{row:?} {expected}");
    }
    for row in &answer.losses {
        let [lower, upper] = row.epsilon.unwrap();
        assert!(
            row.epsilon_at_least.unwrap().0 <= lower.0 && lower.0 <= upper.0 && upper.0 < 1.02 * lower.0,
            "{row:?}"
        );
        assert!(row.epsilon_at_most.unwrap().0 <= upper.0);
        // Theorems are above what is exact.
        assert!(answer.epsilons.iter().all(|bound| bound.epsilon.0 >= lower.0), "{row:?} {:?}", answer.epsilons);
    }

    let text = "submixed-tokens:order=2,discordance=0.05";
    let mut pairs = study(&path, text, Contexts::Fixed);
    for neighbors in [TokenNeighbors::Removed, TokenNeighbors::Replaced] {
        pairs.neighbors = neighbors;
        let answer = pairs.run(&unwatched).unwrap();
        assert_eq!((answer.losses.len(), answer.accountants.len()), (2, 0));
        let spare = (neighbors == TokenNeighbors::Replaced).then_some(0);
        assert!(answer.losses.iter().all(|row| row.replaced_by == spare));
    }
    // A claim of ε is decided with certainty.
    let exact = answer.losses.iter().map(|row| row.epsilon.unwrap()[0].0).fold(0.0, f64::max);
    for (claimed, refuted) in [(0.99 * exact, true), (1.03 * exact, false)] {
        asked.claims.epsilon = Some((crate::quantity::Epsilon::new(claimed).unwrap(), asked.delta));
        let claim = &asked.run(&unwatched).unwrap().claims[0];
        assert_eq!((claim.refuted, claim.failure_probability), (refuted, 0.0), "{claim:?}");
    }
}

/// Tokens \[position, ensemble, transcript\] of the ensemble and of each neighbor, drawn by a mechanism.
fn drawn(all: &[NextTokens], mechanism: &str, count: usize, stream: &mut ChaCha8Rng) -> Array3<i64> {
    let mechanism = parse_mechanism(mechanism).unwrap();
    let released: Vec<_> = all.iter().map(|position| mechanism.released(position).unwrap()).collect();
    let ensembles = 1 + released[0].neighbors().len();
    Array3::from_shape_fn((all.len(), ensembles, count), |(position, ensemble, _)| {
        let released = &released[position];
        let p = ensemble.checked_sub(1).map_or(released.whole(), |other| released.neighbors().nth(other).unwrap());
        draw(p, stream) as i64
    })
}

/// 2,000 transcripts of each ensemble, 200 times: bounds are above the exact values no more often than stated, and reach
/// two fifths of them on average.
#[test]
fn lower_bounds_of_transcripts_hold() {
    let folder = TempDir::new().unwrap();
    let (members, public) = ensemble(11, [40, 3, 6], 1.0);
    let path = written(folder.path(), &members, &public, None);
    let mut asked = study(&path, "clipped-logits:clip=3,batch=2", Contexts::Fixed);
    asked.failure_probability = FailureProbability::new(0.2).unwrap();
    asked.transcripts = Some(2_000);
    let (mut wrong, mut share) = (0, 0.0);
    for seed in 0..200 {
        asked.seed = seed;
        let answer = asked.run(&unwatched).unwrap();
        let found = answer.transcripts.unwrap();
        assert_eq!((found.renyi.len(), found.members.len(), found.transcripts), (6, 3, 2_000));
        let above = found.renyi.iter().any(|row| {
            let exact = answer.renyi.iter().find(|of| of.member == row.member && of.order == row.order).unwrap();
            assert_eq!((row.exact_forward, row.exact_reverse), (exact.forward, exact.reverse));
            row.forward.0 > row.exact_forward.0 || row.reverse.0 > row.exact_reverse.0
        });
        let epsilon_above = found.members.iter().zip(&answer.losses).any(|(bound, row)| {
            assert!(bound.groups >= 15 && (300..500).contains(&bound.pilot), "{bound:?}");
            bound.epsilon_at_least.0 > row.epsilon.unwrap()[1].0
        });
        wrong += u32::from(above || epsilon_above);
        share += found.renyi.iter().map(|row| row.forward.0 / row.exact_forward.0).sum::<f64>() / 6.0 / 200.0;
    }
    println!("{wrong} of 200 wrong, {share:.3} of the exact values on average");
    // 40 are stated; more than 58 would have a probability below 1e-3.
    assert!(wrong < 58 && share > 0.4, "{wrong} {share}");
    // The same at any number of threads.
    let of_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        serde_json::to_string(&pool.install(|| asked.run(&unwatched)).unwrap()).unwrap()
    };
    assert_eq!(of_threads(1), of_threads(3));
}

/// Transcripts that a mechanism gave are bounded whatever the recorded distributions are: one that leaks more than these is
/// found out.
#[test]
fn recorded_transcripts_show_the_mechanism_that_gave_them() {
    let folder = TempDir::new().unwrap();
    let (members, public) = ensemble(12, [30, 3, 6], 1.5);
    let all = positions(&members, &public);
    let (told, leaky) = ("clipped-logits:clip=3,batch=4", "clipped-logits:clip=3,batch=1");
    let path = folder.path().join("again.npz");
    let mut stream = ChaCha8Rng::seed_from_u64(13);
    let with = |transcripts: &Array3<i64>| {
        npz!(&path, "logits": &members, "public_logits": &public, "transcripts": transcripts);
        let mut asked = study(&path, told, Contexts::Fixed);
        asked.claims.rdp = vec![(order(2.0), claimed(1.0))];
        asked.claims.mu = Some(claimed(0.8));
        asked
    };
    let honest = with(&drawn(&all, told, 1_000, &mut stream)).run(&unwatched).unwrap();
    let found = honest.transcripts.as_ref().unwrap();
    assert_eq!((found.source, found.transcripts), (TranscriptSource::Recorded, 1_000));
    assert!(honest.warnings.is_empty(), "{:?}", honest.warnings);
    // D of order 2 is known with certainty.
    assert!(!honest.claims[0].refuted && honest.claims[0].failure_probability == 0.0, "{:?}", honest.claims);
    assert!(honest.claims[1].lower.0 > 0.1 && !honest.claims[1].refuted, "{:?}", honest.claims);

    let leaked = drawn(&all, leaky, 1_000, &mut stream);
    let lied = with(&leaked).run(&unwatched).unwrap();
    assert_eq!(lied.warnings[0].code, "transcripts-of-another-mechanism");
    assert!(lied.claims.iter().all(|claim| claim.refuted && claim.failure_probability == 0.1), "{:?}", lied.claims);
    // What the recorded distributions refute is refuted with certainty.
    let mut asked = with(&leaked);
    asked.claims.rdp = vec![(order(2.0), claimed(1e-6))];
    let certain = &asked.run(&unwatched).unwrap().claims[0];
    assert!(certain.refuted && certain.failure_probability == 0.0, "{certain:?}");
    assert!(certain.lower.0 < lied.claims[0].lower.0, "{certain:?}");

    // What cannot be bounded is said.
    let refused = |asked: TokensStudy, expected: &[&str]| {
        let error = asked.run(&unwatched).unwrap_err().to_string();
        assert!(expected.iter().all(|text| error.contains(text)), "{error}");
    };
    let mut bad = drawn(&all, told, 100, &mut stream);
    refused(TokensStudy { contexts: Contexts::Answered, ..with(&bad) }, &["fixed beforehand"]);
    refused(TokensStudy { transcripts: Some(1_000), ..with(&bad) }, &["nothing to simulate"]);
    bad[[7, 2, 5]] = 6;
    refused(with(&bad), &["index [7, 2, 5]", "a token from 0 to 5"]);
    let few = bad.slice_axis(ndarray::Axis(2), ndarray::Slice::from(..50)).to_owned();
    refused(with(&few), &["50 transcripts: at least 100"]);
    let some = bad.slice_axis(ndarray::Axis(1), ndarray::Slice::from(..3)).to_owned();
    refused(with(&some), &["transcripts of 3 ensembles were recorded; 4 are expected, the whole one and 3 neighbors"]);
}
