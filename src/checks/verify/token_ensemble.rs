//! An ensemble of language models as a mechanism under test: one answer, with its first owner and without.

use crate::accountant::{Theorem, WorstCases};
use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::mechanism::draw::{no_record, pick};
use crate::mechanism::{
    Bins, BothLosses, Categorical, DataKind, Mechanism, MechanismKind, Parameter, Parameters, Value, rejected, required,
};
use crate::quantity::Order;
use crate::simulate::Sampler;
use crate::token::{
    CLIPPED_LOGITS, EnsembleSize, INTERPOLATED_TOKENS, MIXED_TOKENS, NextTokens, SUBMIXED_TOKENS, TokenMechanism,
    TokenMechanismKind, TokenNeighbors, VOTED_TOKENS,
};
use ndarray::{Array2, ArrayView1};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

const TOKENS: &str = "tokens";
const LOGITS: &str = "logits";
const PUBLIC: &str = "public";
const SPARE: &str = "spare";
/// Parameters of an ensemble, besides those of its mechanism.
const OF_ENSEMBLE: [Parameter; 4] = [
    Parameter::number(TOKENS, &[]),
    Parameter::list(LOGITS),
    Parameter::list(PUBLIC).optional(),
    Parameter::list(SPARE).optional(),
];
/// Logits of a model that are further apart have probabilities that are 0 in doubles.
const WIDEST: f64 = 600.0;

/// A parameter that is called as the question of a request is, and its name there.
const ORDER: [&str; 2] = ["order", "mixing_order"];

/// Whether two texts are equal, while the program is compiled.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut place = 0;
    while place < a.len() && place < b.len() && a[place] == b[place] {
        place += 1;
    }
    place == a.len() && place == b.len()
}

/// The parameters of a mechanism, and those of an ensemble.
const fn with_ensemble<const N: usize>(own: &[Parameter]) -> [Parameter; N] {
    let mut all = [OF_ENSEMBLE[0]; N];
    let mut place = 0;
    while place < N {
        all[place] = if place < own.len() { own[place] } else { OF_ENSEMBLE[place - own.len()] };
        if same(all[place].name, ORDER[0]) {
            all[place].name = ORDER[1];
        }
        place += 1;
    }
    all
}

/// An answer of an ensemble of a mechanism. Data are `[1]` with the first owner, and `[0]` without, or with the model
/// `spare` instead of it.
macro_rules! ensemble_of {
    ($kind:path) => {{
        const PARAMETERS: [Parameter; $kind.parameters.len() + OF_ENSEMBLE.len()] = with_ensemble($kind.parameters);
        &MechanismKind {
            name: $kind.name,
            example: $kind.name,
            data: DataKind::OneRecord,
            parameters: &PARAMETERS,
            releases: Some($kind.releases),
            theorems: $kind.theorems,
            noise_hides: false,
            read: |parameters| {
                let kind = ensemble($kind.name)?;
                Ok(Arc::new(TokenEnsemble::read(kind, $kind, parameters)?))
            },
            draw_data: no_record,
            draw: |stream, _| Some(Arc::new(TokenEnsemble::drawn(ensemble($kind.name).ok()?, $kind, stream)?)),
        }
    }};
}

/// Answers of ensembles of [`MIXED_TOKENS`].
pub(super) const MIXED_ENSEMBLE: &MechanismKind = ensemble_of!(MIXED_TOKENS);

/// Answers of ensembles, one kind for each mechanism that answers with a token.
pub(super) const ENSEMBLES: &[&MechanismKind] = &[
    MIXED_ENSEMBLE,
    ensemble_of!(CLIPPED_LOGITS),
    ensemble_of!(INTERPOLATED_TOKENS),
    ensemble_of!(VOTED_TOKENS),
    ensemble_of!(SUBMIXED_TOKENS),
];

fn ensemble(name: &str) -> Result<&'static MechanismKind> {
    let found = ENSEMBLES.iter().copied().find(|kind| kind.name == name);
    found.ok_or_else(|| rejected(format!("{name} is not a mechanism of tokens")))
}

/// An ensemble, and one answer of it.
#[derive(Debug, Clone)]
pub(super) struct TokenEnsemble {
    kind: &'static MechanismKind,
    answers: Arc<dyn TokenMechanism>,
    /// \[member, token\]
    logits: Array2<f64>,
    public: Option<Vec<f64>>,
    /// \[model, token\] of one owner.
    spare: Option<Array2<f64>>,
    /// The answer without the first owner, and with it.
    pair: Categorical,
}

impl TokenEnsemble {
    fn new(
        kind: &'static MechanismKind,
        answers: Arc<dyn TokenMechanism>,
        logits: Array2<f64>,
        public: Option<Vec<f64>>,
        spare: Option<Array2<f64>>,
    ) -> Result<Self> {
        let rows = logits.outer_iter().chain(spare.iter().flat_map(|spare| spare.outer_iter()));
        for row in rows.chain(public.iter().map(ArrayView1::from)) {
            let (low, high) = row.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
            let reason = format_args!("logits of a model are from {low} to {high}, more than {WIDEST} apart");
            required(high - low <= WIDEST, reason)?;
        }
        let mut models = logits.clone();
        if let Some(spare) = &spare {
            models.append(ndarray::Axis(0), spare.view()).map_err(|error| rejected(error.to_string()))?;
        }
        let position = NextTokens::from_logits(models, public.as_deref().map(ArrayView1::from))?;
        let (neighbors, position) = match &spare {
            None => (TokenNeighbors::Removed, position),
            Some(spare) => (TokenNeighbors::Replaced, position.setting_aside(spare.nrows())?),
        };
        let released = neighbors.released(&*answers, &position)?;
        let first = released.neighbors().next().ok_or_else(|| rejected("an ensemble without an owner".into()))?;
        let pair = Categorical::new(first.to_vec(), released.whole().to_vec())?;
        Ok(Self { kind, answers, logits, public, spare, pair })
    }

    fn read(
        kind: &'static MechanismKind,
        tokens_kind: &'static TokenMechanismKind,
        parameters: &Parameters,
    ) -> Result<Self> {
        let tokens = parameters.number(TOKENS)?;
        let reason = format_args!("{TOKENS} must be a whole number of at least 2, not {tokens}");
        required(tokens >= 2.0 && tokens.fract() == 0.0 && tokens <= 1e6, reason)?;
        let tokens = tokens as usize;
        let models = |name: &str| -> Result<Array2<f64>> {
            let list = parameters.list(name)?;
            let reason = format_args!("{name} has {} numbers, not {tokens} of each model", list.len());
            required(!list.is_empty() && list.len().is_multiple_of(tokens), reason)?;
            let shaped = Array2::from_shape_vec((list.len() / tokens, tokens), list.to_vec());
            shaped.map_err(|error| rejected(error.to_string()))
        };
        let public = if parameters.has(PUBLIC) { Some(parameters.list(PUBLIC)?.to_vec()) } else { None };
        let spare = if parameters.has(SPARE) { Some(models(SPARE)?) } else { None };
        let each = tokens_kind.models_of_owner;
        if let Some(spare) = spare.as_ref().filter(|spare| spare.nrows() != each) {
            return Err(rejected(format!("{SPARE} has {} models; an owner has {each}", spare.nrows())));
        }
        let mut own = parameters.clone();
        if parameters.has(ORDER[1]) {
            own.set(ORDER[0], Value::Number(parameters.number(ORDER[1])?));
        }
        Self::new(kind, (tokens_kind.read)(&own)?, models(LOGITS)?, public, spare)
    }

    /// Ensembles that are hard on a triangle inequality: tokens that one member knows and another denies.
    fn drawn(
        kind: &'static MechanismKind,
        tokens_kind: &'static TokenMechanismKind,
        stream: &mut ChaCha8Rng,
    ) -> Option<Self> {
        let answers = (tokens_kind.draw)(stream)?;
        let each = tokens_kind.models_of_owner;
        let (owners, tokens) = (*pick(stream, &[1, 2, 2, 2, 3, 5]), *pick(stream, &[2, 2, 3, 4, 6]));
        let (depth, width) = (*pick(stream, &[1.0, 30.0, 30.0]), *pick(stream, &[0.01, 1.0, 20.0, 20.0]));
        // The last token is the likely one of every model.
        let mut up_to = |most: f64| (1..tokens).map(|_| most * stream.random::<f64>()).chain([0.0]).collect::<Vec<_>>();
        let (public, spans) = (up_to(-depth), up_to(width));
        // The first owner knows what the others deny.
        let opposed = stream.random_bool(0.5);
        let mut models = |first: usize, count: usize| {
            Array2::from_shape_fn((count, tokens), |(model, token)| {
                let share: f64 = stream.random();
                let side = match (opposed, first + model < each) {
                    (false, _) => 2.0 * share - 1.0,
                    (true, true) => share,
                    (true, false) => -share,
                };
                public[token] + spans[token] * side
            })
        };
        let (logits, spare) = (models(0, owners * each), models(owners * each, each));
        let spare = stream.random_bool(0.3).then_some(spare);
        Self::new(kind, answers, logits, Some(public), spare).ok()
    }

    fn neighbors(&self) -> TokenNeighbors {
        if self.spare.is_some() { TokenNeighbors::Replaced } else { TokenNeighbors::Removed }
    }

    /// What the authors of PMixED charge for a removed member, and thus also at lower orders; nothing is charged at
    /// higher ones.
    pub(super) fn charged_by_pmixed(&self, order: Order) -> Option<f64> {
        let size = self.size();
        let at = Order::new(self.answers.parameters().number("order").ok()?).ok()?;
        let charge = self.answers.charge(size, at).filter(|_| self.spare.is_none() && order <= at)?;
        Some(charge.value)
    }

    fn size(&self) -> EnsembleSize {
        EnsembleSize { members: self.logits.nrows(), tokens: self.logits.ncols() }
    }
}

/// All numbers of some models, row by row.
fn flat(models: &Array2<f64>) -> Vec<f64> {
    models.iter().copied().collect()
}

impl Mechanism for TokenEnsemble {
    fn kind(&self) -> &'static MechanismKind {
        self.kind
    }

    fn parameters(&self) -> Parameters {
        let mut all = Parameters::default();
        for (name, value) in self.answers.parameters().iter() {
            all.set(if name == ORDER[0] { ORDER[1] } else { name }, value.clone());
        }
        all.set(TOKENS, Value::Number(self.logits.ncols() as f64));
        all.set(LOGITS, Value::List(flat(&self.logits)));
        if let Some(public) = &self.public {
            all.set(PUBLIC, Value::List(public.clone()));
        }
        if let Some(spare) = &self.spare {
            all.set(SPARE, Value::List(flat(spare)));
        }
        all
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.answers.theorems(self.size(), self.neighbors())
    }

    fn output_distribution(&self, data: &VoteHistogram, bins: Bins) -> Result<OutcomeDistribution> {
        self.pair.output_distribution(data, bins)
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: Bins) -> Result<Box<dyn Sampler>> {
        self.pair.sampler(data, neighbor, bins)
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, bins: usize) -> Result<BothLosses> {
        self.pair.enclosed_losses(data, neighbor, bins)
    }

    /// Fewer owners and tokens, and rounder logits.
    fn simpler(&self) -> Vec<Arc<dyn Mechanism>> {
        let mut all: Vec<Arc<dyn Mechanism>> = Vec::new();
        let mut push = |logits: Array2<f64>, public: Option<Vec<f64>>, spare: Option<Array2<f64>>| {
            if let Ok(ensemble) = Self::new(self.kind, Arc::clone(&self.answers), logits, public, spare) {
                all.push(Arc::new(ensemble));
            }
        };
        let each = self.answers.kind().models_of_owner;
        for owner in 1..self.logits.nrows() / each {
            let left: Vec<usize> = (0..self.logits.nrows()).filter(|member| member / each != owner).collect();
            push(self.logits.select(ndarray::Axis(0), &left), self.public.clone(), self.spare.clone());
        }
        if self.logits.ncols() > 2 {
            for token in 0..self.logits.ncols() {
                let left: Vec<usize> = (0..self.logits.ncols()).filter(|other| *other != token).collect();
                let kept = |models: &Array2<f64>| models.select(ndarray::Axis(1), &left);
                let public = self.public.as_ref().map(|public| left.iter().map(|&token| public[token]).collect());
                push(kept(&self.logits), public, self.spare.as_ref().map(kept));
            }
        }
        for digits in [0, 1, 2] {
            let unit = 10f64.powi(digits);
            let round = |value: f64| (value * unit).round() / unit;
            let public = self.public.as_ref().map(|public| public.iter().map(|&value| round(value)).collect());
            push(self.logits.mapv(round), public, self.spare.as_ref().map(|spare| spare.mapv(round)));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalog::{accountant_names, accountant_of_name};
    use super::super::request::{Case, Question, Request};
    use super::super::run::{Plan, PropertyVerdict, verify};
    use super::*;
    use crate::program::never_stop;
    use crate::token::TOKEN_MECHANISMS;
    use rand::SeedableRng;

    #[test]
    fn every_mechanism_of_tokens_has_an_ensemble() {
        assert!(ENSEMBLES.iter().map(|kind| kind.name).eq(TOKEN_MECHANISMS.iter().map(|kind| kind.name)));
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        for &kind in ENSEMBLES {
            let drawn: Vec<_> = (0..100).filter_map(|_| (kind.draw)(&mut stream, 0)).collect();
            assert!(drawn.len() > 50, "{kind}: {} of 100", drawn.len());
            for ensemble in &drawn[..10] {
                let again = (kind.read)(&ensemble.parameters()).unwrap();
                assert_eq!((again.kind().name, again.parameters()), (kind.name, ensemble.parameters()));
                let request = Request {
                    mechanism: Arc::clone(ensemble),
                    histogram: VoteHistogram::new(vec![0]).unwrap(),
                    neighbor: None,
                    repetitions: 1,
                    question: Question::Order(Order::new(7.0).unwrap()),
                };
                let case = Case { request, factor: 2.0 };
                assert_eq!(Case::from_json(&case.json()).unwrap(), case);
            }
        }
    }

    #[test]
    fn an_ensemble_is_a_line_of_json() {
        let text = r#"{"mechanism":"clipped-logits","clip":1,"batch":2,"tokens":2,"logits":[3,0,0,0],"histogram":[0],"order":2}"#;
        let case = Case::from_json(text).unwrap();
        // Scores of both members 2 and 0 in units of 1/2, and of the second one alone 1 and 1.
        let [without, with] = [[0], [1]].map(|data| {
            let data = VoteHistogram::new(data.to_vec()).unwrap();
            case.request.mechanism.output_distribution(&data, Bins::at(None)).unwrap().p().to_vec()
        });
        assert_eq!(without, [0.5, 0.5]);
        assert!((with[0] - 1.0 / (1.0 + (-1.0f64).exp())).abs() < 1e-15, "{with:?}");
        for wrong in [
            text.replace("\"tokens\":2", "\"tokens\":3"),
            text.replace("[3,0,0,0]", "[900,0,0,0]"),
            text.replace("\"order\"", "\"spare\":[0,0,0,0],\"order\""),
            text.replace("\"tokens\":2", "\"tokens\":1.5"),
        ] {
            assert!(Case::from_json(&wrong).is_err(), "{wrong}");
        }
    }

    /// Theorems hold, and the charge of authors is refuted if it is not a bound.
    #[test]
    fn theorems_hold_and_the_published_charge_does_not() {
        let plan = Plan { cases: 300, seed: 2, ..Plan::default() };
        let of_tokens = ["mixed-tokens", "clipped-logits-bounded-range", "clipped-logits-zcdp", "interpolated-tokens"];
        for name in of_tokens.into_iter().chain(["voted-tokens"]) {
            assert!(accountant_names().iter().any(|known| known == name), "{name}");
            let outcome = verify(&*accountant_of_name(name).unwrap(), &plan, &never_stop);
            assert!(!outcome.refuted(), "{name}: {outcome:?}");
            let finding = outcome.of("rdp-covers-exact").unwrap();
            println!("{name}: {} cases, share {:?}", finding.cases, finding.largest_share);
            assert!(finding.cases > 200 && finding.largest_share.is_some(), "{name}: {finding:?}");
        }
        let plan = Plan { cases: 4_000, ..plan };
        let outcome = verify(&*accountant_of_name("broken:pmixed-as-published").unwrap(), &plan, &never_stop);
        let finding = outcome.of("rdp-covers-exact").unwrap();
        assert!(matches!(finding.verdict, PropertyVerdict::Refuted(_)), "{finding:?}");
    }
}
