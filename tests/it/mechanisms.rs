//! Every mechanism of the registry, and one that is not in it, held against itself.

use leakbound::accountant::{Statement, Theorem, WorstCases, randomized_response_rdp};
use leakbound::bound::Direction;
use leakbound::distribution::OutcomeDistribution;
use leakbound::divergence::{ComposedDirection, PrivacyLoss};
use leakbound::histogram::{VoteChange, VoteHistogram};
use leakbound::mechanism::{
    self, Bins, DataKind, Mechanism, MechanismKind, Parameter, Parameters, RELEASES, RandomVotes,
};
use leakbound::model::{CapcModel, PateModel, PrivateKnnModel, PromptPateModel, VoteModel};
use leakbound::program::never_stop;
use leakbound::quantity::{Delta, Epsilon, Order, Probability};
use leakbound::simulate::{Sampler, Simulation, Stream, World, chi_square_p_value, simulate};
use leakbound::verify::{Case, Plan, PropertyVerdict, accountants_of, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Mechanisms of a kind with data, drawn to look for trouble.
fn drawn(kind: &'static MechanismKind, count: usize) -> Vec<(Arc<dyn Mechanism>, VoteHistogram)> {
    let mut stream = ChaCha8Rng::seed_from_u64(20_261_122);
    let draw = || {
        let data = (kind.draw_data)(&mut stream, true);
        let largest = data.iter().copied().max().unwrap_or(0);
        Some(((kind.draw)(&mut stream, largest)?, VoteHistogram::new(data).ok()?))
    };
    std::iter::repeat_with(draw).take(20 * count).flatten().take(count).collect()
}

/// Some of the neighbors.
fn neighbors(kind: &MechanismKind, data: &VoteHistogram) -> Vec<VoteHistogram> {
    let changes = kind.data.neighbors(data, true, 1_000).unwrap();
    changes.into_iter().take(6).map(|change| data.neighbor(change).unwrap()).collect()
}

#[test]
fn text_and_json_read_back_as_they_are_written() {
    for &kind in RELEASES {
        for (mechanism, data) in drawn(kind, 50) {
            let text = mechanism.to_string();
            let again = mechanism::parse(&text).unwrap();
            assert!(*again == *mechanism && again.to_string() == text, "{text}");
            let parameters = mechanism.parameters();
            let fields: Vec<String> = parameters
                .iter()
                .map(|(name, value)| match value {
                    mechanism::Value::Number(number) => format!("\"{name}\":{number:e},"),
                    mechanism::Value::Word(word) => format!("\"{name}\":\"{word}\","),
                    mechanism::Value::List(numbers) => format!("\"{name}\":{numbers:?},"),
                })
                .collect();
            let line = format!("{{\"mechanism\":\"{kind}\",{}\"histogram\":[{data}],\"order\":2}}", fields.concat());
            let case = Case::from_json(&line).unwrap();
            assert!(*case.request.mechanism == *mechanism, "{line}");
            assert_eq!(Case::from_json(&case.json()).unwrap(), case, "{line}");
        }
    }
}

#[test]
fn what_is_no_mechanism_is_rejected_in_one_line() {
    for (text, words) in [
        ("gnmaks:sigma=1", "unknown mechanism `gnmaks`; did you mean `gnmax`?"),
        ("gnmax", "sigma is missing"),
        ("gnmax:sigma=0", "sigma: noise scale = 0 is not in (0, inf)"),
        ("gnmax:sigma=x", "sigma: `x` is not a number"),
        ("gnmax:sigma=nan", "sigma: noise scale = NaN is not in (0, inf)"),
        ("gnmax:sigma=1,sigma=2", "sigma comes twice"),
        ("gnmax:beta=1", "gnmax has no parameter `beta`; it takes: sigma"),
        ("gnmax:1", "`1` is not of the form name=value"),
        ("subsampled-gaussian:sigma=1,rate=2", "rate: "),
        ("gnss:sigma=1,beta=-1,step=0,width=1,neighbor_width=1", "beta = -1 is not in [0, inf)"),
        ("confident-gnmax:sigma=1,threshold=inf,threshold_sigma=1,threshold_form=max", "threshold"),
        ("confident-gnmax:sigma=1,threshold=1,threshold_sigma=1,threshold_form=best", "max or per-class"),
    ] {
        let error = mechanism::parse(text).unwrap_err().to_string();
        assert!(error.contains(words) && !error.contains('\n'), "{text}: {error}");
    }
}

#[test]
fn kinds_list_the_theorems_of_their_mechanisms() {
    let known = WorstCases::default();
    for &kind in RELEASES {
        let mut seen: Vec<&Statement> = Vec::new();
        for (mechanism, data) in drawn(kind, 100) {
            for theorem in mechanism.theorems_for(&data, &known) {
                let statement = theorem.statement();
                assert!(kind.theorems.contains(&statement), "{mechanism}: {statement:?}");
                if !seen.contains(&statement) {
                    seen.push(statement);
                }
            }
        }
        assert_eq!(seen.len(), kind.theorems.len(), "{kind}: {seen:?}");
    }
}

/// What is enclosed of privacy losses stands around the profiles of the outputs: those that are not cut into bins have
/// nothing between the ends, and of those that are the bins stand below the upper end.
#[test]
fn privacy_losses_of_every_mechanism_are_enclosed() {
    let (delta, epsilons) = (Delta::new(1e-3).unwrap(), [0.0, 0.1, 1.0, 5.0].map(|e| Epsilon::new(e).unwrap()));
    for &kind in RELEASES {
        let mut enclosed = 0;
        for (mechanism, data) in drawn(kind, 8) {
            let Some(neighbor) = neighbors(kind, &data).into_iter().next() else { continue };
            let Ok(pair) = mechanism.output_pair(&data, &neighbor, Bins::at(None)) else { continue };
            let Ok(losses) = mechanism.enclosed_losses(&data, &neighbor, 500) else {
                assert_eq!(kind.name, "gnss", "{mechanism}");
                continue;
            };
            for (loss, direction) in losses.into_iter().zip(Direction::BOTH) {
                let profile = |loss: PrivacyLoss| ComposedDirection::of_known(&[(loss, 1)], delta, 1e-4).unwrap();
                let (below, above) = (profile(loss.at_least), profile(loss.at_most));
                for epsilon in epsilons {
                    let (exact, upper) = (pair.delta(direction, epsilon), above.delta(epsilon).upper);
                    assert!(exact <= upper * (1.0 + 1e-9) + 1e-13, "{mechanism} {data} {epsilon}: {exact} {upper}");
                    let lower = below.delta(epsilon).lower;
                    assert!(lower <= upper, "{mechanism} {data} {epsilon}: {lower} {upper}");
                }
            }
            enclosed += 1;
        }
        assert!(enclosed >= 4 || kind.name == "gnss", "{kind}: {enclosed}");
    }
}

/// Whatever a theorem says of a direction is at least the exact divergence there.
#[test]
fn no_theorem_is_below_the_exact_divergence_of_its_direction() {
    let orders = [1.5, 2.0, 8.0, 40.0].map(|order| Order::new(order).unwrap());
    let known = WorstCases::default();
    for &kind in RELEASES {
        let (mut compared, mut closest) = (0, 0.0f64);
        for (mechanism, data) in drawn(kind, 12) {
            for theorem in mechanism.theorems_for(&data, &known) {
                for direction in Direction::BOTH {
                    let Some(bounds) = theorem.values(&orders, direction) else { continue };
                    for (order, bound) in orders.iter().zip(bounds) {
                        let Ok(dataset) = mechanism.output_distribution(&data, Bins::at(Some(*order))) else {
                            continue;
                        };
                        for neighbor in neighbors(kind, &data) {
                            let other = mechanism.output_distribution(&neighbor, Bins::at(Some(*order))).unwrap();
                            let pair = leakbound::distribution::OutputPair::new(dataset.clone(), other).unwrap();
                            let exact = pair.renyi(direction, *order);
                            let name = theorem.name();
                            let case = || format!("{mechanism} {data} {neighbor} {name} {direction} {order}");
                            assert!(exact <= bound * (1.0 + 1e-9) + 1e-12, "{}: {exact} {bound}", case());
                            compared += 1;
                            if bound > 1e-9 && bound.is_finite() {
                                closest = closest.max(exact / bound);
                            }
                        }
                    }
                }
            }
        }
        println!("{kind}: {compared} values, the largest exact one {closest:.4} of its bound");
        assert!(compared >= 50 && closest > 0.5, "{kind}: {compared} {closest}");
    }
}

/// A model of random votes of three classes, with the rate of a subsample for every other one of Private-kNN.
fn random_votes(kind: usize, stream: &mut ChaCha8Rng) -> (VoteModel, Option<Probability>) {
    let mut probabilities = || {
        let weights = [0; 3].map(|_| stream.random::<f64>().powi(4) + 1e-6);
        weights.map(|weight| weight / weights.iter().sum::<f64>())
    };
    let [p, other] = [probabilities(), probabilities()];
    let voters = stream.random_range(1..60);
    let changed = stream.random_range(1..=voters.min(3));
    let model: VoteModel = match kind {
        0 => PateModel::new(voters, &p, &other).unwrap().with_changed_teachers(changed).unwrap().into(),
        1 => CapcModel::new(&vec![p.to_vec(); voters as usize], &other).unwrap().into(),
        2 => {
            let votes = VoteHistogram::new(p.map(|p| 1 + (60.0 * p) as u64).to_vec()).unwrap();
            let change = votes.neighbors(VoteChange::Moved)[0];
            PromptPateModel::new(votes.clone(), votes.neighbor(change).unwrap()).unwrap().into()
        }
        _ => {
            let inclusion = [0.01, 0.2, 0.7][stream.random_range(0..3)];
            let model = PrivateKnnModel::new(voters, &p, &other, inclusion, 1).unwrap().with_points(changed).unwrap();
            // The point votes no more often than it is in the subsample.
            return (model.into(), stream.random_bool(0.5).then(|| Probability::new(inclusion).unwrap()));
        }
    };
    (model, None)
}

/// Random votes have a distribution in the place of data; their text form is a scenario's.
#[test]
fn no_theorem_about_random_votes_is_below_the_exact_divergence() {
    let orders = [1.5, 2.0, 8.0, 40.0].map(|order| Order::new(order).unwrap());
    let known = WorstCases::default();
    let mut stream = ChaCha8Rng::seed_from_u64(20_261_123);
    for kind in 0..4 {
        let (mut compared, mut closest) = (0, 0.0f64);
        // Only fixed votes have an exact distribution with Laplace noise.
        let noises = if kind == 2 {
            ["laplace:1", "gaussian:3", "laplace:6"]
        } else {
            ["gaussian:0.7", "gaussian:3", "gaussian:12"]
        };
        for noise in noises.repeat(5) {
            let (model, rate) = random_votes(kind, &mut stream);
            let read: VoteModel = serde_json::from_str(&serde_json::to_string(&model).unwrap()).unwrap();
            assert_eq!(read, model);
            let mechanism = RandomVotes { model: &model, noise: noise.parse().unwrap(), rate };
            // The series of CaPC does not converge where the noise is too small for its voters, and says so.
            let pair = match mechanism.output_pair() {
                Err(leakbound::Error::NoConvergence { .. }) if kind == 1 => continue,
                pair => pair.unwrap(),
            };
            for theorem in mechanism.theorems(&pair, &known) {
                for direction in Direction::BOTH {
                    let Some(bounds) = theorem.values(&orders, direction) else { continue };
                    for (order, bound) in orders.iter().zip(bounds) {
                        let exact = pair.renyi(direction, *order);
                        let case = || format!("{model:?} {noise} {} {direction} {order}", theorem.name());
                        assert!(exact <= bound * (1.0 + 1e-9) + 1e-9, "{}: {exact} {bound}", case());
                        compared += 1;
                        closest = if bound > 1e-9 { closest.max(exact / bound) } else { closest };
                    }
                }
            }
        }
        println!("model {kind}: {compared} values, the largest exact one {closest:.4} of its bound");
        assert!(compared >= 100 && closest > 0.1, "{kind}: {compared} {closest}");
    }
}

/// A correct program fails with probability 1e-6 over all tests.
#[test]
fn samplers_follow_the_exact_distribution_in_both_worlds() {
    const EACH: usize = 4;
    let least = 1e-6 / (2 * EACH * RELEASES.len()) as f64;
    for &kind in RELEASES {
        for (mechanism, data) in drawn(kind, EACH) {
            let neighbor = neighbors(kind, &data).pop().unwrap_or_else(|| data.clone());
            let bins = Bins { order: Some(Order::new(2.0).unwrap()), count: 8 };
            let Ok(pair) = mechanism.output_pair(&data, &neighbor, bins) else { continue };
            let sampler = mechanism.sampler(&data, &neighbor, bins).unwrap();
            let counts = simulate(&Drawn(&*sampler), Simulation::new(100_000).unwrap(), |_| ()).unwrap();
            for (counts, distribution) in
                [(counts.counts(), pair.dataset()), (counts.counts_neighbor(), pair.neighbor())]
            {
                let p = chi_square_p_value(counts, distribution.p()).unwrap();
                println!("{mechanism} {data} {neighbor}: p = {p:.4}");
                assert!(p > least, "{mechanism} {data} {neighbor}: {counts:?} {distribution:?}");
            }
        }
    }
}

/// A sampler behind a reference.
struct Drawn<'a>(&'a dyn Sampler);

impl Sampler for Drawn<'_> {
    fn outcomes(&self) -> usize {
        self.0.outcomes()
    }

    fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        self.0.sample_block(world, stream, samples, counts);
    }
}

/// The worked example of CONTRIBUTING: one bit, flipped with a probability.
#[derive(Debug)]
struct FlippedBit {
    flip: Probability,
}

const FLIPPED_BIT: &MechanismKind = &MechanismKind {
    name: "flipped-bit",
    example: "flipped-bit:flip=0.25",
    data: DataKind::OneRecord,
    parameters: &[Parameter::number("flip", &[0.25, 0.1])],
    releases: Some("the bit, flipped with a probability"),
    theorems: &[&WARNER],
    noise_hides: false,
    read: |parameters| Ok(Arc::new(FlippedBit { flip: parameters.probability("flip")? })),
    draw_data: |_, _| vec![0],
    draw: |stream, _| Some(Arc::new(FlippedBit { flip: Probability::new(stream.random_range(0.001..0.5)).ok()? })),
};

static WARNER: Statement = Statement::for_any_data("warner", "one flipped bit", "Mironov (2017), Proposition 5");

impl Mechanism for FlippedBit {
    fn kind(&self) -> &'static MechanismKind {
        FLIPPED_BIT
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("flip", self.flip.get())
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        let flip = self.flip;
        vec![Theorem::new(&WARNER, move |order, _| randomized_response_rdp(order, flip))]
    }

    fn output_distribution(&self, data: &VoteHistogram, _: Bins) -> leakbound::Result<OutcomeDistribution> {
        let one = if data.counts() == [1] { 1.0 - self.flip.get() } else { self.flip.get() };
        OutcomeDistribution::from_probabilities(&[1.0 - one, one])
    }

    fn sampler(
        &self,
        data: &VoteHistogram,
        neighbor: &VoteHistogram,
        bins: Bins,
    ) -> leakbound::Result<Box<dyn Sampler>> {
        let distributions = [self.output_distribution(data, bins)?, self.output_distribution(neighbor, bins)?];
        Ok(Box::new(Bits(distributions.map(|distribution| distribution.p()[1]))))
    }
}

/// The probability of 1 in each world.
struct Bits([f64; 2]);

impl Sampler for Bits {
    fn outcomes(&self) -> usize {
        2
    }

    fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        for _ in 0..samples {
            counts[usize::from(stream.random_bool(self.0[world.index()]))] += 1;
        }
    }
}

/// No line of the library knows it: its theorem is tested as every other.
#[test]
fn a_mechanism_outside_the_library_is_verified_as_every_other() {
    let accountants = accountants_of(FLIPPED_BIT);
    assert_eq!(accountants.len(), 1);
    let outcome = verify(&*accountants[0], &Plan { cases: 100, seed: 3, ..Plan::default() }, &never_stop);
    assert!(!outcome.refuted(), "{outcome:?}");
    let finding = outcome.of("rdp-covers-exact").unwrap();
    assert!(
        matches!(finding.verdict, PropertyVerdict::NotRefuted) && finding.largest_share.unwrap() > 0.999,
        "{finding:?}"
    );
    let bit: Arc<dyn Mechanism> = Arc::new(FlippedBit { flip: Probability::new(0.25).unwrap() });
    assert_eq!(bit.to_string(), "flipped-bit:flip=0.25");
    assert!(bit.with("flip", 2.0).is_none() && bit.with_noise_times(2.0).is_none());
}
