//! Composed privacy losses against closed forms, at every size of ε, δ and count: the truth is never outside.
//!
//! *Gaussian* noise, n times, is one with √n μ (Dong, Roth and Su 2022, Corollary 3.3). *Laplace* noise of scale 1/ε₀ has
//! δ(ε) = 1 - e^{(ε - ε₀)/2}. *Randomized response* and every other loss of *two points* a > 0 > -b are binomial: k of n
//! outputs have the loss a, and δ(ε) = Σ P_k (1 - e^{ε - l_k}) over the sums of losses l_k = k a - (n - k) b above ε.

use crate::experiment::{Report, stream};
use leakbound::bound::Direction;
use leakbound::divergence::{Bracket, ComposedDirection, EnclosedLoss, LossCell, gdp_delta};
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::parse;
use leakbound::quantity::{Delta, Epsilon};
use leakbound::record::InputFile;
use leakbound::special::log_binomial_pmf;
use leakbound::{Error, Result};
use rand::{Rng, RngExt};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

/// Cases of the gate, of the experiment, and of a part of it.
pub const GATE: u64 = 2_000;
const ALL: u64 = 1_000_000;
const PART: u64 = 10_000;
const SEED: u64 = 709;
/// Relative widths aimed at: time grows with the root of their inverse.
const WIDTHS: [f64; 4] = [1e-3, 1e-2, 1e-2, 1e-2];
/// Cells of real outputs.
const CELLS: usize = 1_000;
/// Relative error of a closed form.
const ROUNDING: f64 = 1e-9;
/// Terms of a binomial sum.
const MOST_OUTPUTS: u64 = 20_000;

/// What is composed.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Of this μ.
    Gaussian(f64),
    /// Of this ε.
    Laplace(f64),
    /// Losses a and -b.
    TwoPoints(f64, f64),
}

/// A closed form to compare with.
#[derive(Debug, Clone, Copy)]
struct Case {
    kind: Kind,
    times: u64,
    delta: f64,
    width: f64,
}

/// What is known of some cases.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Seen {
    checked: u64,
    /// Cases whose ends are within twice the width that was asked for.
    narrow: u64,
    outside: Vec<String>,
}

/// A number between these, uniformly in its logarithm.
fn spread(stream: &mut impl Rng, low: f64, high: f64) -> f64 {
    stream.random_range(low.ln()..high.ln()).exp()
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.checked += other.checked;
        self.narrow += other.narrow;
        self.outside.extend(other.outside);
    }
}

impl Kind {
    /// Its place in a tally.
    const fn place(self) -> usize {
        match self {
            Self::Gaussian(_) => 0,
            Self::Laplace(_) => 1,
            Self::TwoPoints(..) => 2,
        }
    }
}

impl Case {
    /// ε of all outputs together between 1e-8 and 1e6, δ between 1e-300 and 0.9, or 0.
    fn draw(stream: &mut impl Rng) -> Self {
        let delta = match stream.random_range(0..10) {
            0 => 0.0,
            1..4 => spread(stream, 1e-300, 1e-12),
            4..9 => spread(stream, 1e-12, 0.1),
            _ => stream.random_range(0.1..0.9),
        };
        let (epsilon, width) = (spread(stream, 1e-8, 1e6), WIDTHS[stream.random_range(0..WIDTHS.len())]);
        match stream.random_range(0..4) {
            0 => {
                let times = spread(stream, 1.0, 1e15) as u64;
                // The largest ε is about μ²/2 n.
                let mu = (2.0 * epsilon.min(1e5) / times as f64).sqrt().min(300.0);
                Self { kind: Kind::Gaussian(mu), times, delta, width }
            }
            1 => Self { kind: Kind::Laplace(epsilon), times: 1, delta, width },
            kind => {
                let times = spread(stream, 1.0, MOST_OUTPUTS as f64) as u64;
                let one = epsilon / times as f64;
                let other = if kind == 2 { one } else { spread(stream, 1e-3, 1e3) * one };
                Self { kind: Kind::TwoPoints(one, other), times, delta, width }
            }
        }
    }

    fn losses(&self) -> Result<[EnclosedLoss; 2]> {
        let mechanism = match self.kind {
            Kind::TwoPoints(up, down) => {
                let [p, q] = two_points(up, down);
                // Logarithms are off by a rounding of their own and one of their size.
                let error = |i: usize| 4.0 * f64::EPSILON * (1.0 + p[i].abs() + q[i].abs());
                let cell = |i: usize, loss: f64| LossCell::of_logarithms([p[i], q[i]], error(i), [loss; 2]);
                let cells = [cell(0, up), cell(1, -down)];
                return Ok([EnclosedLoss::of_cells(&cells), EnclosedLoss::of_cells(&cells.map(LossCell::exchanged))]);
            }
            Kind::Gaussian(mu) => format!("gaussian:sigma={}", mu.recip()),
            Kind::Laplace(epsilon) => format!("laplace:sigma={}", epsilon.recip()),
        };
        let [without, with] = [VoteHistogram::new(vec![0])?, VoteHistogram::new(vec![1])?];
        parse(&mechanism)?.enclosed_losses(&without, &with, CELLS)
    }

    /// Whether ε is at least, and at most, the smallest one with δ(ε) ≤ δ, as far as the closed form tells.
    fn judges(&self, direction: Direction, found: Bracket) -> Result<[bool; 2]> {
        if self.delta == 0.0 {
            let largest = match (self.kind, direction) {
                (Kind::Gaussian(_), _) => f64::INFINITY,
                (Kind::Laplace(epsilon), _) => epsilon,
                (Kind::TwoPoints(up, _), Direction::Forward) => up * self.times as f64,
                (Kind::TwoPoints(_, down), Direction::Reverse) => down * self.times as f64,
            };
            return Ok([found.lower <= largest * (1.0 + ROUNDING), found.upper >= largest * (1.0 - ROUNDING)]);
        }
        match self.kind {
            Kind::Gaussian(mu) => {
                let mu = mu * (self.times as f64).sqrt();
                let off = |end: f64| ROUNDING * (end + mu);
                let above = gdp_delta(mu, Epsilon::new((found.lower - off(found.lower)).max(0.0))?)?;
                let below = gdp_delta(mu, Epsilon::new(found.upper + off(found.upper))?)?;
                let lower = found.lower == 0.0 || above >= self.delta * (1.0 - ROUNDING);
                Ok([lower, found.upper == f64::INFINITY || below <= self.delta * (1.0 + ROUNDING)])
            }
            Kind::Laplace(epsilon) => {
                let truth = (epsilon + 2.0 * (-self.delta).ln_1p()).max(0.0);
                let off = ROUNDING * epsilon;
                Ok([found.lower <= truth + off, found.upper >= truth - off])
            }
            Kind::TwoPoints(up, down) => {
                let points = if direction == Direction::Forward { [up, down] } else { [down, up] };
                // An end is judged a little outside of itself.
                let off = ROUNDING * (found.upper.min(up.max(down) * self.times as f64) + found.lower) + 1e-300;
                let [above, below] = [found.lower - off, found.upper + off].map(|at| binomial(points, self.times, at));
                let lower = found.lower == 0.0 || above >= self.delta * (1.0 - ROUNDING);
                Ok([lower, found.upper == f64::INFINITY || below <= self.delta * (1.0 + ROUNDING)])
            }
        }
    }

    fn check(&self, seen: &mut Seen) -> Result<()> {
        let (delta, losses) = (Delta::new(self.delta)?, self.losses()?);
        for (direction, loss) in Direction::BOTH.into_iter().zip(&losses) {
            let found = ComposedDirection::of_enclosed(&[(loss, self.times)], delta, self.width)?.epsilon(delta);
            seen.checked += 1;
            seen.narrow +=
                u64::from(found.upper - found.lower <= 2.0 * self.width * found.upper || found.lower == found.upper);
            let crossed = !(found.lower <= found.upper);
            if crossed || self.judges(direction, found)? != [true; 2] {
                seen.outside.push(format!("{self:?} {direction}: {found:?}"));
            }
        }
        Ok(())
    }
}

/// ln P and ln Q of two outcomes with losses a and -b.
fn two_points(up: f64, down: f64) -> [[f64; 2]; 2] {
    let one_less = |x: f64| (-(-x).exp_m1()).ln();
    let all = one_less(up + down);
    let (p, q) = (one_less(down) - all, one_less(up) - all);
    [[p, q - down], [p - up, q]]
}

/// δ(ε) of this many outputs with losses a and -b: of the outputs with losses above ε those that matter, from 12 standard
/// deviations below the mean number of losses a on, until terms fall below rounding.
fn binomial([up, down]: [f64; 2], times: u64, epsilon: f64) -> f64 {
    let [[ln_p, ln_rest], _] = two_points(up, down);
    let n = times as f64;
    let mean = n * ln_p.exp();
    let term = |k: u64| {
        let (count, rest) = (k as f64, (times - k) as f64);
        let loss = count * up - rest * down;
        if loss <= epsilon {
            return 0.0;
        }
        let ways = log_binomial_pmf(k, times, 0.5) + n * LN_2;
        (ways + count * ln_p + rest * ln_rest).exp() * -(epsilon - loss).exp_m1()
    };
    let above = (epsilon + n * down) / (up + down) - 1.0;
    let first = above.max(mean - 12.0 * (mean * ln_rest.exp()).sqrt() - 12.0).clamp(0.0, n) as u64;
    let mut sum = 0.0;
    for k in first..=times {
        let term = term(k);
        sum += term;
        if k as f64 > mean.max(above) + 3.0 && term <= 1e-18 * sum {
            break;
        }
    }
    sum
}

/// What is known of all cases of each kind.
type Tally = [Seen; 3];

/// Checks the random cases of these numbers.
///
/// # Errors
/// The first case that ends in an error, with the error.
fn part(cases: Range<u64>) -> std::result::Result<Tally, (String, Error)> {
    let all: Vec<(usize, Seen)> = cases
        .into_par_iter()
        .map(|index| {
            let (case, mut seen) = (Case::draw(&mut stream(SEED, index)), Seen::default());
            case.check(&mut seen).map_err(|error| (format!("{case:?}"), error))?;
            Ok((case.kind.place(), seen))
        })
        .collect::<std::result::Result<_, (String, Error)>>()?;
    let mut tally = Tally::default();
    all.into_iter().for_each(|(kind, seen)| tally[kind].add(seen));
    Ok(tally)
}

fn reported(cases: u64, tally: &Tally) -> Report {
    let mut report = Report::new(format!(
        "{cases} random compositions with closed forms, both directions, ε from 1e-8 to 1e6, δ = 0 and from 1e-300 to \
         0.9, counts to 1e15, seed {SEED}: whether the enclosure of ε has the truth in it; no sampling, so no false alarms"
    ));
    for (name, Seen { checked, narrow, outside }) in ["Gaussian", "Laplace", "two points"].into_iter().zip(tally) {
        let share = 100.0 * *narrow as f64 / *checked as f64;
        let line =
            format!("{name:<12} {checked:>8} enclosures, {} without the truth, {share:.1}% narrow", outside.len());
        report.claim(outside.is_empty(), line);
        outside.iter().take(10).for_each(|case| report.line(format!("      {case}")));
    }
    report
}

/// The parts that this very program has checked before, one JSON document per line. A million cases take hours,
/// and a run that was ended goes on with the next part; another program begins again.
fn checked() -> Result<(PathBuf, Vec<Tally>)> {
    let program = InputFile::of_file(std::env::current_exe().unwrap_or_default())?;
    let path = PathBuf::from(format!("target/enclosures-{}.jsonl", &program.sha256[..16]));
    let text = fs::read_to_string(&path).unwrap_or_default();
    Ok((path, text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()))
}

/// A million cases.
pub fn report() -> Report {
    let title = "random compositions with closed forms";
    let all = || -> std::result::Result<Report, String> {
        let (path, mut parts) = checked().map_err(|error| error.to_string())?;
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(|error| error.to_string())?;
        for first in (parts.len() as u64 * PART..ALL).step_by(PART as usize) {
            let tally = part(first..first + PART).map_err(|(case, error)| format!("{case}: {error}"))?;
            let line = serde_json::to_string(&tally).map_err(|error| error.to_string())?;
            writeln!(file, "{line}").map_err(|error| error.to_string())?;
            eprintln!("{} of {ALL} cases", first + PART);
            parts.push(tally);
        }
        let mut tally = Tally::default();
        parts.into_iter().flat_map(|part| part.into_iter().enumerate()).for_each(|(kind, seen)| tally[kind].add(seen));
        Ok(reported(ALL, &tally))
    };
    all().unwrap_or_else(|error| Report::filled(title, |_| Err(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Verdict;

    #[test]
    fn no_closed_form_is_outside_of_its_enclosure() {
        let report = reported(GATE, &part(0..GATE).unwrap());
        assert_eq!(report.verdict, Verdict::Pass);
    }

    /// Randomized response with ε₀ = ln 3, twice: 9/16 - e^ε/16 above ε = 0.
    #[test]
    fn the_closed_form_of_two_points() {
        let one = 3f64.ln();
        let found = binomial([one, one], 2, 0.5);
        assert!((found - (9.0 - 0.5f64.exp()) / 16.0).abs() < 1e-14, "{found}");
    }
}
