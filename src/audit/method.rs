//! What a method is: everything that is known of it, and what it is given. A method is one file with a [`MethodRow`]
//! and two lines of the list in `audit/mod.rs`.

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

/// Everything that is known of a method.
pub struct MethodRow {
    /// The name on the command line, in tables and in files.
    pub name: &'static str,
    /// When to use it: sentences.
    pub when: &'static str,
    /// What its bounds guarantee.
    pub guarantee: Guarantee,
    /// What it needs beside counts.
    pub needs: Needs,
    /// The random numbers that it draws.
    pub draws: Draws,
    /// From counts to bounds.
    pub bounds: Bounds,
}

/// What the bounds of a method guarantee. Those that hold at every sample size are read from an event; methods that
/// share it pay for it once.
pub enum Guarantee {
    /// They hold where an event of the method's own happens.
    OwnEvent,
    /// They hold where the limits at the output sets do.
    OutputSets,
    /// They hold where all four limits at the output sets do, whatever direction is declared. As published: they are
    /// not raised to bounds of smaller orders, and never recommended.
    Published,
    /// The failure probability is nominal.
    Nominal(Validity),
}

impl Guarantee {
    /// In one word.
    pub const fn validity(&self) -> Validity {
        match self {
            Self::OwnEvent | Self::OutputSets | Self::Published => Validity::FiniteSample,
            Self::Nominal(validity) => *validity,
        }
    }
}

/// What a method needs beside counts.
pub enum Needs {
    /// Nothing.
    Nothing,
    /// Output sets O for which it is known whether P(O) or Q(O) is larger.
    Direction,
    /// Distributions, exact or of a pilot.
    Distributions,
}

impl Needs {
    /// What of it a guide lacks, in words.
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

/// From counts to bounds. What all orders and directions share is computed before the function is returned.
pub enum Bounds {
    /// Of D_α.
    Renyi(for<'a> fn(&'a Task<'a>) -> Result<Renyi<'a>>),
    /// Of ε at δ.
    Epsilon(for<'a> fn(&'a Task<'a>) -> Result<Epsilon<'a>>),
}

/// What a method is given.
pub struct Task<'a> {
    pub counts: &'a PairedCounts,
    /// It has what the method needs.
    pub guide: &'a Guide,
    /// Of all bounds of the method together.
    pub failure: FailureProbability,
    pub delta: Delta,
    /// Orders and directions.
    pub goals: usize,
    pub directions: usize,
    pub seed: u64,
    pub resamples: usize,
    /// The bound that always holds.
    pub nothing: LowerBound,
}

impl Task<'_> {
    /// The share of one order and direction.
    pub fn share_of_goal(&self) -> FailureProbability {
        self.failure.split(self.goals)
    }

    /// The share of one output set, and of one direction of it.
    pub fn share_of_set(&self, directions: usize) -> FailureProbability {
        self.failure.split(self.guide.sets.sets.len() * directions)
    }

    /// Limits that a method of one set needs.
    pub fn tails(&self) -> Tails {
        if self.guide.sets.directed { Tails::Two } else { Tails::Four }
    }

    /// The distributions of a method that needs them.
    pub fn reference(&self) -> Result<&ReferenceDistributions> {
        self.guide.reference().ok_or_else(|| Error::rejected("k-cut", DISTRIBUTIONS))
    }

    /// Counts inside of every set.
    pub fn inside(&self) -> Result<Vec<[BinomialCounts; 2]>> {
        self.guide.sets.sets.iter().map(|set| set.inside(self.counts)).collect()
    }

    /// The largest of bounds that hold at once, or nothing.
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

/// The confidence rectangles of the sets, all of which hold at once except with the failure probability: two tails
/// where the direction was declared, otherwise four.
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

/// The methods: what each is in a sentence, a variant of [`Method`](crate::audit::Method), and its row.
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

            /// What is known of it.
            const fn row(self) -> &'static method::MethodRow {
                match self {
                    $(Self::$variant => &$file::$row,)+
                }
            }

            /// What it is in a sentence, as Markdown with links to items of the library.
            const fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($about),+).trim_ascii(),)+
                }
            }
        }
    };
}

pub(super) use methods;
