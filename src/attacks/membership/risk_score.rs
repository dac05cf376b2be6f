//! The privacy-risk score: the probability that a sample was a training sample, after seeing its answer.

use super::lira::{Guesses, Victims};
use super::means::means;
use super::order_statistics::order_statistics;
use super::shadow_scores::ShadowScores;
use crate::error::{Error, Result};
use crate::membership::AttackScores;
use ndarray::{Array2, Axis};

/// The privacy-risk score of each sample under each victim.
///
/// The score s of an answer, averaged over the views, falls into one of `bins` bins, which hold equal shares of all
/// recorded scores. Within the class y of the sample, the other models put a share a_b of their answers on training
/// samples into the bin and a share b_b of those on other samples; with even prior odds
///
/// P(member | s, y) = a_b/(a_b + b_b).
///
/// **High means member**; ½ carries no information. A class without answers of both kinds uses those of all classes,
/// and a bin without any answer has ½; such guesses are counted as undecided.
///
/// Shapes: scores \[model, sample, view\], usually
/// [`ModifiedEntropy`](crate::membership::MembershipScore::ModifiedEntropy), one label per sample or none (one class
/// for all); the result is \[victim, sample\]. The ends of the bins depend on the scores of all models, not on the
/// truth of any.
///
/// ```
/// # use leakbound::membership::{MemoryScores, Victims, risk_score};
/// # use ndarray::{Array2, Array3};
/// let members = Array2::from_shape_fn((6, 1), |(m, _)| m < 3);
/// let scores = Array3::from_shape_fn((6, 1, 1), |(m, _, _)| if m < 3 { 1.0 } else { 0.0 });
/// let guesses = risk_score(&MemoryScores::double(scores, members)?, None, 2, &Victims::LeaveOneOut)?;
/// assert_eq!((guesses.scores.scores()[[0, 0]], guesses.scores.scores()[[5, 0]]), (1.0, 0.0));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// [`Error::Domain`] unless there are 2 to 10,000 bins; [`Error::Length`] if the numbers of labels and samples differ;
/// [`Error::Rejected`] if no other model gives answers of both kinds; victims as for [`lira`](crate::membership::lira);
/// errors in reading the source.
///
/// # References
/// Song and Mittal (2021), "Systematic evaluation of privacy risks of machine learning models", section 4.1.
pub fn risk_score(
    source: &impl ShadowScores,
    labels: Option<&[usize]>,
    bins: usize,
    victims: &Victims,
) -> Result<Guesses> {
    Error::check_domain((2..=10_000).contains(&bins), "bins of a risk score", bins as f64, "{2, ..., 10000}")?;
    let members = source.members();
    let (models, samples) = members.dim();
    if let Some(labels) = labels {
        Error::check_size("labels", labels.len(), samples, ", one per sample")?;
    }
    let (list, shadows) = (victims.list(models)?, victims.shadows(models));
    let values = means(source)?;
    let bin = Bins::new(&values, bins);
    // Classes numbered as they come, after the one class of all.
    let mut known = std::collections::HashMap::new();
    let class: Vec<usize> = (0..samples)
        .map(|sample| {
            labels.map_or(0, |labels| {
                let next = known.len() + 1;
                *known.entry(labels[sample]).or_insert(next)
            })
        })
        .collect();
    let mut all = Tallies::new(bins, known.len() + 1);
    for ((model, sample), &member) in members.indexed_iter().filter(|((model, _), _)| shadows[*model]) {
        all.add(class[sample], bin.of(values[[model, sample]]), member, 1.0);
    }
    let mut scores = Array2::from_elem((list.len(), samples), 0.5);
    let mut undecided = 0;
    let mut possible = false;
    for (mut row, &victim) in scores.rows_mut().into_iter().zip(&list) {
        let truth = |sample: usize| (class[sample], bin.of(values[[victim, sample]]), members[[victim, sample]]);
        if shadows[victim] {
            (0..samples).map(truth).for_each(|(class, bin, member)| all.add(class, bin, member, -1.0));
        }
        for (sample, score) in row.iter_mut().enumerate() {
            let (class, bin, _) = truth(sample);
            match all.posterior(class, bin) {
                Some(posterior) => *score = posterior,
                None => undecided += 1,
            }
        }
        possible |= all.both(0);
        if shadows[victim] {
            (0..samples).map(truth).for_each(|(class, bin, member)| all.add(class, bin, member, 1.0));
        }
    }
    Error::check_possible(possible, "risk score", "no other model has answers on samples of both kinds")?;
    Ok(Guesses { scores: AttackScores::new(scores, members.select(Axis(0), &list))?, undecided })
}

/// Ends of bins with equally many scores.
struct Bins {
    ends: Vec<f64>,
}

impl Bins {
    fn new(values: &Array2<f64>, bins: usize) -> Self {
        let place = |bin: usize| (bin * values.len() / bins).min(values.len() - 1);
        let places: Vec<usize> = (1..bins).map(place).collect();
        let mut ends = order_statistics(values.iter().copied(), &places);
        ends.dedup();
        Self { ends }
    }

    fn of(&self, value: f64) -> usize {
        self.ends.partition_point(|&end| end <= value)
    }
}

/// Answers by class, bin and truth; class 0 holds all of them.
struct Tallies {
    bins: usize,
    counts: Vec<[f64; 2]>,
    totals: Vec<[f64; 2]>,
}

impl Tallies {
    fn new(bins: usize, classes: usize) -> Self {
        Self { bins, counts: vec![[0.0; 2]; bins * classes], totals: vec![[0.0; 2]; classes] }
    }

    fn add(&mut self, class: usize, bin: usize, member: bool, weight: f64) {
        let side = usize::from(member);
        self.counts[bin][side] += weight;
        self.totals[0][side] += weight;
        if class > 0 {
            self.counts[class * self.bins + bin][side] += weight;
            self.totals[class][side] += weight;
        }
    }

    fn both(&self, class: usize) -> bool {
        self.totals[class].iter().all(|&total| total > 0.0)
    }

    fn posterior(&self, class: usize, bin: usize) -> Option<f64> {
        let class = [class, 0].into_iter().find(|&class| self.both(class))?;
        let (counts, totals) = (self.counts[class * self.bins + bin], self.totals[class]);
        let shares = [counts[0] / totals[0], counts[1] / totals[1]];
        (shares[0] + shares[1] > 0.0).then(|| shares[1] / (shares[0] + shares[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::MemoryScores;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn the_posterior_is_that_of_counts_without_the_victim() {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(9);
        let members = Array2::from_shape_simple_fn((7, 40), || generator.random::<f64>() < 0.5);
        let values = Array2::from_shape_simple_fn((7, 40), || (generator.random::<f64>() * 4.0).floor());
        let labels: Vec<usize> = (0..40).map(|sample| 100 * (sample % 3)).collect();
        let source = MemoryScores::double(values.clone().insert_axis(Axis(2)), members.clone()).unwrap();
        // Four values, each about a quarter of all: with enough bins each has its own.
        let found = risk_score(&source, Some(&labels), 50, &Victims::LeaveOneOut).unwrap();
        for ((victim, sample), &got) in found.scores.scores().indexed_iter() {
            let share = |member: bool| {
                let answers: Vec<f64> = members
                    .indexed_iter()
                    .filter(|&((m, s), &truth)| m != victim && labels[s] == labels[sample] && truth == member)
                    .map(|(index, _)| values[index])
                    .collect();
                answers.iter().filter(|&&v| v == values[[victim, sample]]).count() as f64 / answers.len() as f64
            };
            let expected = share(true) / (share(true) + share(false));
            assert!((got - expected).abs() < 1e-12, "{victim} {sample}: {got} {expected}");
        }
    }

    #[test]
    fn equal_scores_say_nothing_and_one_kind_is_rejected() {
        let source = |members: Array2<bool>| MemoryScores::double(ndarray::Array3::zeros((4, 3, 1)), members).unwrap();
        let mixed = Array2::from_shape_fn((4, 3), |(m, s)| (m + s) % 2 == 0);
        let found = risk_score(&source(mixed.clone()), None, 15, &Victims::LeaveOneOut).unwrap();
        assert!(found.scores.scores().iter().all(|&score| score == 0.5));
        assert!(risk_score(&source(Array2::from_elem((4, 3), true)), None, 15, &Victims::LeaveOneOut).is_err());
        assert!(risk_score(&source(mixed.clone()), Some(&[0]), 15, &Victims::LeaveOneOut).is_err());
        assert!(risk_score(&source(mixed), None, 1, &Victims::LeaveOneOut).is_err());
    }
}
