//! Which shadow models are trained.

use crate::augment::{ITSELF, Move, check_shift, eighteen_views};
use crate::checks::{check_counts, reject};
use crate::defense::Defense;
use crate::defense::method::{Further, Queries};
use crate::network::NetworkPlan;
use crate::train::TrainingPlan;
use crate::training_images::check_tables;
use leakbound::error::Result;
use leakbound::membership::CanaryKind;
use leakbound::named::named;
use serde::Serialize;

/// The most numbers of an array recorded: 4 GiB.
const MAX_NUMBERS: usize = 1 << 30;

/// Which models are trained on a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inclusion {
    /// Exactly half of the models, at random.
    Half,
    /// Each model with probability 1/2, whatever the others are trained on.
    Independent,
}

named!(Inclusion, "inclusion", [Half "half", Independent "independent"]);

/// The forms of a sample that models are queried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Views {
    /// The image itself.
    Itself,
    /// As it is and flipped (columns in reverse), each shifted by -`shift`, 0 and `shift` pixels downwards and,
    /// changing fastest, to the right; 0 comes in from outside. View 4 is the image itself.
    Eighteen {
        /// In pixels.
        shift: usize,
    },
}

impl Views {
    pub(super) fn moves(self) -> Vec<Move> {
        match self {
            Self::Itself => vec![Move { flip: false, down: 0, right: 0 }],
            Self::Eighteen { shift } => eighteen_views(shift),
        }
    }

    /// Which of them is the image itself.
    pub(super) fn itself(self) -> usize {
        match self {
            Self::Itself => 0,
            Self::Eighteen { .. } => ITSELF,
        }
    }
}

/// Which shadow models are trained, and how.
///
/// The audited samples replace `audit` training images that are drawn at random. Every model is trained on the `fixed`
/// other images, on the copies that the canaries may have, and on some of the audited samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShadowPlan {
    /// Number of models M.
    pub models: usize,
    /// Training images audited.
    pub audit: usize,
    /// Training images of every model; all that are not audited if absent.
    pub fixed: Option<usize>,
    /// What is audited instead of them.
    pub canaries: CanaryKind,
    /// Which models are trained on a sample.
    pub inclusion: Inclusion,
    /// What models are queried on.
    pub views: Views,
    /// Whether models are also queried on the nearest neighbor of each audited sample among the fixed images.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub neighbors: bool,
    /// The network of each model.
    pub network: NetworkPlan,
    /// Training of each model.
    pub training: TrainingPlan,
    /// How each model is defended.
    pub defense: Defense,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl ShadowPlan {
    /// Networks that are trained for all models.
    #[must_use]
    pub fn networks(&self) -> u64 {
        (self.models as u64).saturating_mul(self.defense.networks())
    }

    /// Fixed images of `available` training images, if the plan can be carried out on images of such a shape.
    pub(super) fn fixed_images(&self, available: usize, shape: [usize; 3], classes: usize) -> Result<usize> {
        let fixed = self.fixed.unwrap_or(available.saturating_sub(self.audit));
        let counts = [
            ("shadow models", self.models),
            ("audited images", self.audit),
            ("images in a step", self.training.batch),
            ("epochs", self.training.epochs),
        ];
        check_counts(counts)?;
        self.network.check()?;
        let method = self.defense.method();
        method.check(classes)?;
        method.check_training(self.network, &self.training, shape)?;
        if let Some(augmentation) = self.training.augmentation {
            augmentation.check(shape)?;
        }
        if let Views::Eighteen { shift } = self.views {
            check_shift("views", shift, shape)?;
        }
        if self.inclusion == Inclusion::Half && !self.models.is_multiple_of(2) {
            return reject("shadow models", format!("{} models have no exact half; take an even number", self.models));
        }
        // A model must have something to learn even where none of the audited samples is in it.
        if fixed == 0 || self.audit.checked_add(fixed).is_none_or(|needed| needed > available) {
            return reject(
                "shadow models",
                format!(
                    "{} audited images and {fixed} fixed ones of {available} training images; both must fit and be more \
                 than none",
                    self.audit
                ),
            );
        }
        let copies = if self.canaries.has_copies() { self.audit } else { 0 };
        check_tables("shadow models", self.models as u64, self.audit + fixed + copies)?;
        let logits = [self.models, self.audit, self.views.moves().len(), classes];
        let count = logits.iter().try_fold(1usize, |product, &number| product.checked_mul(number));
        if count.is_none_or(|count| count > MAX_NUMBERS) {
            return reject(
                "shadow models",
                format!("{} models answer simultaneously with more than 4 GiB of logits", self.models),
            );
        }
        self.check_further(classes, shape)?;
        Ok(fixed)
    }

    /// What the defense records besides the logits.
    fn check_further(&self, classes: usize, image: [usize; 3]) -> Result<()> {
        let (views, neighbors) = (self.views.moves().len(), if self.neighbors { self.audit } else { 0 });
        let queries = Queries { fixed: 0, attacked: self.audit, views, neighbors, image };
        for Further { name, shape, .. } in self.defense.method().further(queries, classes) {
            let count = shape.iter().try_fold(self.models, |product, &number| product.checked_mul(number));
            if count.is_none_or(|count| count > MAX_NUMBERS) {
                let reason = format!("{} models answer simultaneously with more than 4 GiB of {name}", self.models);
                return reject("shadow models", reason);
            }
        }
        Ok(())
    }
}
