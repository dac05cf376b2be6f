//! What the parser knows of the values of options, as data: their kind, and the names that they may have.

use super::account::BudgetEpsilons;
use super::membership::{ScoreName, VariantName, VictimList};
use super::verify::{MechanismName, PropertyName};
use super::{Orders, Queries};
use clap::Args;
use clap::builder::{ArgAction, ValueHint};
use leakbound::audit::{FailurePer, Method};
use leakbound::black_box::Grid;
use leakbound::distribution::ThresholdForm;
use leakbound::divergence::Conversion;
use leakbound::histogram::{Changes, VoteHistogram};
use leakbound::membership::{LiraVariant, MembershipScore};
use leakbound::model::{Adversary, Composition, PoisonSearch};
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order, Probability};
use leakbound::study::Methods;
use leakbound::verify::{PROPERTIES, subjects};
use serde::Serialize;
use std::any::TypeId;
use std::path::PathBuf;

/// Options of `leakbound schema`.
#[derive(Debug, Args)]
pub struct SchemaOptions {
    /// The command, such as `exact` or `audit counts`, or the first words of several
    #[arg(value_name = "COMMAND", value_hint = ValueHint::CommandName)]
    pub words: Vec<String>,
}

/// What kind of value an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A floating-point number; `inf` where it may be infinite
    Number,
    /// A whole number, also in powers of ten
    Integer,
    /// Text in the form that the help describes
    String,
    /// The path of a file or folder
    Path,
    /// No value: the option is given or not
    Flag,
}

/// The kind of an argument's value, or of each of its values.
pub fn kind(argument: &clap::Arg) -> Kind {
    if !matches!(argument.get_action(), ArgAction::Set | ArgAction::Append) {
        return Kind::Flag;
    }
    let value = argument.get_value_parser().type_id();
    let is = |known: &[TypeId]| known.iter().any(|known| value == *known);
    if is(&[TypeId::of::<PathBuf>()]) {
        Kind::Path
    } else if is(&[
        TypeId::of::<f64>(),
        TypeId::of::<Order>(),
        TypeId::of::<Orders>(),
        TypeId::of::<Epsilon>(),
        TypeId::of::<BudgetEpsilons>(),
        TypeId::of::<Delta>(),
        TypeId::of::<FailureProbability>(),
        TypeId::of::<Probability>(),
        TypeId::of::<Grid>(),
    ]) {
        Kind::Number
    } else if is(&[
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<VoteHistogram>(),
        TypeId::of::<Queries>(),
        TypeId::of::<VictimList>(),
    ]) {
        Kind::Integer
    } else {
        Kind::String
    }
}

/// Whether an argument takes several values: it may be repeated, or its value is a list with commas.
pub fn is_list(argument: &clap::Arg) -> bool {
    let value = argument.get_value_parser().type_id();
    let lists = [
        TypeId::of::<Orders>(),
        TypeId::of::<BudgetEpsilons>(),
        TypeId::of::<VoteHistogram>(),
        TypeId::of::<Queries>(),
        TypeId::of::<VictimList>(),
        TypeId::of::<Methods>(),
    ];
    matches!(argument.get_action(), ArgAction::Append) || lists.iter().any(|list| value == *list)
}

/// Lists the names of a type.
type Names = fn() -> Vec<String>;

/// The names that a value may have, where it is one of some names.
pub fn names(argument: &clap::Arg) -> Vec<String> {
    let listed = argument.get_possible_values();
    if kind(argument) == Kind::String && !listed.is_empty() {
        return listed.iter().map(|value| value.get_name().to_owned()).collect();
    }
    let value = argument.get_value_parser().type_id();
    let known: [(TypeId, Names); 12] = [
        (TypeId::of::<Changes>(), || owned(Changes::ALL.map(Changes::name))),
        (TypeId::of::<Adversary>(), || owned(Adversary::ALL)),
        (TypeId::of::<Composition>(), || owned(Composition::ALL)),
        (TypeId::of::<Conversion>(), || owned([Conversion::Improved, Conversion::Classic])),
        (TypeId::of::<FailurePer>(), || owned([FailurePer::Answer, FailurePer::Query])),
        (TypeId::of::<PoisonSearch>(), || owned(PoisonSearch::ALL)),
        (TypeId::of::<ScoreName>(), || owned(MembershipScore::ALL)),
        (TypeId::of::<ThresholdForm>(), || owned([ThresholdForm::Max, ThresholdForm::PerClass])),
        (TypeId::of::<VariantName>(), || owned(LiraVariant::ALL)),
        (TypeId::of::<Methods>(), || {
            owned(["auto", "all"]).into_iter().chain(owned(Method::ALL.map(Method::name))).collect()
        }),
        (TypeId::of::<PropertyName>(), || owned(PROPERTIES.iter().map(|property| property.name))),
        (TypeId::of::<MechanismName>(), || owned(subjects().iter().map(|kind| kind.name))),
    ];
    known.iter().find(|(known, _)| value == *known).map(|(_, names)| names()).unwrap_or_default()
}

fn owned(names: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    names.into_iter().map(|name| name.to_string()).collect()
}
