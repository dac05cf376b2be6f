//! Are the canaries fit to measure with: fitted by their models, independent of each other, and not diluted?

use super::attack_scores::AttackScores;
use super::sample_level::SampleLevel;
use super::tpr_at_fpr::curve_upper;
use crate::bound::Interval;
use crate::error::{Error, Result};
use crate::interval::{BinomialCounts, clopper_pearson};
use crate::order;
use crate::parallel;
use crate::quantity::{FailureProbability, Probability};
use crate::roc::Roc;
use ndarray::{Array2, ArrayView2};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How often victims are right about the samples that they were trained on, and about the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CanaryAccuracy {
    /// Correct answers about members: in-sample accuracy.
    pub members: BinomialCounts,
    /// Its limits.
    pub members_interval: Interval,
    /// Correct answers about non-members.
    pub non_members: BinomialCounts,
    /// Its limits.
    pub non_members_interval: Interval,
}

/// Accuracy of the victims on the samples inside and outside of their training data, with Clopper-Pearson limits. Each
/// limit is wrong with at most the failure probability if answers are independent.
///
/// `correct` \[victim, sample\] is true if the victim gives the sample its training label. Canaries that are not fitted
/// (an in-sample accuracy far below that of the training data) underestimate the exposure of the most vulnerable
/// sample.
///
/// # Errors
/// [`Error::Length`] when `correct` has another shape, or when there are no members or no non-members.
///
/// # Example
/// ```
/// # use leakbound::membership::{AttackScores, canary_accuracy};
/// # use leakbound::prelude::*;
/// # use ndarray::array;
/// let guesses = AttackScores::new(array![[1.0, 0.0], [0.0, 1.0]], array![[true, false], [false, true]])?;
/// let accuracy = canary_accuracy(&guesses, array![[true, false], [false, true]].view(), FailureProbability::new(0.05)?)?;
/// assert_eq!((accuracy.members.successes(), accuracy.non_members.successes()), (2, 0));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Aerni, Zhang and Tramèr (2024), "Evaluations of machine learning privacy defenses are misleading", section 4.2.
pub fn canary_accuracy(
    guesses: &AttackScores,
    correct: ArrayView2<'_, bool>,
    failure: FailureProbability,
) -> Result<CanaryAccuracy> {
    for (quantity, found, expected) in [
        ("victims with answers", correct.nrows(), guesses.victims()),
        ("samples with answers", correct.ncols(), guesses.samples()),
    ] {
        Error::check_size(quantity, found, expected, "")?;
    }
    let mut counts = [[0u64; 2]; 2];
    for (&member, &correct) in guesses.members().iter().zip(&correct) {
        let [right, all] = &mut counts[usize::from(!member)];
        *right += u64::from(correct);
        *all += 1;
    }
    for (quantity, [_, all]) in ["guesses about members", "guesses about non-members"].into_iter().zip(counts) {
        Error::check_length(all > 0, quantity, 0, "at least 1")?;
    }
    let [members, non_members] =
        [BinomialCounts::new(counts[0][0], counts[0][1])?, BinomialCounts::new(counts[1][0], counts[1][1])?];
    Ok(CanaryAccuracy {
        members,
        members_interval: clopper_pearson(members, failure)?,
        non_members,
        non_members_interval: clopper_pearson(non_members, failure)?,
    })
}

/// Whether the scores of different samples move together from victim to victim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CanaryIndependence {
    /// Mean correlation of the ranks of two samples over the victims, within their truth.
    pub mean_correlation: f64,
    /// Root of the mean squared correlation.
    pub rms_correlation: f64,
    /// Its mean over the permutations: the value expected under independence for this number of victims.
    pub rms_expected: f64,
    /// Probability that independent samples give statistics as extreme: twice the smaller of the two p-values.
    pub p_value: f64,
    /// Permutations drawn.
    pub permutations: usize,
    /// Samples compared.
    pub samples: usize,
}

/// More samples are thinned out evenly: a permutation takes their number times the square of the victims.
const MOST_SAMPLES: usize = 1000;
const PERMUTATIONS: std::ops::RangeInclusive<usize> = 99..=100_000;

/// A permutation test of independence between samples, given who was trained on them.
///
/// For each sample the scores are replaced by their mid-ranks among the victims of the same truth, centered and scaled
/// to unit length; this gives r_{vs}. There are two statistics, with ρ_{st} = Σ_v r_{vs} r_{vt}: |Σ_{s<t} ρ_{st}|,
/// which a victim that is high everywhere raises, and Σ_{s<t} ρ_{st}², which also finds clusters. If samples are
/// independent given the truth and victims are trained alike, the ranks of each sample may be permuted within each
/// truth without changing the joint distribution; so with B permutations (1 + #{statistic ≥ observed})/(1 + B) is a
/// valid p-value for each, and twice the smaller one for both, exactly and for every number of victims.
///
/// Guesses at the population level are counted as independent by Clopper-Pearson limits. A small p-value shows that
/// they are not; read the bootstrap over victims then. From more than 1,000 samples, 1,000 are taken evenly.
///
/// # Errors
/// [`Error::Length`] unless there are 99 to 100,000 permutations; [`Error::Rejected`] with fewer than two samples whose
/// scores differ, or when a truth has never two victims.
///
/// # Example
/// ```
/// # use leakbound::membership::{AttackScores, canary_independence};
/// # use ndarray::Array2;
/// // Every sample has the same scores over the victims.
/// let members = Array2::from_shape_fn((16, 5), |(v, _)| v % 2 == 0);
/// let guesses = AttackScores::new(Array2::from_shape_fn((16, 5), |(v, _)| v as f64), members)?;
/// let test = canary_independence(&guesses, 199, 0)?;
/// assert!((test.mean_correlation - 1.0).abs() < 1e-12 && test.p_value == 0.01);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Aerni, Zhang and Tramèr (2024), section 4.2, for the demand; Phipson and Smyth (2010), "Permutation p-values should
/// never be zero".
pub fn canary_independence(guesses: &AttackScores, permutations: usize, seed: u64) -> Result<CanaryIndependence> {
    let operation = "test of independence between samples";
    Error::check_length(PERMUTATIONS.contains(&permutations), operation, permutations, "99 to 100000 permutations")?;
    let columns = residuals(guesses);
    let reason = "fewer than 2 samples have different scores under victims of the same truth";
    Error::check_possible(columns.len() >= 2, operation, reason)?;
    let victims = guesses.victims();
    let observed = statistics(&columns, victims, |_, _| {});
    let permuted: Vec<[f64; 2]> = parallel::map(1..=permutations as u64, |index| {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        stream.set_stream(index);
        statistics(&columns, victims, |column, shuffled| shuffle(column, shuffled, &mut stream))
    });
    let p_value = |place: usize| {
        // Equal permutations may differ in the last digits.
        let least = observed[place] * (1.0 - 1e-9);
        let extreme = permuted.iter().filter(|values| values[place] >= least).count();
        (1 + extreme) as f64 / (1 + permutations) as f64
    };
    let samples = columns.len();
    let pairs = samples as f64 * (samples as f64 - 1.0) / 2.0;
    let expected = permuted.iter().map(|values| values[1]).sum::<f64>() / permutations as f64;
    let sum = signed_sum(&columns, victims);
    Ok(CanaryIndependence {
        mean_correlation: sum / pairs,
        rms_correlation: (observed[1] / pairs).max(0.0).sqrt(),
        rms_expected: (expected / pairs).max(0.0).sqrt(),
        p_value: (2.0 * p_value(0).min(p_value(1))).min(1.0),
        permutations,
        samples,
    })
}

/// Centered ranks of one sample with the victims of both truths.
struct Column {
    residuals: Vec<f64>,
    groups: [Vec<usize>; 2],
}

fn residuals(guesses: &AttackScores) -> Vec<Column> {
    let step = guesses.samples().div_ceil(MOST_SAMPLES).max(1);
    let columns = (0..guesses.samples()).step_by(step).map(|sample| {
        let (scores, members) = (guesses.scores(), guesses.members());
        let (scores, members) = (scores.column(sample), members.column(sample));
        let mut residuals = vec![0.0; scores.len()];
        let groups = [true, false].map(|truth| {
            let mut group: Vec<usize> = (0..scores.len()).filter(|&victim| members[victim] == truth).collect();
            order::sort(&mut group, |&a, &b| (scores[a] + 0.0).total_cmp(&(scores[b] + 0.0)));
            let mut start = 0;
            while start < group.len() {
                let ties = group[start..].iter().take_while(|&&v| scores[v] == scores[group[start]]).count();
                // The mean rank of the tie, less the mean rank of the group.
                let rank = start as f64 + (ties as f64 - 1.0) / 2.0 - (group.len() as f64 - 1.0) / 2.0;
                group[start..start + ties].iter().for_each(|&victim| residuals[victim] = rank);
                start += ties;
            }
            group
        });
        let length = residuals.iter().map(|rank| rank * rank).sum::<f64>().sqrt();
        (length > 0.0).then(|| {
            residuals.iter_mut().for_each(|rank| *rank /= length);
            Column { residuals, groups }
        })
    });
    columns.flatten().collect()
}

/// Fisher and Yates within each truth.
fn shuffle(column: &Column, shuffled: &mut [f64], stream: &mut ChaCha8Rng) {
    for group in &column.groups {
        // The numbers of a range of `usize`, in fewer instructions: more victims than a u32 counts do not fit in
        // memory.
        for last in (1..group.len() as u32).rev() {
            shuffled.swap(group[last as usize], group[stream.random_range(0..=last) as usize]);
        }
    }
}

/// |Σ_{s<t} ρ| and Σ_{s<t} ρ² of the columns after a change of each.
fn statistics(columns: &[Column], victims: usize, mut change: impl FnMut(&Column, &mut [f64])) -> [f64; 2] {
    // ‖R'R‖² = ‖RR'‖² over all pairs: the victims are fewer than the samples.
    let mut changed = Array2::zeros((columns.len(), victims));
    for (column, mut row) in columns.iter().zip(changed.rows_mut()) {
        if let Some(row) = row.as_slice_mut() {
            row.copy_from_slice(&column.residuals);
            change(column, row);
        }
    }
    let sums = changed.sum_axis(ndarray::Axis(0));
    let diagonal = columns.len() as f64;
    let sum = (sums.dot(&sums) - diagonal) / 2.0;
    let gram = if victims <= columns.len() { changed.t().dot(&changed) } else { changed.dot(&changed.t()) };
    let squares = (gram.iter().map(|value| value * value).sum::<f64>() - diagonal) / 2.0;
    [sum.abs(), squares]
}

fn signed_sum(columns: &[Column], victims: usize) -> f64 {
    let sums = (0..victims).map(|victim| columns.iter().map(|column| column.residuals[victim]).sum::<f64>());
    (sums.map(|sum| sum * sum).sum::<f64>() - columns.len() as f64) / 2.0
}

/// A sample that is exposed beyond what the population shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dilution {
    /// The sample.
    pub sample: usize,
    /// The sample is found with at least this probability,
    pub tpr_lower: f64,
    /// at an FPR of at most this,
    pub fpr_upper: f64,
    /// while at most this share of the population is found.
    pub population_tpr_upper: f64,
}

/// The sample whose exposure the population hides most, if there is one beyond doubt: its lower limit of TPR is above
/// the upper limit of the population's ROC at the largest FPR that the sample's own threshold may have.
///
/// Half of the failure probability is spent on the samples (all of them simultaneously), half on the population. The
/// population's limits count guesses as independent. A defense that names one member in its output ("name and shame")
/// has a population TPR of about FPR + 1/n, and this finds it.
///
/// # Errors
/// As [`sample_level`](crate::membership::sample_level).
///
/// # References
/// Aerni, Zhang and Tramèr (2024), section 4.1.
pub fn dilution(guesses: &AttackScores, target: Probability, failure: FailureProbability) -> Result<Option<Dilution>> {
    let half = failure.split(2);
    let samples = super::sample_level::sample_level(guesses, target, half)?;
    let [members, non_members] = guesses.pooled(|_| true);
    let Ok(population) = Roc::new(&members, &non_members) else { return Ok(None) };
    diluted(&samples, &population, half)
}

fn diluted(samples: &SampleLevel, population: &Roc, failure: FailureProbability) -> Result<Option<Dilution>> {
    let exposed = samples.ranked.iter().filter(|metrics| metrics.tpr_lower > metrics.fpr_upper);
    // Counts of victims may differ from sample to sample: the widest gap is the clearest case.
    let Some(worst) = exposed.max_by(|a, b| (a.tpr_lower - a.fpr_upper).total_cmp(&(b.tpr_lower - b.fpr_upper))) else {
        return Ok(None);
    };
    // The FPR at which the population is read depends on the counts of victims alone, where these are all the same.
    let distinct = {
        let mut limits: Vec<f64> = samples.ranked.iter().map(|metrics| metrics.fpr_upper).collect();
        limits.sort_by(f64::total_cmp);
        limits.dedup();
        limits.len()
    };
    let upper = curve_upper(population, worst.fpr_upper, failure.split(distinct))?;
    Ok((worst.tpr_lower > upper).then_some(Dilution {
        sample: worst.sample,
        tpr_lower: worst.tpr_lower,
        fpr_upper: worst.fpr_upper,
        population_tpr_upper: upper,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, StandardNormal};

    fn probability(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    fn failure(value: f64) -> FailureProbability {
        FailureProbability::new(value).unwrap()
    }

    fn normal_scores(victims: usize, samples: usize, shared: f64, seed: u64) -> AttackScores {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || -> f64 { StandardNormal.sample(&mut stream) };
        let common: Vec<f64> = (0..victims).map(|_| normal()).collect();
        let members = Array2::from_shape_fn((victims, samples), |(v, s)| (v * 7 + s * 3 + v * s) % 2 == 0);
        let scores = Array2::from_shape_fn((victims, samples), |(v, s)| {
            shared * common[v] + 2.0 * f64::from(u8::from(members[[v, s]])) + normal()
        });
        AttackScores::new(scores, members).unwrap()
    }

    /// The defense of Aerni et al. (2024), section 4.1: names one member, protects all others.
    #[test]
    fn name_and_shame_passes_the_population_and_fails_the_sample() {
        let mut stream = ChaCha8Rng::seed_from_u64(5);
        let members = Array2::from_shape_fn((64, 1000), |_| stream.random_bool(0.5));
        let scores = Array2::from_shape_fn((64, 1000), |(v, s)| f64::from(u8::from(s == 17 && members[[v, s]])));
        let guesses = AttackScores::new(scores, members).unwrap();
        let [inside, outside] = guesses.pooled(|_| true);
        let roc = Roc::new(&inside, &outside).unwrap();
        let population = crate::membership::tpr_at_fpr(&roc, probability(0.001), failure(0.05)).unwrap();
        // TPR ≤ FPR + 1/n but for the imbalance of the coin.
        assert!(population.tpr_estimate() < 0.0015 && population.tpr.upper < 0.002, "{population:?}");
        let level = crate::membership::sample_level(&guesses, probability(0.0), failure(0.05)).unwrap();
        let worst = level.ranked[0];
        assert_eq!((worst.sample, worst.tpr(), worst.false_positives.successes()), (17, 1.0, 0));
        assert!(worst.tpr_lower > 0.6 && level.ranked[1].tpr() == 0.0);
        let found = dilution(&guesses, probability(0.001), failure(0.05)).unwrap().unwrap();
        assert!(found.sample == 17 && found.tpr_lower > 0.6 && found.population_tpr_upper < 0.4, "{found:?}");
    }

    /// 200 data sets without and with a common part of a tenth of the variance. Without it, 10 on average have a
    /// p-value below 5%; more than 22 have a probability below 3e-4.
    #[test]
    fn independence_is_rejected_when_it_fails_only() {
        let rejected = |shared: f64| {
            let p_values = parallel::map(0..200, |seed| {
                canary_independence(&normal_scores(24, 40, shared, seed), 99, seed).unwrap().p_value
            });
            p_values.into_iter().filter(|p_value| *p_value <= 0.05).count()
        };
        let [alone, together] = [rejected(0.0), rejected(0.35)];
        println!("rejected {alone} and {together} of 200");
        assert!(alone <= 22 && together > 150, "{alone} {together}");
    }

    #[test]
    fn a_level_field_is_not_diluted() {
        let found = (0..20).filter(|&seed| {
            dilution(&normal_scores(64, 50, 0.0, seed), probability(0.01), failure(0.05)).unwrap().is_some()
        });
        assert_eq!(found.count(), 0);
    }

    #[test]
    fn hostile_canaries() {
        let constant = AttackScores::new(Array2::zeros((4, 4)), Array2::from_shape_fn((4, 4), |(v, _)| v < 2)).unwrap();
        assert!(canary_independence(&constant, 99, 0).is_err() && canary_independence(&constant, 5, 0).is_err());
        assert_eq!(dilution(&constant, probability(0.001), failure(1e-300)).unwrap(), None);
        let one_class = AttackScores::new(Array2::zeros((4, 4)), Array2::from_elem((4, 4), true)).unwrap();
        assert_eq!(dilution(&one_class, probability(1.0), failure(0.999)).unwrap(), None);
        assert!(canary_accuracy(&one_class, Array2::from_elem((4, 4), true).view(), failure(0.1)).is_err());
        assert!(canary_accuracy(&constant, Array2::from_elem((4, 3), true).view(), failure(0.1)).is_err());
        let infinite =
            Array2::from_shape_fn((8, 3), |(v, s)| if (v + s) % 2 == 0 { f64::INFINITY } else { f64::NEG_INFINITY });
        let infinite = AttackScores::new(infinite, Array2::from_shape_fn((8, 3), |(v, _)| v < 4)).unwrap();
        let test = canary_independence(&infinite, 99, 0).unwrap();
        assert!(test.p_value > 0.0 && test.rms_correlation.is_finite() && test.mean_correlation.is_finite());
    }
}
