//! An attack's score of each sample for each victim, with the truth.

use crate::error::{Error, Result};
use crate::parallel;
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;

/// Scores of a membership attack: one for each sample under each victim model. **High means member**, whatever the
/// attack; attacks whose published form means the opposite have their sign reversed.
///
/// Shapes: `scores` and `members` are \[victim, sample\]; `members` is true if the victim was trained on the sample.
/// Scores may be infinite and may be equal; they are never NaN.
///
/// ```
/// # use leakbound::membership::AttackScores;
/// # use ndarray::array;
/// let guesses = AttackScores::new(array![[2.5, -0.5, 0.0]], array![[true, false, false]])?;
/// assert_eq!((guesses.victims(), guesses.samples()), (1, 3));
/// assert!(AttackScores::new(array![[f64::NAN]], array![[true]]).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AttackScores {
    scores: Array2<f64>,
    members: Array2<bool>,
}

impl AttackScores {
    /// Checks and keeps scores and truth.
    ///
    /// # Errors
    /// [`Error::Length`] unless both have the same shape with at least one victim and one sample, [`Error::Domain`] for
    /// a score that is NaN.
    pub fn new(scores: Array2<f64>, members: Array2<bool>) -> Result<Self> {
        for (axis, quantity) in [(0, "victims of an attack"), (1, "samples of an attack")] {
            let (found, truth) = (scores.len_of(Axis(axis)), members.len_of(Axis(axis)));
            Error::check_length(found > 0, quantity, found, "at least 1")?;
            Error::check_size(quantity, found, truth, ", as their truth")?;
        }
        Error::check_domain_of_all(&scores, |score| !score.is_nan(), "score of an attack", "[-inf, inf]")?;
        Ok(Self { scores, members })
    }

    /// Number of victim models.
    #[must_use]
    pub fn victims(&self) -> usize {
        self.scores.nrows()
    }

    /// Number of samples.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.scores.ncols()
    }

    /// The scores \[victim, sample\].
    #[must_use]
    pub fn scores(&self) -> ArrayView2<'_, f64> {
        self.scores.view()
    }

    /// The truth \[victim, sample\].
    #[must_use]
    pub fn members(&self) -> ArrayView2<'_, bool> {
        self.members.view()
    }

    /// The scores of one sample, those of members and those of non-members, over the victims; empty beyond the last
    /// sample.
    #[must_use]
    pub fn of_sample(&self, sample: usize) -> [Vec<f64>; 2] {
        let mut classes = [Vec::new(), Vec::new()];
        if sample < self.samples() {
            for (&score, &member) in self.scores.column(sample).iter().zip(self.members.column(sample)) {
                classes[usize::from(!member)].push(score);
            }
        }
        classes
    }

    /// The scores of these samples pooled, those of members and those of non-members.
    #[must_use]
    pub fn pooled(&self, samples: impl Fn(usize) -> bool) -> [Vec<f64>; 2] {
        let chosen: Vec<usize> = (0..self.samples()).filter(|&sample| samples(sample)).collect();
        let rows: Vec<_> = self.scores.rows().into_iter().zip(self.members.rows()).collect();
        let all = chosen.len() == self.samples();
        let members_of = |members: &ArrayView1<'_, bool>| {
            if all {
                members.iter().filter(|&&member| member).count()
            } else {
                chosen.iter().filter(|&&sample| members[sample]).count()
            }
        };
        let counts = parallel::map(&rows, |(_, members)| members_of(members));
        let positives = counts.iter().sum();
        let mut classes = [vec![0.0; positives], vec![0.0; rows.len() * chosen.len() - positives]];
        let [mut first, mut second] = classes.each_mut().map(|class| &mut class[..]);
        let mut places = Vec::with_capacity(rows.len());
        for ((scores, members), count) in rows.into_iter().zip(counts) {
            let (own, rest) = std::mem::take(&mut first).split_at_mut(count);
            let (other, behind) = std::mem::take(&mut second).split_at_mut(chosen.len() - count);
            (first, second) = (rest, behind);
            places.push((scores, members, own, other));
        }
        let buffers = || [vec![0.0; chosen.len()], vec![0.0; chosen.len()]];
        places.into_par_iter().for_each_init(buffers, |[first, second], (scores, members, own, other)| {
            let mut ends = [0; 2];
            let mut add = |score: f64, member: bool| {
                // Written to both and kept in one: membership is a coin that no processor predicts.
                first[ends[0]] = score;
                second[ends[1]] = score;
                ends[0] += usize::from(member);
                ends[1] += usize::from(!member);
            };
            match (scores.as_slice(), members.as_slice()) {
                (Some(scores), Some(members)) if all => {
                    scores.iter().zip(members).for_each(|(&score, &member)| add(score, member));
                }
                _ => chosen.iter().for_each(|&sample| add(scores[sample], members[sample])),
            }
            own.copy_from_slice(&first[..own.len()]);
            other.copy_from_slice(&second[..other.len()]);
        });
        classes
    }
}
