//! The description of a method and its inputs. A method is one file with a [`MethodRow`] and two lines of the list in
//! `audit/mod.rs`.

use super::guide::Guide;
use super::output_set::OutputSets;
use super::rectangle::Rectangle;
use super::reference_distributions::ReferenceDistributions;
use super::tails::Tails;
use crate::bound::{Direction, LowerBound, Validity};
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::quantity::{Delta, FailureProbability, Order};

/// The description of a method.
pub struct MethodRow {
    /// The name on the command line, in tables and in files.
    pub name: &'static str,
    /// When to use it: sentences.
    pub when: &'static str,
    /// The guarantee of its bounds.
    pub guarantee: Guarantee,
    /// What it needs in addition to counts.
    pub needs: Needs,
    /// The random numbers that it draws.
    pub draws: Draws,
    /// From counts to bounds.
    pub bounds: Bounds,
}

/// The guarantee of the bounds of a method. Bounds that hold at every sample size are read from an event; methods that
/// share it pay for it once.
pub enum Guarantee {
    /// They hold if an event specific to the method occurs.
    OwnEvent,
    /// They hold if the limits at the output sets hold.
    OutputSets,
    /// They hold if all four limits at the output sets hold, whatever direction is declared. As published: they are not
    /// raised to bounds of smaller orders, and never recommended.
    Published,
    /// The failure probability is nominal.
    Nominal(Validity),
}

impl Guarantee {
    /// The guarantee as a single word.
    pub const fn validity(&self) -> Validity {
        match self {
            Self::OwnEvent | Self::OutputSets | Self::Published => Validity::FiniteSample,
            Self::Nominal(validity) => *validity,
        }
    }
}

/// What a method needs in addition to counts.
pub enum Needs {
    /// Nothing.
    Nothing,
    /// Output sets O for which it is known whether P(O) or Q(O) is larger.
    Direction,
    /// Distributions, exact or of a pilot.
    Distributions,
}

impl Needs {
    /// What a guide lacks of this, in words.
    pub fn lacking(&self, guide: &Guide) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Direction => (!guide.sets.directed).then_some(DIRECTION),
            Self::Distributions => guide.reference().is_none().then_some(DISTRIBUTIONS),
        }
    }
}

const DIRECTION: &str = "a pilot, a distribution or a declared set, to know which of P(O) and Q(O) is larger";
const DISTRIBUTIONS: &str = "a pilot or a distribution, for a score of the outcomes";

/// The random numbers that a method draws.
#[derive(PartialEq, Eq)]
pub enum Draws {
    /// None.
    Nothing,
    /// An order of the outputs.
    Order,
    /// Resamples of the outputs.
    Resamples,
}

/// A bound of D_α as a function of the order and the direction.
pub type Renyi<'a> = Box<dyn Fn(Order, Direction) -> Result<LowerBound> + 'a>;

/// A bound of ε at the δ of the task as a function of the direction.
pub type Epsilon<'a> = Box<dyn Fn(Direction) -> Result<LowerBound> + 'a>;

/// From counts to bounds. Quantities shared by all orders and directions are computed before the function is returned.
pub enum Bounds {
    /// Of D_α.
    Renyi(for<'a> fn(&'a Task<'a>) -> Result<Renyi<'a>>),
    /// Of ε at δ.
    Epsilon(for<'a> fn(&'a Task<'a>) -> Result<Epsilon<'a>>),
}

/// The input of a method.
pub struct Task<'a> {
    pub counts: &'a PairedCounts,
    /// It provides what the method needs.
    pub guide: &'a Guide,
    /// The failure probability of all bounds of the method together.
    pub failure: FailureProbability,
    pub delta: Delta,
    /// Number of orders and directions.
    pub goals: usize,
    pub directions: usize,
    pub seed: u64,
    pub resamples: usize,
    /// The trivial bound.
    pub nothing: LowerBound,
}

impl Task<'_> {
    /// The share of one order and direction.
    pub fn share_of_goal(&self) -> FailureProbability {
        self.failure.split(self.goals)
    }

    /// The share of one output set, and of one of its directions.
    pub fn share_of_set(&self, directions: usize) -> FailureProbability {
        self.failure.split(self.guide.sets.sets.len() * directions)
    }

    /// The limits that a method at one set needs.
    pub fn tails(&self) -> Tails {
        if self.guide.sets.directed { Tails::Two } else { Tails::Four }
    }

    /// The distributions, for a method that needs them.
    pub fn reference(&self) -> Result<&ReferenceDistributions> {
        self.guide.reference().ok_or_else(|| Error::rejected("k-cut", DISTRIBUTIONS))
    }

    /// Counts inside each set.
    pub fn inside(&self) -> Result<Vec<[BinomialCounts; 2]>> {
        self.guide.sets.sets.iter().map(|set| set.inside(self.counts)).collect()
    }

    /// The largest of simultaneous bounds, or the trivial one.
    pub fn largest(&self, bounds: impl Iterator<Item = LowerBound>) -> LowerBound {
        bounds.fold(self.nothing, |best, next| if next.value > best.value { next } else { best })
    }

    /// The largest ε of all sets.
    pub fn of_sets<'t>(
        &'t self,
        bound: impl Fn([BinomialCounts; 2], Direction) -> Result<LowerBound> + 't,
    ) -> Epsilon<'t> {
        Box::new(move |direction| {
            let bounds = self.inside()?.into_iter().map(|counts| bound(counts, direction));
            Ok(self.largest(bounds.collect::<Result<Vec<_>>>()?.into_iter()))
        })
    }

    /// The largest ε of the rectangles of all sets.
    pub fn of_rectangles<'t>(
        &'t self,
        bound: impl Fn(&Rectangle, Direction) -> Result<LowerBound> + 't,
    ) -> Epsilon<'t> {
        Box::new(move |direction| {
            let rectangles = rectangles(self.counts, &self.guide.sets, self.failure)?;
            let bounds = rectangles.iter().map(|rectangle| bound(rectangle, direction));
            Ok(self.largest(bounds.collect::<Result<Vec<_>>>()?.into_iter()))
        })
    }
}

/// The confidence rectangles of the sets, which hold simultaneously except with the failure probability: two tails if
/// the direction was declared, otherwise four.
///
/// Any number of quantities may be bounded from them without paying again.
///
/// # Errors
/// As [`audit_counts`](crate::audit::audit_counts).
pub fn rectangles(counts: &PairedCounts, sets: &OutputSets, failure: FailureProbability) -> Result<Vec<Rectangle>> {
    let share = failure.split(sets.sets.len());
    let rectangle = if sets.directed { Rectangle::two_tails } else { Rectangle::four_tails };
    sets.sets.iter().map(|set| set.inside(counts).and_then(|[p, q]| rectangle(p, q, share))).collect()
}

/// A bound that is computed without an error.
pub fn sure<'a>(bound: impl Fn(Order, Direction) -> LowerBound + 'a) -> Renyi<'a> {
    Box::new(move |order, direction| Ok(bound(order, direction)))
}

/// Defines the methods: for each, one sentence, a variant of [`Method`](crate::audit::Method), and its row.
macro_rules! methods {
    ($($(#[doc = $about:literal])+ $variant:ident => $file:ident::$row:ident,)+) => {
        /// A method that turns counts into lower bounds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Method {
            $($(#[doc = $about])+ $variant,)+
        }

        impl Method {
            /// All of them.
            pub const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];

            /// The description of the method.
            const fn row(self) -> &'static method::MethodRow {
                match self {
                    $(Self::$variant => &$file::$row,)+
                }
            }

            /// One sentence about it, as Markdown with links to items of the library.
            const fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($about),+).trim_ascii(),)+
                }
            }
        }
    };
}

pub(super) use methods;
