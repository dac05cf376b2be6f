//! Functions from outputs to few outcomes, under which two worlds look as different as possible.

use super::aim::{Aim, Goal};
use super::boosted::BoostedTrees;
use super::feature::{Feature, Features};
use super::linear::LinearScore;
use super::output::Output;
use crate::audit::{OutputBins, RealOutputs};
use crate::bound::Direction;
use crate::counts::PairedCounts;
use crate::error::{Result, echo};
use crate::order;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// Values that are separate outcomes; all others together are one.
const MOST_VALUES: usize = 200;
/// Bins of a number, with the outputs from which on they are tried, and those from which on they are too few.
const BINS: [(usize, usize, usize); 3] = [(COARSE, 0, 500), (20, 160, usize::MAX), (60, 1000, usize::MAX)];
const COARSE: usize = 8;
/// Features that are tried with fine bins, and that a linear score may use.
const TRIED: usize = 4;
const LINEAR: usize = 256;
/// Features that boosted trees may use.
const BOOSTED: usize = 12;
/// A witness that is less simple must show more by this factor.
const PLAINER: f64 = 1.1;
const PLAINER_THAN_TREES: f64 = 1.25;
/// ln of the Bayes factor from which on a claim is in doubt: a factor below three is not worth mentioning (Kass and
/// Raftery 1995, Section 3.2), and happens to a correct mechanism under some witness that shows nothing.
const IN_DOUBT: f64 = 1.1;
/// The same from which on a claim is violated beyond doubt: a factor of ten thousand.
const BEYOND_DOUBT: f64 = 9.2;
/// The probability of a set that is rare.
const RARELY: f64 = 0.1;
/// Standard deviations by which a pair may be worse than its frequencies: what was not seen in n runs may have a
/// probability of 3/n, with a chance of 1 in 20.
const HIDDEN: f64 = 1.732;
/// The difficulty of scores that are learned.
const HARD: usize = 8;
const HARDER: usize = 12;
/// The outcomes of a number besides its bins: it is missing (or NaN), or infinite.
const MISSING: usize = 0;
const LOWEST: usize = 1;
const HIGHEST: usize = 2;
const SPECIAL: usize = 3;

/// A function from outputs to outcomes.
///
/// Whatever the function is, bounds for the outcomes hold for the outputs (data processing), as long as it was chosen
/// before looking at the outputs that are counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    view: View,
    cells: Cells,
}

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum View {
    Whole,
    Feature(Feature),
    Linear(LinearScore),
    Boosted(BoostedTrees),
}

/// Which values are one outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Cells {
    /// These values, sorted, and all others.
    Values(Vec<Output>),
    /// Missing, -inf, inf, and the bins of a number.
    Bins(OutputBins),
}

/// The evidence against a claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubt {
    /// ln of the Bayes factor against it, `-inf` without evidence.
    pub log_factor: f64,
    /// The fewest runs of each world that refute it by the most informative set, if frequencies are probabilities;
    /// infinite if no number does.
    pub soonest: f64,
}

/// A witness, and the evidence that it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The witness.
    pub witness: Witness,
    /// The largest share of a claim that it makes plausible.
    pub score: f64,
    /// The strongest evidence against a claim, under any witness.
    pub doubt: Doubt,
    /// Counts of outputs: a guide for bounds. A linear score was not made from them.
    pub pilot: [Vec<u64>; 2],
}

impl Witness {
    /// The witness under which these outputs make the claims most doubtful, with its evidence. None without outputs.
    ///
    /// Half of the outputs make candidates, the other half compares them: the most frequent values, each feature in
    /// bins, a linear score of all of them, boosted trees. If a claim is in doubt, the candidate with the largest Bayes
    /// factor against it wins.
    #[must_use]
    pub fn choose(worlds: [&[Output]; 2], goal: Goal<'_>) -> Option<Chosen> {
        let mut all = trials(worlds, goal);
        let doubts: Vec<Doubt> = all.iter().map(|trial| trial.doubt(goal.aims)).collect();
        // The simplest ones come first.
        let doubt =
            doubts.iter().copied().reduce(|best, next| if next.log_factor > best.log_factor { next } else { best })?;
        let in_doubt = goal.claimed && doubt.log_factor > IN_DOUBT;
        let least = if in_doubt { doubt.log_factor.min(BEYOND_DOUBT) } else { f64::NEG_INFINITY };
        let best = (0..all.len()).filter(|&trial| doubts[trial].log_factor >= least).reduce(|best, next| {
            let boosted = matches!(all[next].witness.view, View::Boosted(_));
            let plainer = if boosted { PLAINER_THAN_TREES } else { PLAINER };
            if all[next].worth > plainer * all[best].worth { next } else { best }
        })?;
        Some(all.swap_remove(best).into_chosen(doubt))
    }

    /// The values that were seen most often, if any was seen twice.
    fn of_values(worlds: &[Vec<Output>; 2]) -> Option<Self> {
        let mut seen = std::collections::HashMap::<&Output, usize>::new();
        worlds.iter().flatten().for_each(|output| *seen.entry(output).or_default() += 1);
        let mut often: Vec<(&Output, usize)> = seen.into_iter().filter(|(_, count)| *count > 1).collect();
        order::sort(&mut often, |a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let mut values: Vec<Output> = often.into_iter().take(MOST_VALUES).map(|(value, _)| value.clone()).collect();
        values.sort();
        (!values.is_empty()).then_some(Self { view: View::Whole, cells: Cells::Values(values) })
    }

    fn of_feature<'a>(feature: &Feature, outputs: impl Iterator<Item = &'a Output>, bins: usize) -> Option<Self> {
        Self::binned(View::Feature(feature.clone()), outputs, bins)
    }

    /// Bins with equal shares of these outputs, with outputs far from all others in separate bins; none for a view under
    /// which nothing is a finite number.
    fn binned<'a>(view: View, outputs: impl Iterator<Item = &'a Output>, bins: usize) -> Option<Self> {
        let numbers = outputs.map(|output| view.number(output)).filter(|number| number.is_finite());
        let mut sorted: Vec<f64> = numbers.collect();
        sorted.sort_by(f64::total_cmp);
        let mut pilot = RealOutputs::default();
        sorted.iter().try_for_each(|&number| pilot.add(number, [1, 0])).ok()?;
        let cells = Cells::Bins(OutputBins::quantiles(&pilot, bins).ok()?.split_at_gaps(&sorted));
        Some(Self { view, cells })
    }

    /// The number of outcomes.
    #[must_use]
    pub fn outcomes(&self) -> usize {
        match &self.cells {
            Cells::Values(values) => values.len() + 1,
            Cells::Bins(bins) => bins.bins() + SPECIAL,
        }
    }

    /// The outcome of an output, from 0.
    #[must_use]
    pub fn outcome(&self, output: &Output) -> usize {
        match &self.cells {
            Cells::Values(values) => values.binary_search(output).unwrap_or(values.len()),
            Cells::Bins(bins) => match self.view.number(output) {
                number if number.is_nan() => MISSING,
                f64::NEG_INFINITY => LOWEST,
                f64::INFINITY => HIGHEST,
                number => SPECIAL + bins.bin(number),
            },
        }
    }

    /// How many of these outputs have each outcome.
    #[must_use]
    pub fn count(&self, outputs: &[Output]) -> Vec<u64> {
        let mut counts = vec![0; self.outcomes()];
        outputs.iter().for_each(|output| counts[self.outcome(output)] += 1);
        counts
    }

    /// The outcomes in words.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        match &self.cells {
            Cells::Values(values) => {
                let rest = "anything else".to_owned();
                values.iter().map(|value| echo(&value.to_string())).chain([rest]).collect()
            }
            Cells::Bins(bins) => {
                let special = ["missing or nan", "-inf", "inf"].map(String::from);
                special.into_iter().chain(bins.labels()).collect()
            }
        }
    }

    /// Whether it looks mainly at how numbers are written in binary: at a leak of floating-point arithmetic.
    #[must_use]
    pub fn is_of_bits(&self) -> bool {
        match &self.view {
            View::Whole => false,
            View::Feature(feature) => feature.is_of_bits(),
            View::Linear(score) => score.heaviest(1).iter().any(|(feature, _)| feature.is_of_bits()),
            View::Boosted(trees) => trees.first().is_some_and(Feature::is_of_bits),
        }
    }

    /// How hard it is to describe what is looked at.
    pub(super) fn difficulty(&self) -> usize {
        match &self.view {
            View::Whole => 0,
            View::Feature(feature) => feature.difficulty(),
            View::Linear(_) => HARD,
            View::Boosted(_) => HARDER,
        }
    }

    /// Merges neighboring bins into one, and returns it with its outcome; none if the bins are not neighbors.
    pub(super) fn joined(&self, first: usize, last: usize) -> Option<(Self, usize)> {
        let Cells::Bins(bins) = &self.cells else { return None };
        let (bins, bin) = bins.joined(first.checked_sub(SPECIAL)?, last.checked_sub(SPECIAL)?)?;
        Some((Self { view: self.view.clone(), cells: Cells::Bins(bins) }, SPECIAL + bin))
    }

    /// The same witness with rounded ends of bins.
    pub(super) fn rounded(&self, digits: usize) -> Option<Self> {
        let Cells::Bins(bins) = &self.cells else { return None };
        Some(Self { view: self.view.clone(), cells: Cells::Bins(bins.rounded(digits)?) })
    }

    /// The number that is put into bins.
    pub(super) fn number(&self, output: &Output) -> f64 {
        self.view.number(output)
    }

    /// The first cut between bins.
    pub(super) fn cut(&self) -> Option<f64> {
        match &self.cells {
            Cells::Values(_) => None,
            Cells::Bins(bins) => bins.first_cut(),
        }
    }

    /// The bins of numbers, as a range of outcomes.
    pub(super) fn bins(&self) -> Range<usize> {
        match &self.cells {
            Cells::Values(_) => 0..0,
            Cells::Bins(bins) => SPECIAL..SPECIAL + bins.bins(),
        }
    }

    /// A set of outcomes in words; bins that touch are one interval.
    pub(super) fn describe(&self, outcomes: &[usize]) -> String {
        let labels = self.labels();
        let mut parts: Vec<String> = Vec::new();
        let mut run: Option<(usize, usize)> = None;
        let mut end = |run: Option<(usize, usize)>| {
            if let Some((first, last)) = run {
                parts.push(if first == last { labels[first].clone() } else { joined(&labels[first], &labels[last]) });
            }
        };
        for &outcome in outcomes {
            let binned = matches!(self.cells, Cells::Bins(_)) && outcome >= SPECIAL;
            run = match run {
                Some((first, last)) if binned && first >= SPECIAL && last + 1 == outcome => Some((first, outcome)),
                other => {
                    end(other);
                    Some((outcome, outcome))
                }
            };
        }
        end(run);
        let most = 6;
        let more = parts.len().saturating_sub(most);
        parts.truncate(most);
        let rest = if more > 0 { format!(" or {more} more") } else { String::new() };
        let verb = if matches!(self.cells, Cells::Values(_)) { "is" } else { "in" };
        format!("{self} {verb} {}{rest}", parts.join(" or "))
    }

    /// Counts of both worlds with the outcomes in words.
    ///
    /// # Errors
    /// As [`PairedCounts::new`].
    pub fn paired(&self, counts: &[Vec<u64>; 2]) -> Result<PairedCounts> {
        PairedCounts::new(self.labels(), counts[0].clone(), counts[1].clone())
    }
}

/// A witness with the counts of both halves of the outputs: those that made it, and those that measure its worth.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) witness: Witness,
    pub(super) made: [Vec<u64>; 2],
    pub(super) shown: [Vec<u64>; 2],
    score: f64,
    /// As `score`, but of the best sets of those that made it alone. The largest of many sets is large by luck, more so
    /// if outcomes are many and rare, like the values of fine-grained numbers.
    worth: f64,
}

impl Trial {
    /// Counts of outputs that a trained witness was not made from.
    fn pilot(&self) -> [Vec<u64>; 2] {
        if self.witness.view.is_trained() {
            return self.shown.clone();
        }
        // Values and quantiles of both worlds together show little of their difference.
        [0, 1].map(|world| self.made[world].iter().zip(&self.shown[world]).map(|(a, b)| a + b).collect())
    }

    /// The mean Bayes factor of all plain sets: against a claim that one of them violates, each as likely as any other.
    /// The largest of many factors would be large by luck.
    fn doubt(&self, aims: &[Aim]) -> Doubt {
        // The frequent outcomes tell rare violations from luck, if they are not themselves evidence against the claim.
        let most = if self.score > 1.0 { 1.0 } else { RARELY };
        let mut sets = PlainSet::of_counts(&self.pilot());
        sets.retain(|set| set.inside[0] <= most * set.outputs[0]);
        let doubt = |aim: &Aim| {
            let factors: Vec<(f64, &PlainSet)> = sets.iter().filter_map(|set| Some((set.doubt(*aim)?, set))).collect();
            let (largest, set) = factors.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
            let mean = factors.iter().map(|(factor, _)| libm::exp(factor - largest)).sum::<f64>() / sets.len() as f64;
            let soonest = aim.runs_to_refute(0.0, set.inside, set.outputs, f64::INFINITY);
            Some(Doubt { log_factor: largest + mean.ln(), soonest })
        };
        let none = Doubt { log_factor: f64::NEG_INFINITY, soonest: f64::INFINITY };
        aims.iter().filter_map(doubt).max_by(|a, b| a.log_factor.total_cmp(&b.log_factor)).unwrap_or(none)
    }

    fn into_chosen(self, doubt: Doubt) -> Chosen {
        let pilot = self.pilot();
        Chosen { witness: self.witness, score: self.score, doubt, pilot }
    }
}

/// A set of outcomes that no counts chose, and how many outputs lie in it: first those of the world in which it should be
/// likelier.
#[derive(Debug)]
pub(super) struct PlainSet {
    pub(super) outcomes: Range<usize>,
    /// Whether it should be likelier under the neighbor.
    pub(super) reverse: bool,
    inside: [f64; 2],
    outputs: [f64; 2],
}

impl PlainSet {
    /// Each outcome, and all below and all above each, as far as they were seen.
    pub(super) fn of_counts(counts: &[Vec<u64>; 2]) -> Vec<Self> {
        let all = counts[0].len();
        let seen: Vec<usize> = (0..all).filter(|&outcome| counts[0][outcome] + counts[1][outcome] > 0).collect();
        let ones = seen.iter().map(|&outcome| outcome..outcome + 1);
        let sides = seen.iter().skip(1).flat_map(|&outcome| [0..outcome, outcome..all]);
        let outputs = [0, 1].map(|world| counts[world].iter().sum::<u64>() as f64);
        let both = |outcomes: Range<usize>| {
            let inside = [0, 1].map(|world| counts[world][outcomes.clone()].iter().sum::<u64>() as f64);
            let reversed = |[dataset, neighbor]: [f64; 2]| [neighbor, dataset];
            let (inside_reversed, outputs_reversed) = (reversed(inside), reversed(outputs));
            [
                Self { outcomes: outcomes.clone(), reverse: false, inside, outputs },
                Self { outcomes, reverse: true, inside: inside_reversed, outputs: outputs_reversed },
            ]
        };
        ones.chain(sides).flat_map(both).collect()
    }

    /// ln of the Bayes factor against a claim; none if the set is not evidence against it.
    pub(super) fn doubt(&self, aim: Aim) -> Option<f64> {
        aim.log_bayes_factor(self.inside, self.outputs)
    }
}

impl Chosen {
    /// What a witness shows by counts of two groups of outputs.
    pub(super) fn new(witness: Witness, [made, shown]: [[Vec<u64>; 2]; 2], aims: &[Aim]) -> Self {
        let [score, worth] = shares(&made, &shown, aims);
        let trial = Trial { witness, made, shown, score, worth };
        let doubt = trial.doubt(aims);
        trial.into_chosen(doubt)
    }

    /// The same witness, with counts of further outputs that had no part in it.
    pub(super) fn with(&self, further: &[Vec<u64>; 2], aims: &[Aim]) -> Self {
        Self::new(self.witness.clone(), [self.pilot.clone(), further.clone()], aims)
    }
}

/// Witnesses made from half of these outputs, the simplest ones first. None without outputs.
pub(super) fn trials(worlds: [&[Output]; 2], goal: Goal<'_>) -> Vec<Trial> {
    let half = |world: &[Output], odd: usize| world.iter().skip(odd).step_by(2).cloned().collect::<Vec<_>>();
    let [first, second] = [0, 1].map(|odd| worlds.map(|world| half(world, odd)));
    if first.iter().chain(&second).any(Vec::is_empty) {
        return Vec::new();
    }
    let trial = |witness: Witness| {
        let count = |half: &[Vec<Output>; 2]| [0, 1].map(|world| witness.count(&half[world]));
        let [made, shown] = [count(&first), count(&second)];
        let [score, worth] = shares(&made, &shown, goal.aims);
        Trial { witness, made, shown, score, worth }
    };
    let mut found: Vec<Trial> = Witness::of_values(&first).map(trial).into_iter().collect();
    let both = || first.iter().flatten();
    let mut features = Feature::of_outputs(alternating(&first));
    if goal.features == Features::Identity {
        features.retain(Feature::is_identity);
    }
    let mut ranked: Vec<(Feature, f64)> = features
        .iter()
        .filter_map(|feature| Some((feature.clone(), trial(Witness::of_feature(feature, both(), COARSE)?).score)))
        .collect();
    order::sort(&mut ranked, |a, b| b.1.total_cmp(&a.1));
    let outputs = first.iter().map(Vec::len).sum::<usize>();
    let bins = BINS.into_iter().filter(|(_, from, until)| (from..until).contains(&&outputs)).map(|(bins, ..)| bins);
    for (feature, _) in ranked.iter().take(TRIED) {
        found.extend(bins.clone().filter_map(|bins| Witness::of_feature(feature, both(), bins)).map(trial));
    }
    if ranked.len() > 1 {
        let mut used: Vec<Feature> = ranked.into_iter().take(LINEAR).map(|(feature, _)| feature).collect();
        let halves = [&*first[0], &*first[1]];
        let linear = LinearScore::fit(&used, halves).map(View::Linear);
        used.truncate(BOOSTED);
        // One number has no combinations to see.
        let several = used.iter().filter(|feature| !feature.is_of_bits()).count() > 1;
        let boosted = several.then(|| BoostedTrees::fit(&used, halves)).flatten().map(View::Boosted);
        for view in linear.into_iter().chain(boosted) {
            found.extend(bins.clone().filter_map(|bins| Witness::binned(view.clone(), both(), bins)).map(trial));
        }
    }
    found
}

impl View {
    /// Whether it was made to tell apart the very outputs that it was made from.
    const fn is_trained(&self) -> bool {
        matches!(self, Self::Linear(_) | Self::Boosted(_))
    }

    /// The number that is put into bins.
    fn number(&self, output: &Output) -> f64 {
        match self {
            Self::Whole => output.number().unwrap_or(f64::NAN),
            Self::Feature(feature) => feature.measure(output),
            Self::Linear(score) => score.score(output),
            Self::Boosted(trees) => trees.score(output),
        }
    }
}

impl fmt::Display for Witness {
    /// What is looked at, in words.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.view {
            View::Whole => formatter.write_str("the output"),
            View::Feature(feature) => write!(formatter, "{feature}"),
            View::Linear(score) => {
                let terms = score.heaviest(3);
                let names: Vec<String> =
                    terms.iter().map(|(feature, weight)| format!("{weight:.2} × {feature}")).collect();
                write!(formatter, "a linear score: {} ...", names.join(" + "))
            }
            View::Boosted(trees) => write!(formatter, "{trees}"),
        }
    }
}

/// The interval from the lower end of one to the upper end of another.
fn joined(first: &str, last: &str) -> String {
    let end = |label: &str| label.trim_matches(['{', '}']).to_owned();
    let low = first.split_once(", ").map_or_else(|| format!("[{}", end(first)), |(low, _)| low.to_owned());
    let high = last.split_once(", ").map_or_else(|| format!("{}]", end(last)), |(_, high)| high.to_owned());
    format!("{low}, {high}")
}

/// Outputs of one world and of the other by turns.
fn alternating(worlds: &[Vec<Output>; 2]) -> impl Iterator<Item = &Output> {
    let most = worlds[0].len().max(worlds[1].len());
    (0..most).flat_map(move |index| worlds.iter().filter_map(move |world| world.get(index)))
}

/// The largest share of a claim that the second counts make plausible: at all sets that the first counts suggest, and at
/// those that are best by the first counts, whether little or much certainty is asked of them.
fn shares(first: &[Vec<u64>; 2], second: &[Vec<u64>; 2], aims: &[Aim]) -> [f64; 2] {
    let [made, shown] = [first, second].map(|counts| suggested(first, counts));
    let mut largest = [0.0f64; 2];
    for aim in aims {
        let by_second: Vec<f64> =
            shown.iter().map(|&[inside, outputs]| aim.share(inside, outputs, Direction::Forward)).collect();
        largest[0] = by_second.iter().copied().fold(largest[0], f64::max);
        for judge in [Aim::share, Aim::certain_share] {
            let by_first = made.iter().map(|&[inside, outputs]| judge(aim, inside, outputs, Direction::Forward));
            let best = by_first.zip(&by_second).max_by(|a, b| a.0.total_cmp(&b.0));
            largest[1] = best.map_or(largest[1], |(_, &share)| largest[1].max(share));
        }
    }
    largest
}

/// The fewest runs of each world that refute a claim, as far as these counts can tell; infinite if no number does.
pub(super) fn soonest_at_best(counts: &[Vec<u64>; 2], aims: &[Aim]) -> f64 {
    let sets = suggested(counts, counts);
    let cases = sets.iter().flat_map(|set| aims.iter().map(move |aim| (aim, *set)));
    cases.fold(f64::INFINITY, |most, (aim, [inside, outputs])| aim.runs_to_refute(HIDDEN, inside, outputs, most))
}

/// Outputs in sets that the first counts suggest, and all outputs, by the second counts: first those of the world in
/// which the set is likelier. What was never seen is one of the sets.
fn suggested(first: &[Vec<u64>; 2], second: &[Vec<u64>; 2]) -> Vec<[[f64; 2]; 2]> {
    let totals = [0, 1].map(|world| second[world].iter().sum::<u64>() as f64);
    let mut inside = [0.0f64; 2];
    let mut found = vec![[inside, totals]];
    for outcome in by_ratio(first) {
        for (inside, counts) in inside.iter_mut().zip(second) {
            *inside += counts[outcome] as f64;
        }
        // The set is likelier under the dataset; its complement under the neighbor.
        let outside = [totals[1] - inside[1], totals[0] - inside[0]];
        found.extend([[inside, totals], [outside, [totals[1], totals[0]]]]);
    }
    found
}

/// Outcomes by falling ratio of their estimated probabilities.
pub(super) fn by_ratio(counts: &[Vec<u64>; 2]) -> Vec<usize> {
    let totals = [0, 1].map(|world| counts[world].iter().sum::<u64>() as f64 + 1.0);
    let ratio = |outcome: usize| {
        let share = |world: usize| (counts[world][outcome] as f64 + 0.5) / totals[world];
        share(0) / share(1)
    };
    order::positions(counts[0].len(), |a, b| ratio(b).total_cmp(&ratio(a)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Delta;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// An output of the first world or of the second.
    type Make<'a> = &'a dyn Fn(&mut ChaCha8Rng, bool) -> Output;

    fn choose(worlds: [&[Output]; 2]) -> Option<Chosen> {
        let aims = [Aim::Epsilon(Delta::new(0.0).unwrap(), 1.0)];
        Witness::choose(worlds, Goal { aims: &aims, claimed: true, features: Features::Auto })
    }

    /// One world has a rare output, and all else is at the claim: features of the frequent outputs must not hide it.
    #[test]
    fn a_claim_in_doubt_is_looked_at_where_it_is_in_doubt() {
        let aims = [Aim::Epsilon(Delta::new(0.0).unwrap(), 1.0)];
        let goal = Goal { aims: &aims, claimed: true, features: Features::Auto };
        let mut stream = ChaCha8Rng::seed_from_u64(11);
        let mut world = |center: f64, rare: f64| -> Vec<Output> {
            let mut laplace = || {
                let uniform: f64 = stream.random_range(-0.5..0.5);
                center - uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln()
            };
            let usual: Vec<Output> = (0..1000).map(|_| Output::Number((laplace() * 1024.0).round() / 1024.0)).collect();
            let place = |index: usize| (rare * index as f64).fract() < rare;
            usual.into_iter().enumerate().map(|(index, one)| if place(index) { Output::Null } else { one }).collect()
        };
        let mut found = 0;
        for _ in 0..20 {
            let (a, b) = (world(0.0, 0.03), world(1.0, 0.0));
            let chosen = Witness::choose([&a, &b], goal).unwrap();
            let null = chosen.witness.outcome(&Output::Null);
            let alone = chosen.pilot[1][null] == 0 && chosen.pilot[0][null] >= 15;
            found += usize::from(alone && chosen.doubt.log_factor > IN_DOUBT && chosen.doubt.soonest < 20_000.0);
        }
        assert!(found >= 19, "{found}");
    }

    /// In each case something else tells the worlds apart, and the witness finds it.
    #[test]
    fn what_differs_is_found() {
        let mut stream = ChaCha8Rng::seed_from_u64(7);
        let mut worlds =
            |make: Make<'_>| [true, false].map(|first| (0..600).map(|_| make(&mut stream, first)).collect::<Vec<_>>());
        // On a grid: the last binary places of a double tell the worlds apart better than anything else.
        let normal = |stream: &mut ChaCha8Rng| -> f64 {
            let number: f64 = StandardNormal.sample(stream);
            (number * 64.0).round() / 64.0
        };
        let cases: [(&str, Make<'_>); 6] = [
            ("output", &|stream, first| Output::Number(normal(stream) + if first { 1.5 } else { 0.0 })),
            ("the output", &|stream, first| {
                Output::Text(if stream.random_bool(if first { 0.9 } else { 0.4 }) { "yes" } else { "no" }.into())
            }),
            ("length of output", &|stream, first| {
                let length = 2 + usize::from(stream.random_bool(if first { 0.8 } else { 0.2 }));
                Output::Vector((0..length).map(|_| normal(stream)).collect())
            }),
            ("output.b", &|stream, first| {
                let b = normal(stream) - if first { 2.0 } else { 0.0 };
                Output::Object(vec![("a".into(), Output::Number(normal(stream))), ("b".into(), Output::Number(b))])
            }),
            ("equal neighboring entries of output", &|stream, first| {
                let x = normal(stream);
                Output::Vector(vec![
                    x,
                    if stream.random_bool(if first { 0.7 } else { 0.1 }) { x } else { normal(stream) },
                ])
            }),
            ("output = \"nan\"", &|stream, first| {
                let nan = stream.random_bool(if first { 0.5 } else { 0.05 });
                Output::Number(if nan { f64::NAN } else { normal(stream) })
            }),
        ];
        for (name, make) in cases {
            let [a, b] = worlds(make);
            let chosen = choose([&a, &b]).unwrap();
            let shown = chosen.witness.to_string();
            // A linear score may do slightly better than the feature it weighs most.
            let same = shown.contains(name) || name == "output = \"nan\"" || name == "output" && shown == "the output";
            assert!(same && chosen.score > 0.5, "{name}: {shown} {}", chosen.score);
            assert!(chosen.pilot.iter().flatten().sum::<u64>() >= 600);
            assert_eq!(chosen.witness.labels().len(), chosen.witness.outcomes());
            let text = serde_json::to_string(&chosen.witness).unwrap();
            let read: Witness = serde_json::from_str(&text).unwrap();
            assert_eq!(read.count(&a), chosen.witness.count(&a), "{text}");
        }
        // Equal worlds: the claim is not in doubt.
        let [a, b] = worlds(&|stream, _| Output::Number(normal(stream)));
        assert!(choose([&a, &b]).unwrap().score < 1.0);
        assert!(choose([&[], &[]]).is_none());
    }

    #[test]
    fn sets_of_outcomes_read_as_intervals() {
        let outputs: Vec<Output> = (0..100).map(|value| Output::Number(f64::from(value))).collect();
        let view = View::Feature(Feature::of_outputs(outputs.iter()).remove(0));
        let witness = Witness { view, cells: Cells::Bins(OutputBins::new(&[25.0, 50.0, 75.0]).unwrap()) };
        assert_eq!(witness.labels()[SPECIAL..], ["(-inf, 25)", "[25, 50)", "[50, 75)", "[75, inf)"]);
        assert_eq!(witness.describe(&[0, 4, 5]), "output in missing or nan or [25, 75)");
        assert_eq!(witness.describe(&[3, 5, 6]), "output in (-inf, 25) or [50, inf)");
        assert_eq!(joined("{3}", "(7, 9]"), "[3, 9]");
    }
}
