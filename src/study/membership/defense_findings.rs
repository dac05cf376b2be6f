//! Published findings about defenses, each decided by the bands of two rates.

use super::defense_rows::{AttackRole, BandedRate, DefenseEvaluation, DefenseRow};
use crate::membership::{CanaryKind, DefenseAttack, DefenseFamily};
use crate::study::Number;
use serde::Serialize;

/// A finding of Aerni, Zhang and Tramèr (2024): one rate is above another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// HAMP: LiRA finds more on the answers without the test-time defense than on those with it (appendix B.2).
    TestTimeDefenseMasks,
    /// HAMP: on the same answers the label-only attack finds more than LiRA (section 5.3).
    LabelsShowWhatIsMasked,
    /// SELENA: mislabeled samples with a duplicate leak more than those without (section 5.4).
    DuplicatesLeakMore,
    /// SELENA: Split-AI hides a mislabeled sample when asked about the sample, but not when asked about its nearest
    /// neighbor (appendix B.3).
    NeighborsShowWhatIsLeftOut,
    /// Self-supervised learning: LiRA on the encoder finds more than LiRA on the logits (section 5.3).
    EncoderLeaksMore,
    /// Self-supervised learning: out-of-distribution samples leak more than the original ones (section 5.4).
    OutOfDistributionLeaksMore,
    /// Data-free knowledge distillation: canaries leak, although the student saw synthetic images only (section 5.4).
    DistilledCanariesLeak,
    /// Every other defense leaks more about its canaries than DP-SGD about its own at the same utility (section 5.5).
    DpSgdLeaksLess,
}

/// What the bands show about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The bands are apart in the published order.
    Agrees,
    /// The bands are apart in the other order.
    Differs,
    /// The bands overlap, or the models are not as accurate as the finding demands.
    Undecided,
}

/// Accuracies this close are the same utility.
const SAME_UTILITY: f64 = 0.02;

impl Decision {
    /// Whether `larger` is above `smaller`, as far as their bands show.
    pub(in crate::study) fn of(larger: [f64; 2], smaller: [f64; 2]) -> Self {
        if larger[0] > smaller[1] {
            Self::Agrees
        } else if larger[1] < smaller[0] {
            Self::Differs
        } else {
            Self::Undecided
        }
    }

    /// The same if the mean accuracies \[of what leaks more, of what leaks less\] are known: a less accurate model
    /// leaks less for that reason alone.
    fn at_utility(self, [larger, smaller]: [f64; 2]) -> Self {
        match self {
            Self::Agrees if smaller < larger - SAME_UTILITY => Self::Undecided,
            Self::Differs if larger < smaller - SAME_UTILITY => Self::Undecided,
            Self::Agrees | Self::Differs | Self::Undecided => self,
        }
    }
}

/// What a rate was measured on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "measured", rename_all = "kebab-case")]
pub enum RateSource {
    /// Nothing: a guess has a TPR equal to its FPR.
    Guessing,
    /// An evaluation.
    Evaluation {
        /// The defense.
        defense: String,
        /// What was audited.
        canaries: CanaryKind,
        /// What the attack is in this study.
        role: AttackRole,
        /// The attack.
        attack: String,
    },
}

/// One of the two rates of a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRate {
    /// What the rate was measured on.
    #[serde(flatten)]
    pub source: RateSource,
    /// The rate.
    #[serde(flatten)]
    pub rate: BandedRate,
}

/// A finding compared with the recordings at one FPR.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingRow {
    /// The finding.
    pub finding: Finding,
    /// The defense that it is about.
    pub defense: String,
    /// The false-positive rate.
    pub fpr: f64,
    /// The rate that was published as the larger one.
    pub larger: ComparedRate,
    /// The rate that was published as the smaller one.
    pub smaller: ComparedRate,
    /// Mean accuracies of both on test images, if the finding is about equal utility: undecided if what should leak
    /// less is less accurate by more than 0.02.
    pub accuracies: Option<[f64; 2]>,
    /// What the bands show.
    pub decision: Decision,
}

/// All findings about these defenses that the evaluations can decide, each at every FPR.
pub(super) fn findings(defenses: &[DefenseRow], evaluations: &[DefenseEvaluation]) -> Vec<FindingRow> {
    let compared = Compared { evaluations, defenses };
    let of_defense = defenses.iter().flat_map(|row| compared.of_defense(&row.defense, row.family));
    of_defense.chain(compared.with_dp_sgd()).collect()
}

struct Compared<'a> {
    evaluations: &'a [DefenseEvaluation],
    defenses: &'a [DefenseRow],
}

impl<'a> Compared<'a> {
    fn find(&self, defense: &str, canaries: CanaryKind, role: AttackRole) -> Option<&'a DefenseEvaluation> {
        DefenseEvaluation::find(self.evaluations, defense, canaries, role)
    }

    /// The kinds that were recorded of a defense, in their order.
    fn kinds(&self, defense: &str) -> Vec<CanaryKind> {
        let mut kinds = Vec::new();
        for row in self.evaluations.iter().filter(|row| row.defense == defense) {
            if !kinds.contains(&row.canaries) {
                kinds.push(row.canaries);
            }
        }
        kinds
    }

    /// Findings about one defense.
    fn of_defense(&self, defense: &str, family: DefenseFamily) -> Vec<FindingRow> {
        let kinds = self.kinds(defense);
        let on = |canaries, role| self.find(defense, canaries, role);
        let pair = |finding, larger, smaller| of_pair(finding, defense, larger, smaller);
        // An adapted attack of another name is another comparison.
        let adapted = |canaries, attack: DefenseAttack| {
            on(canaries, AttackRole::Adaptive).filter(|row| row.attack == attack.name())
        };
        match family {
            DefenseFamily::Hamp => {
                let of_kind = |&canaries: &CanaryKind| {
                    let lira = on(canaries, AttackRole::Lira);
                    let masks = pair(Finding::TestTimeDefenseMasks, on(canaries, AttackRole::TrainingTime), lira);
                    let labels = adapted(canaries, DefenseAttack::LabelOnly);
                    [masks, pair(Finding::LabelsShowWhatIsMasked, labels, lira)].concat()
                };
                kinds.iter().flat_map(of_kind).collect()
            }
            DefenseFamily::Selena => {
                let alone = on(CanaryKind::Mislabeled, AttackRole::Adaptive);
                let twice = kinds.iter().filter(|kind| kind.has_duplicates());
                let twice =
                    twice.flat_map(|&kind| pair(Finding::DuplicatesLeakMore, on(kind, AttackRole::Adaptive), alone));
                let [itself, neighbor] =
                    [AttackRole::SplitAi, AttackRole::SplitAiNeighbor].map(|role| on(CanaryKind::Mislabeled, role));
                twice.chain(pair(Finding::NeighborsShowWhatIsLeftOut, neighbor, itself)).collect()
            }
            DefenseFamily::SimClr | DefenseFamily::MoCo => {
                let encoder = |&canaries: &CanaryKind| {
                    let encoder = adapted(canaries, DefenseAttack::EncoderLira);
                    pair(Finding::EncoderLeaksMore, encoder, on(canaries, AttackRole::Lira))
                };
                let outside = on(CanaryKind::OutOfDistribution, AttackRole::Adaptive);
                let original = on(CanaryKind::Original, AttackRole::Adaptive);
                let outside = pair(Finding::OutOfDistributionLeaksMore, outside, original);
                kinds.iter().flat_map(encoder).chain(outside).collect()
            }
            DefenseFamily::Dfkd => {
                let canaries = kinds.iter().filter(|&&kind| kind != CanaryKind::Original);
                let rows = canaries.filter_map(|&kind| on(kind, AttackRole::Adaptive));
                rows.flat_map(|row| above_guessing(Finding::DistilledCanariesLeak, row)).collect()
            }
            DefenseFamily::None | DefenseFamily::RelaxLoss | DefenseFamily::DpSgd | DefenseFamily::Other => Vec::new(),
        }
    }

    /// Every defense on its canaries against DP-SGD on those of its canaries that leak most.
    fn with_dp_sgd(&self) -> Vec<FindingRow> {
        let private = self.defenses.iter().filter(|row| row.family == DefenseFamily::DpSgd);
        let others = || {
            let others = self.defenses.iter();
            others.filter(|row| !matches!(row.family, DefenseFamily::None | DefenseFamily::DpSgd))
        };
        let canaries = |defense: &str| -> Vec<&DefenseEvaluation> {
            let kinds = self.kinds(defense).into_iter().filter(|&kind| kind != CanaryKind::Original);
            kinds.filter_map(|kind| self.find(defense, kind, AttackRole::Adaptive)).collect()
        };
        let rows = private.flat_map(|dp_sgd| {
            let private = canaries(&dp_sgd.defense);
            others().flat_map(move |defense| {
                let Some(row) = canaries(&defense.defense).first().copied() else { return Vec::new() };
                let mean = |row: &DefenseRow| row.test_accuracy.map(|spread| spread.mean);
                let accuracies = mean(defense).zip(mean(dp_sgd)).map(|(larger, smaller)| [larger, smaller]);
                let at = row.at.iter().enumerate();
                let compare = |(place, larger): (usize, &BandedRate)| {
                    let rates = || private.iter().filter_map(|row| Some((*row, row.at.get(place)?)));
                    let (most, rate) = rates().max_by(|a, b| a.1.tpr.total_cmp(&b.1.tpr))?;
                    // Selected by these rates: all bands hold together, and so does that of the largest of them.
                    let largest =
                        |end: fn(&BandedRate) -> f64| Number(rates().map(|(_, rate)| end(rate)).fold(0.0, f64::max));
                    let [lower, upper] = [largest(|rate| rate.lower.0), largest(|rate| rate.upper.0)];
                    let smaller = measured(most, &BandedRate { lower, upper, ..*rate });
                    let found = finding(Finding::DpSgdLeaksLess, &defense.defense, measured(row, larger), smaller);
                    Some(found.at_utility(accuracies))
                };
                at.filter_map(compare).collect()
            })
        });
        rows.collect()
    }
}

fn of_pair(
    of: Finding,
    defense: &str,
    larger: Option<&DefenseEvaluation>,
    smaller: Option<&DefenseEvaluation>,
) -> Vec<FindingRow> {
    let Some((larger, smaller)) = larger.zip(smaller) else { return Vec::new() };
    let rates = larger.at.iter().zip(&smaller.at);
    rates.map(|(above, below)| finding(of, defense, measured(larger, above), measured(smaller, below))).collect()
}

fn above_guessing(of: Finding, row: &DefenseEvaluation) -> Vec<FindingRow> {
    let guessing = |fpr: f64| ComparedRate {
        source: RateSource::Guessing,
        rate: BandedRate { fpr, tpr: fpr, lower: Number(fpr), upper: Number(fpr) },
    };
    row.at.iter().map(|rate| finding(of, &row.defense, measured(row, rate), guessing(rate.fpr))).collect()
}

fn measured(row: &DefenseEvaluation, rate: &BandedRate) -> ComparedRate {
    let source = RateSource::Evaluation {
        defense: row.defense.clone(),
        canaries: row.canaries,
        role: row.role,
        attack: row.attack.clone(),
    };
    ComparedRate { source, rate: *rate }
}

fn finding(finding: Finding, defense: &str, larger: ComparedRate, smaller: ComparedRate) -> FindingRow {
    let decision = Decision::of(larger.rate.band(), smaller.rate.band());
    FindingRow {
        finding,
        defense: defense.to_owned(),
        fpr: larger.rate.fpr,
        larger,
        smaller,
        accuracies: None,
        decision,
    }
}

impl FindingRow {
    /// Whether the bands are apart, and only the accuracies leave it undecided.
    #[must_use]
    pub fn is_at_other_utility(&self) -> bool {
        self.decision != Decision::of(self.larger.rate.band(), self.smaller.rate.band())
    }

    /// Undecided if accuracies are known and too far apart.
    fn at_utility(self, accuracies: Option<[f64; 2]>) -> Self {
        let decision = accuracies.map_or(self.decision, |accuracies| self.decision.at_utility(accuracies));
        Self { accuracies, decision, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::defense_rows::AccuracySpread;
    use super::*;

    fn evaluation(
        (defense, family): (&str, DefenseFamily),
        canaries: CanaryKind,
        (role, attack): (AttackRole, DefenseAttack),
        [lower, tpr, upper]: [f64; 3],
    ) -> DefenseEvaluation {
        DefenseEvaluation {
            defense: defense.into(),
            family,
            canaries,
            role,
            attack: attack.name().into(),
            victims: 16,
            samples: 500,
            views: 1,
            auc: 0.7,
            auc_bootstrap: [Number(0.6), Number(0.8)],
            at: vec![BandedRate { fpr: 0.01, tpr, lower: Number(lower), upper: Number(upper) }],
        }
    }

    const LIRA: (AttackRole, DefenseAttack) = (AttackRole::Lira, DefenseAttack::Lira);

    /// The defenses of the evaluations, each with this accuracy.
    fn rows(evaluations: &[DefenseEvaluation], accuracy: impl Fn(&str) -> Option<f64>) -> Vec<DefenseRow> {
        let mut rows: Vec<DefenseRow> = Vec::new();
        for evaluation in evaluations {
            if rows.iter().all(|row| row.defense != evaluation.defense) {
                rows.push(DefenseRow {
                    defense: evaluation.defense.clone(),
                    family: evaluation.family,
                    attack: evaluation.family.attack(),
                    canaries: None,
                    test_accuracy: accuracy(&evaluation.defense).and_then(|mean| AccuracySpread::of(&[mean])),
                    original: Vec::new(),
                    adaptive: Vec::new(),
                    ours: Vec::new(),
                });
            }
        }
        rows
    }

    fn decisions(evaluations: &[DefenseEvaluation]) -> Vec<(Finding, String, Decision)> {
        let found = findings(&rows(evaluations, |_| None), evaluations);
        found.into_iter().map(|row| (row.finding, row.defense, row.decision)).collect()
    }

    /// A defense that answers worse leaks less for that reason alone.
    #[test]
    fn utility_must_be_the_same() {
        let all = [
            evaluation(("s", DefenseFamily::Selena), CanaryKind::Mislabeled, LIRA, [0.5, 0.6, 0.7]),
            evaluation(("p", DefenseFamily::DpSgd), CanaryKind::Mislabeled, LIRA, [0.0, 0.01, 0.02]),
        ];
        let decided = |all: &[DefenseEvaluation], of_others: f64, of_private: f64| {
            let accuracy = |name: &str| Some(if name == "p" { of_private } else { of_others });
            let found = findings(&rows(all, accuracy), all);
            assert_eq!((found.len(), found[0].accuracies), (1, Some([of_others, of_private])));
            assert_eq!(found[0].is_at_other_utility(), found[0].decision == Decision::Undecided);
            found[0].decision
        };
        assert_eq!(decided(&all, 0.8, 0.79), Decision::Agrees);
        assert_eq!(decided(&all, 0.8, 0.9), Decision::Agrees);
        assert_eq!(decided(&all, 0.8, 0.7), Decision::Undecided);
        let [mut worse, mut better] = all;
        std::mem::swap(&mut worse.at, &mut better.at);
        let all = [worse, better];
        assert_eq!(decided(&all, 0.8, 0.7), Decision::Differs);
        assert_eq!(decided(&all, 0.7, 0.8), Decision::Undecided);
    }

    #[test]
    fn bands_alone_decide() {
        for (larger, smaller, expected) in [
            ([0.4, 0.6], [0.1, 0.3], Decision::Agrees),
            ([0.1, 0.3], [0.4, 0.6], Decision::Differs),
            ([0.1, 0.5], [0.4, 0.6], Decision::Undecided),
            // Bands that touch, and bands without width.
            ([0.4, 0.6], [0.1, 0.4], Decision::Undecided),
            ([0.0, 0.0], [0.0, 0.0], Decision::Undecided),
        ] {
            assert_eq!(Decision::of(larger, smaller), expected, "{larger:?} {smaller:?}");
        }
    }

    #[test]
    fn each_finding_compares_what_it_says() {
        use AttackRole::{Adaptive, SplitAi, SplitAiNeighbor, TrainingTime};
        use CanaryKind::{Duplicated, Mislabeled, Original, OutOfDistribution};
        use DefenseFamily::{Dfkd, DpSgd, Hamp, Selena, SimClr};
        let (low, middle, high) = ([0.0, 0.01, 0.02], [0.1, 0.15, 0.2], [0.5, 0.6, 0.7]);
        let encoder = (Adaptive, DefenseAttack::EncoderLira);
        let (hamp, selena, simclr) = (("h", Hamp), ("s", Selena), ("c", SimClr));
        let all = [
            evaluation(hamp, Original, LIRA, middle),
            evaluation(hamp, Original, (Adaptive, DefenseAttack::LabelOnly), low),
            evaluation(hamp, Original, (TrainingTime, DefenseAttack::Lira), high),
            evaluation(selena, Mislabeled, LIRA, low),
            evaluation(selena, Mislabeled, (SplitAi, DefenseAttack::Lira), low),
            evaluation(selena, Mislabeled, (SplitAiNeighbor, DefenseAttack::Lira), middle),
            evaluation(selena, Duplicated, LIRA, high),
            // Of other kinds nothing was published.
            evaluation(selena, Duplicated, (SplitAi, DefenseAttack::Lira), low),
            evaluation(selena, Duplicated, (SplitAiNeighbor, DefenseAttack::Lira), low),
            evaluation(simclr, Original, LIRA, middle),
            evaluation(simclr, Original, encoder, [0.15, 0.2, 0.3]),
            evaluation(simclr, OutOfDistribution, LIRA, low),
            evaluation(simclr, OutOfDistribution, encoder, high),
            evaluation(("d", Dfkd), Original, LIRA, low),
            evaluation(("d", Dfkd), Mislabeled, LIRA, middle),
            evaluation(("p", DpSgd), Mislabeled, LIRA, low),
            evaluation(("p", DpSgd), OutOfDistribution, LIRA, middle),
        ];
        let row = |finding, defense: &str, decision| (finding, defense.to_owned(), decision);
        assert_eq!(
            decisions(&all),
            [
                row(Finding::TestTimeDefenseMasks, "h", Decision::Agrees),
                row(Finding::LabelsShowWhatIsMasked, "h", Decision::Differs),
                row(Finding::DuplicatesLeakMore, "s", Decision::Agrees),
                row(Finding::NeighborsShowWhatIsLeftOut, "s", Decision::Agrees),
                row(Finding::EncoderLeaksMore, "c", Decision::Undecided),
                row(Finding::EncoderLeaksMore, "c", Decision::Agrees),
                row(Finding::OutOfDistributionLeaksMore, "c", Decision::Agrees),
                row(Finding::DistilledCanariesLeak, "d", Decision::Agrees),
                // HAMP has no canaries here. Of DP-SGD's kinds the one that leaks most counts.
                row(Finding::DpSgdLeaksLess, "s", Decision::Differs),
                row(Finding::DpSgdLeaksLess, "c", Decision::Agrees),
                row(Finding::DpSgdLeaksLess, "d", Decision::Undecided),
            ]
        );
    }

    #[test]
    fn what_was_not_recorded_is_left_out() {
        let only = evaluation(("h", DefenseFamily::Hamp), CanaryKind::Original, LIRA, [0.1, 0.2, 0.3]);
        assert_eq!(decisions(&[only]), []);
        assert_eq!(decisions(&[]), []);
    }
}
