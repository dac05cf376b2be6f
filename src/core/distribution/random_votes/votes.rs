//! Random votes as products of factors, one per class: the sum to compute, before any noise is chosen.

use super::noise_table::{Column, Values};
use crate::error::{Error, Result};
use crate::order;
use crate::special::{log_binomial_pmf, log_poisson_pmf};
use std::sync::OnceLock;

/// The largest number of voters: beyond it, the tables would not fit.
const MAX_VOTERS: u64 = 1_000_000;
/// The largest number of voters for which all powers of a tilt are tabulated: every tilt needs a new table.
const FEW_VOTERS: u64 = 4_096;
/// The largest number of marks.
pub(super) const MAX_MARKS: u64 = 64;

/// The votes that depart from Mult(k, P).
#[derive(Debug, Clone)]
pub(super) enum Marks<'a> {
    /// m of the k votes are drawn from P' instead of P.
    Added { marks: u64, distribution: &'a [f64] },
    /// B ~ Bin(m, ν) votes for y' are added and Mult(B, P^k) are taken away.
    Displaced(Displacement<'a>),
}

/// Votes for one label that displace others: B ~ Bin(m, ν) votes for y' are added and Mult(B, P^k) are taken away.
///
/// # Example
/// ```
/// # use leakbound::distribution::Displacement;
/// let displacement = Displacement { distribution: &[0.6, 0.4], points: 1, inclusion: 0.2, label: 1 };
/// assert_eq!(displacement.distribution.len(), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Displacement<'a> {
    /// P^k: the distribution of the label of a displaced neighbor, one entry per class.
    pub distribution: &'a [f64],
    /// m: the number of added points, 1 to 64.
    pub points: u64,
    /// ν: the probability that an added point displaces a neighbor.
    pub inclusion: f64,
    /// y': the label of the added points.
    pub label: usize,
}

/// The classes, with equal ones in one group, and the requested coefficients.
#[derive(Debug)]
pub(super) struct Votes {
    pub(super) groups: Vec<Group>,
    /// Group of each class.
    pub(super) of_class: Vec<usize>,
    /// Group of each factor of the product, and the first factor of each group.
    pub(super) positions: Vec<usize>,
    pub(super) first_position: Vec<usize>,
    /// k: the largest number of votes of a class before marks.
    pub(super) k: usize,
    /// 0, 1, ..., k.
    pub(super) numbers: Vec<f64>,
    /// m: the requested power of ε, with marks.
    pub(super) marks: usize,
    pub(super) outputs: Vec<Output>,
}

/// Classes with the same distribution.
///
/// A class has the factor Σ_b ε^b w_b Σ_n P(Poi(kP_i) = n) F((x - n - s_b)/s) z^n, where component b has the weight w_b
/// and the shift s_b.
#[derive(Debug)]
pub(super) struct Group {
    /// kP_i.
    pub(super) mean: f64,
    /// P(Poi(kP_i) = n) for n = 0..=k, computed on demand; a single entry if P_i = 0.
    poisson: OnceLock<Column>,
    voters: u64,
    pub(super) components: Vec<Component>,
    /// The component of the class without marks.
    pub(super) base: usize,
    pub(super) multiplicity: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Component {
    /// b.
    pub(super) power: usize,
    /// s_b.
    pub(super) shift: i64,
    /// ln w_b; -inf for the component of a class without marks if the sum does not include it.
    pub(super) ln_weight: f64,
}

/// A requested distribution: a coefficient of the product of the factors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    /// Power of z.
    pub(super) degree: usize,
    /// Whether the power m of ε is requested, or the factors without marks.
    pub(super) marked: bool,
    /// ln of the factor that multiplies the coefficient.
    pub(super) ln_factor: f64,
}

impl Votes {
    /// k voters with the distribution P; `plain` also requests the distribution without the marks.
    pub(super) fn new(k: u64, p: &[f64], marks: Option<&Marks<'_>>, plain: bool) -> Result<Self> {
        Error::check_domain((1..=MAX_VOTERS).contains(&k), "number of voters", k as f64, "[1, 1e6]")?;
        let components = |class: usize| marks.map_or_else(|| vec![Component::BASE], |marks| marks.components(class));
        let key = |class: usize| {
            let of_label = matches!(marks, Some(Marks::Displaced(change)) if change.label == class);
            let mark = marks.map_or(0.0, |marks| marks.distribution()[class]);
            (of_label, p[class], mark)
        };
        let order = order::positions(p.len(), |a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
        let mut groups: Vec<Group> = Vec::new();
        let mut of_class = vec![0; p.len()];
        let mut last = None;
        for &class in &order {
            if last == Some(key(class))
                && let Some(group) = groups.last_mut()
            {
                group.multiplicity += 1;
            } else {
                last = Some(key(class));
                let mean = k as f64 * p[class];
                let components = components(class);
                let base = components.iter().position(|component| component.shift == 0).unwrap_or(0);
                groups.push(Group { mean, poisson: OnceLock::new(), voters: k, components, base, multiplicity: 1 });
            }
            of_class[class] = groups.len() - 1;
        }
        let normalizer = |degree: u64| -log_poisson_pmf(degree, k as f64);
        let mut outputs = Vec::new();
        if plain || marks.is_none() {
            outputs.push(Output { degree: k as usize, marked: false, ln_factor: normalizer(k) });
        }
        outputs.extend(marks.map(|marks| {
            let (degree, ln_factor) = match marks {
                Marks::Added { marks, .. } => (k - marks, ln_factorial(*marks)),
                Marks::Displaced(_) => (k, 0.0),
            };
            Output { degree: degree as usize, marked: true, ln_factor: ln_factor + normalizer(degree) }
        }));
        let mut positions = Vec::with_capacity(p.len());
        let mut first_position = Vec::with_capacity(groups.len());
        for (index, group) in groups.iter().enumerate() {
            first_position.push(positions.len());
            positions.extend(std::iter::repeat_n(index, group.multiplicity));
        }
        Ok(Self {
            groups,
            of_class,
            positions,
            first_position,
            k: k as usize,
            numbers: (0..=k).map(|n| n as f64).collect(),
            marks: marks.map_or(0, Marks::count),
            outputs,
        })
    }
}

impl Votes {
    /// Whether the numbers themselves are tabulated, not only their logarithms.
    pub(super) fn are_few(&self) -> bool {
        self.k as u64 <= FEW_VOTERS
    }
}

impl Group {
    /// P(Poi(kP_i) = n).
    #[inline(always)]
    pub(super) fn poisson(&self) -> Values<'_> {
        self.poisson.get_or_init(|| self.column()).from(0, 0.0)
    }

    #[cold]
    fn column(&self) -> Column {
        let most = if self.mean > 0.0 { self.voters } else { 0 };
        let logarithms = (0..=most).map(|n| log_poisson_pmf(n, self.mean)).collect();
        Column::new(logarithms, self.voters <= FEW_VOTERS)
    }
}

impl Component {
    /// The only component of a class without marks.
    const BASE: Self = Self { power: 0, shift: 0, ln_weight: 0.0 };
}

impl Marks<'_> {
    /// m.
    fn count(&self) -> usize {
        match *self {
            Self::Added { marks, .. } => marks as usize,
            Self::Displaced(change) => change.points as usize,
        }
    }

    /// P' or P^k.
    fn distribution(&self) -> &[f64] {
        match self {
            Self::Added { distribution, .. } | Self::Displaced(Displacement { distribution, .. }) => distribution,
        }
    }

    fn components(&self, class: usize) -> Vec<Component> {
        match *self {
            // Mult(m, P') = m! [ε^m] Π_i Σ_b ε^b P'_i^b/b!.
            Self::Added { marks, distribution } => (0..=marks)
                .map(|b| Component { power: b as usize, shift: b as i64, ln_weight: ln_power(distribution[class], b) })
                .filter(|component| component.power == 0 || component.ln_weight > f64::NEG_INFINITY)
                .collect(),
            // A displaced label y' is replaced by itself. The others make S ~ Bin(m, ν(1 - P^k_{y'})) changes, which
            // take Mult(S, P^k given not y') away and add S to y': Σ_s P(S = s) s! [ε^s] Π_{i≠y'} Σ_b ε^b p_i^b/b!
            // with the shift s at y', which is [ε^m] with the component m-s of y' so shifted.
            Self::Displaced(Displacement { distribution, points, inclusion, label }) => {
                let others: f64 = distribution.iter().enumerate().filter(|&(i, _)| i != label).map(|(_, p)| p).sum();
                let component = |b: u64| {
                    if class == label {
                        let changes = points - b;
                        let ln_weight =
                            log_binomial_pmf(changes, points, (inclusion * others).min(1.0)) + ln_factorial(changes);
                        Component { power: b as usize, shift: changes as i64, ln_weight }
                    } else {
                        let p = if others > 0.0 { distribution[class] / others } else { 0.0 };
                        Component { power: b as usize, shift: -(b as i64), ln_weight: ln_power(p, b) }
                    }
                };
                (0..=points)
                    .map(component)
                    .filter(|component| component.shift == 0 || component.ln_weight > f64::NEG_INFINITY)
                    .collect()
            }
        }
    }
}

/// ln n!.
fn ln_factorial(n: u64) -> f64 {
    (2..=n).map(|i| i as f64).product::<f64>().ln()
}

/// ln(p^b / b!), 0 for b = 0.
fn ln_power(p: f64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { b as f64 * p.ln() - ln_factorial(b) }
}
