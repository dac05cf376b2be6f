//! One number for each answer of a model: how much it looks like an answer on a training sample.

use crate::error::{Error, Result};
use crate::named::named;

/// The number computed from the logits z of one answer, with the label y. **High means member** for all of them.
///
/// With p = softmax(z), all computed in double precision from the logits, never from rounded probabilities:
///
/// | name | score |
/// |---|---|
/// | `logit` | ln p_y - ln(1 - p_y) = z_y - ln Σ_{j≠y} exp z_j, near normal, what LiRA expects |
/// | `hinge` | z_y - max_{j≠y} z_j |
/// | `loss` | ln p_y, the negative cross entropy |
/// | `confidence` | p_y |
/// | `top-confidence` | max_j p_j, for an attacker that does not know the label |
/// | `entropy` | Σ_j p_j ln p_j, the negative entropy; needs no label either |
/// | `modified-entropy` | (1 - p_y) ln p_y + Σ_{j≠y} p_j ln(1 - p_j), the negative of Song and Mittal's |
/// | `correct` | 1 if z_y is the largest of all (the first of equal ones), else 0 |
///
/// ```
/// # use leakbound::membership::MembershipScore;
/// let score = MembershipScore::Logit.of(&[2.0, 1.0, -1.0], 0)?;
/// assert!((score - 0.873_071_988_957_027_5).abs() < 1e-14);
/// assert!(MembershipScore::Logit.of(&[2.0], 0).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Carlini et al. (2022), section IV (`logit`); Aerni et al. (2024), appendix A (`hinge`); Yeom et al. (2018)
/// (`loss`); Salem et al. (2019) (`top-confidence`, `entropy`); Song and Mittal (2021), equation 9
/// (`modified-entropy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MembershipScore {
    /// ln p_y - ln(1 - p_y).
    Logit,
    /// z_y - max of the others.
    Hinge,
    /// ln p_y.
    Loss,
    /// p_y.
    Confidence,
    /// The largest p.
    TopConfidence,
    /// Negative entropy of p.
    Entropy,
    /// Negative modified entropy of p and y.
    ModifiedEntropy,
    /// 1 if the label is predicted.
    Correct,
}

named!(MembershipScore, "membership score", [
    Logit "logit", Hinge "hinge", Loss "loss", Confidence "confidence", TopConfidence "top-confidence",
    Entropy "entropy", ModifiedEntropy "modified-entropy", Correct "correct",
]);

impl MembershipScore {
    /// The score of one answer.
    ///
    /// # Errors
    /// [`Error::Length`] for fewer than two logits, [`Error::Domain`] for a label that is not a class and for a logit
    /// that is not finite.
    pub fn of(self, logits: &[f64], label: usize) -> Result<f64> {
        Error::check_length(logits.len() >= 2, "logits of an answer", logits.len(), "at least 2 classes")?;
        Error::check_domain(label < logits.len(), "label of an answer", label as f64, "{0, ..., classes - 1}")?;
        Error::check_domain_of_all(logits, |logit| logit.is_finite(), "logit of an answer", "(-inf, inf)")?;
        Ok(self.of_finite(logits, label))
    }

    /// The score of at least two finite logits with one of their classes.
    pub(super) fn of_finite(self, logits: &[f64], label: usize) -> f64 {
        let others = || logits.iter().enumerate().filter(move |&(class, _)| class != label).map(|(_, &logit)| logit);
        let largest_other = || others().fold(f64::NEG_INFINITY, f64::max);
        let logit = || {
            let largest = largest_other();
            logits[label] - largest - others().map(|other| (other - largest).exp()).sum::<f64>().ln()
        };
        match self {
            Self::Logit => logit(),
            Self::Hinge => logits[label] - largest_other(),
            // ln p = -ln(1 + exp(-logit)), exact in both tails.
            Self::Loss => log_sigmoid(logit()),
            Self::Confidence => log_sigmoid(logit()).exp(),
            Self::TopConfidence => {
                let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                1.0 / logits.iter().map(|logit| (logit - largest).exp()).sum::<f64>()
            }
            Self::Entropy => {
                let log_p = log_softmax(logits);
                log_p.iter().map(|ln| if ln.exp() > 0.0 { ln.exp() * ln } else { 0.0 }).sum()
            }
            Self::ModifiedEntropy => {
                let own = logit();
                let mut sum = log_sigmoid(-own).exp() * log_sigmoid(own);
                for (class, ln_p) in log_softmax(logits).into_iter().enumerate() {
                    // A class other than the label: p_j ln(1 - p_j). As p_j tends to 1 this falls without limit,
                    // slowly: the logit of class j keeps 1 - p_j where 1 - exp(ln p_j) would be 0.
                    if class != label && ln_p.exp() > 0.0 {
                        let log_rest =
                            if ln_p < -0.5 { (-ln_p.exp()).ln_1p() } else { log_sigmoid(-logit_of(logits, class)) };
                        sum += ln_p.exp() * log_rest;
                    }
                }
                sum
            }
            Self::Correct => {
                let first = logits.iter().position(|&other| other >= logits[label] && other >= largest_other());
                f64::from(u8::from(first == Some(label)))
            }
        }
    }
}

/// ln p_class - ln(1 - p_class).
fn logit_of(logits: &[f64], class: usize) -> f64 {
    MembershipScore::Logit.of_finite(logits, class)
}

/// ln(1/(1 + exp(-x))).
fn log_sigmoid(x: f64) -> f64 {
    if x > 0.0 { -(-x).exp().ln_1p() } else { x - x.exp().ln_1p() }
}

fn log_softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let norm = logits.iter().map(|logit| (logit - largest).exp()).sum::<f64>().ln();
    logits.iter().map(|logit| logit - largest - norm).collect()
}

/// Fisher's transform of a cosine similarity: ln((1 + ρ)/(1 - ρ)), near normal, whereas ρ itself is squeezed at its
/// ends. High means similar, and if similarity to its own augmentations reveals a member, high means member.
///
/// Shape: ρ in \[-1, 1\]; the ends give infinities.
///
/// ```
/// # use leakbound::membership::fisher_score;
/// assert!((fisher_score(0.5)? - 3f64.ln()).abs() < 1e-15);
/// assert!(fisher_score(1.5).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// [`Error::Domain`] outside of \[-1, 1\].
///
/// # References
/// Aerni et al. (2024), section 5.3; twice the artanh of Fisher (1915).
pub fn fisher_score(cosine: f64) -> Result<f64> {
    Error::check_domain(cosine.abs() <= 1.0, "cosine similarity", cosine, "[-1, 1]")?;
    // Both logarithms keep a cosine that is tiny: ln(1+ρ) - ln(1-ρ).
    Ok(cosine.ln_1p() - (-cosine).ln_1p())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [[f64; 3]; 3] = [[2.0, 1.0, -1.0], [0.0, 3.0, 3.5], [10.0, -10.0, 0.0]];
    const LABELS: [usize; 3] = [0, 1, 0];

    fn all(score: MembershipScore) -> Vec<f64> {
        LOGITS.iter().zip(LABELS).map(|(logits, label)| score.of(logits, label).unwrap()).collect()
    }

    #[test]
    fn moderate_logits_agree_with_probabilities() {
        for (logits, label) in LOGITS.into_iter().zip(LABELS) {
            let total: f64 = logits.iter().map(|z| z.exp()).sum();
            let p = logits.map(|z| z.exp() / total);
            let rest = |j: usize| p.iter().enumerate().filter(|&(i, _)| i != j).map(|(_, p)| p).sum::<f64>();
            let modified =
                rest(label) * p[label].ln() + (0..3).filter(|&j| j != label).map(|j| p[j] * rest(j).ln()).sum::<f64>();
            let expected = [
                p[label].ln() - rest(label).ln(),
                f64::NAN,
                p[label].ln(),
                p[label],
                p.iter().copied().fold(0.0, f64::max),
                p.iter().map(|p| p * p.ln()).sum(),
                modified,
                f64::from(u8::from(p.iter().all(|&other| other <= p[label]))),
            ];
            for (score, expected) in MembershipScore::ALL.into_iter().zip(expected) {
                let got = score.of(&logits, label).unwrap();
                assert!(expected.is_nan() || (got - expected).abs() < 1e-13, "{score}: {got} {expected}");
            }
        }
        assert_eq!(all(MembershipScore::Hinge), [1.0, -0.5, 10.0]);
        assert_eq!(all(MembershipScore::Correct), [1.0, 0.0, 1.0]);
    }

    #[test]
    fn extreme_logits_keep_their_scores() {
        let score = |score: MembershipScore, logits: &[f64]| score.of(logits, 0).unwrap();
        assert_eq!(score(MembershipScore::Logit, &[800.0, 0.0]), 800.0);
        assert_eq!(score(MembershipScore::Logit, &[-800.0, 0.0]), -800.0);
        assert_eq!(score(MembershipScore::Loss, &[-800.0, 0.0]), -800.0);
        assert!((score(MembershipScore::Loss, &[40.0, 0.0]) / -(-40f64).exp() - 1.0).abs() < 1e-15);
        // The label has probability exp(-800): 1 · ln p + 1 · ln(1 - p) of the other class.
        assert_eq!(score(MembershipScore::ModifiedEntropy, &[-800.0, 0.0]), -1600.0);
        assert_eq!(score(MembershipScore::Entropy, &[800.0, 0.0]), 0.0);
        let many: Vec<f64> = vec![3.0; 1000];
        assert!((score(MembershipScore::Logit, &many) + 999f64.ln()).abs() < 1e-12);
        assert!((score(MembershipScore::Entropy, &many) + 1000f64.ln()).abs() < 1e-12);
        for kind in MembershipScore::ALL {
            for logits in [[1e308, -1e308], [-1e308, 1e308], [0.0, 0.0], [1e-300, -1e-300]] {
                assert!(!kind.of(&logits, 0).unwrap().is_nan(), "{kind} {logits:?}");
            }
            assert!(kind.of(&[f64::NAN, 0.0], 0).is_err() && kind.of(&[0.0, 0.0], 2).is_err());
        }
    }

    #[test]
    fn cosines_become_unbounded() {
        assert_eq!(fisher_score(0.0).unwrap(), 0.0);
        assert!((fisher_score(1e-9).unwrap() - 2e-9).abs() < 1e-24);
        assert_eq!(fisher_score(1.0).unwrap(), f64::INFINITY);
        assert!(fisher_score(f64::NAN).is_err());
    }
}
