//! From the keys of one query to its noise and its model.

use super::fault::{fault, listed, quoted};
use super::scenario_keys::{Distributions, Group, Key, Keys, Whole};
use super::toml_text::TomlText;
use crate::distribution::Noise;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::model::{CapcModel, NeighborSampling, PateModel, PrivateKnnModel, PromptPateModel, VoteModel};
use std::ops::Range;
use toml::Spanned;

/// The most probabilities in the rows of all parties: what bounds the memory that a short file can ask for.
pub(super) const MAX_ENTRIES: u64 = 10_000_000;
/// The most neighbors whose inclusion is computed from a rank: it is a sum of that many terms.
const MAX_RANKED: u64 = 1_000_000;

/// The keys of each model.
const MODELS: [(&str, &[&str]); 4] = [
    ("pate", &["k", "p", "p_marked", "changed"]),
    ("capc", &["p", "parties", "p_marked"]),
    ("prompt-pate", &["histogram", "histogram_neighbor"]),
    ("private-knn", &["k", "p", "p_last", "inclusion", "rank", "rate", "label", "points"]),
];

/// The keys of a query: its own ones, then those that it shares with the others.
pub(super) struct QueryKeys<'a> {
    pub(super) text: &'a TomlText<'a>,
    pub(super) own: &'a Keys,
    pub(super) shared: Option<&'a Keys>,
    /// The place of the query.
    pub(super) span: Range<usize>,
}

impl<'a> QueryKeys<'a> {
    fn get<T>(&self, key: impl Fn(&'a Keys) -> &'a Key<T>) -> Option<&'a Spanned<T>> {
        key(self.own).as_ref().or_else(|| self.shared.and_then(|shared| key(shared).as_ref()))
    }

    fn need<T>(&self, name: &str, key: impl Fn(&'a Keys) -> &'a Key<T>) -> Result<&'a Spanned<T>> {
        let missing = || match self.shared {
            None => fault(self.text.file, "whole file", format!("no key `{name}`"), "this key"),
            Some(_) => {
                let expected = "this key in the query, or at the top for all queries";
                self.text.fault(&self.span, "query", format!("no key `{name}`"), expected)
            }
        };
        self.get(key).ok_or_else(|| missing().into())
    }

    /// The noise and the model.
    pub(super) fn read(&self) -> Result<(Noise, VoteModel)> {
        let noise = self.need("noise", |keys| &keys.noise)?;
        let noise = noise.get_ref().parse().map_err(|error| self.text.explain(&noise.span(), "noise", error))?;
        let name = self.need("model", |keys| &keys.model)?;
        let Some(&(known, allowed)) = MODELS.iter().find(|(known, _)| known == name.get_ref()) else {
            let expected = format!("one of {}", listed(&MODELS.map(|(known, _)| known)));
            return Err(self.text.fault(&name.span(), "model", quoted(name.get_ref()), expected).into());
        };
        for keys in std::iter::once(self.own).chain(self.shared) {
            if let Some((key, span)) = keys.of_models().into_iter().find(|(key, _)| !allowed.contains(key)) {
                let expected = format!("keys of the model {known}: {}", listed(allowed));
                return Err(self.text.fault(&span, key, "a key of another model", expected).into());
            }
        }
        let model = match known {
            "pate" => self.pate().map(VoteModel::from),
            "capc" => self.capc().map(VoteModel::from),
            "prompt-pate" => self.prompt_pate().map(VoteModel::from),
            _ => self.private_knn().map(VoteModel::from),
        };
        // What no single key is to blame for, such as two distributions of different lengths.
        let model = model.map_err(|error| self.text.explain(&name.span(), &format!("model {known}"), error))?;
        Ok((noise, model))
    }

    fn pate(&self) -> Result<PateModel> {
        let k = self.voters()?;
        let (p, p_marked) = (self.one_distribution()?, self.distribution("p_marked", |keys| &keys.p_marked)?);
        let model = PateModel::new(k, p, p_marked)?;
        let Some(changed) = self.get(|keys| &keys.changed) else { return Ok(model) };
        let rejected = |error| self.text.explain(&changed.span(), "changed", error);
        model.with_changed_teachers(changed.get_ref().0).map_err(rejected)
    }

    fn capc(&self) -> Result<CapcModel> {
        let p_marked = self.distribution("p_marked", |keys| &keys.p_marked)?;
        let (key, span, rows) = match (self.get(|keys| &keys.p), self.get(|keys| &keys.parties)) {
            (Some(p), None) => match p.get_ref() {
                Distributions::Rows(rows) => ("p", p.span(), rows.clone()),
                Distributions::One(_) => {
                    let expected = "one row of probabilities per party";
                    return Err(self.text.fault(&p.span(), "p", "one distribution", expected).into());
                }
            },
            (None, Some(parties)) => ("parties", parties.span(), self.rows(parties)?),
            (p, _) => {
                let found = if p.is_some() { "both `p` and `parties`" } else { "neither `p` nor `parties`" };
                return Err(self.text.fault(&self.span, "model capc", found, "one of them").into());
            }
        };
        CapcModel::new(&rows, p_marked).map_err(|error| self.text.explain(&span, key, error))
    }

    /// A row for every party of every group.
    fn rows(&self, parties: &Spanned<Vec<Group>>) -> Result<Vec<Vec<f64>>> {
        let sizes = parties.get_ref().iter().map(|group| group.count.0.saturating_mul(group.p.0.len() as u64));
        let entries = sizes.fold(0, u64::saturating_add);
        // A group of distributions without classes would be as large as its count.
        let largest = parties.get_ref().iter().map(|group| group.count.0).max().unwrap_or(0);
        if entries.max(largest) > MAX_ENTRIES {
            let found = format!("{} probabilities in all parties together", entries.max(largest));
            return Err(self.text.fault(&parties.span(), "parties", found, format!("at most {MAX_ENTRIES}")).into());
        }
        let group = |group: &Group| std::iter::repeat_n(group.p.0.clone(), group.count.0 as usize);
        Ok(parties.get_ref().iter().flat_map(group).collect())
    }

    fn prompt_pate(&self) -> Result<PromptPateModel> {
        let histogram = |name, key: fn(&'a Keys) -> &'a Key<Vec<Whole>>| {
            let votes = self.need(name, key)?;
            let counts = votes.get_ref().iter().map(|votes| votes.0).collect();
            VoteHistogram::new(counts).map_err(|error| self.text.explain(&votes.span(), name, error))
        };
        PromptPateModel::new(
            histogram("histogram", |keys| &keys.histogram)?,
            histogram("histogram_neighbor", |keys| &keys.histogram_neighbor)?,
        )
    }

    fn private_knn(&self) -> Result<PrivateKnnModel> {
        let k = self.voters()?;
        let (p, p_last) = (self.one_distribution()?, self.distribution("p_last", |keys| &keys.p_last)?);
        let label = self.need("label", |keys| &keys.label)?.get_ref().0;
        let label = usize::try_from(label).unwrap_or(usize::MAX);
        let model = PrivateKnnModel::new(k, p, p_last, self.inclusion(k)?, label)?;
        let Some(points) = self.get(|keys| &keys.points) else { return Ok(model) };
        model.with_points(points.get_ref().0).map_err(|error| self.text.explain(&points.span(), "points", error))
    }

    /// ν, as it is written or from the rank of the added point.
    fn inclusion(&self, k: u64) -> Result<f64> {
        let probability = |name: &str, value: &Spanned<super::scenario_keys::Real>| {
            let number = value.get_ref().0;
            let found = || self.text.fault(&value.span(), name, format!("`{number}`"), "a probability from 0 to 1");
            if (0.0..=1.0).contains(&number) { Ok(number) } else { Err(Error::from(found())) }
        };
        match (self.get(|keys| &keys.inclusion), self.get(|keys| &keys.rank), self.get(|keys| &keys.rate)) {
            (Some(inclusion), None, None) => probability("inclusion", inclusion),
            (None, Some(rank), Some(rate)) => {
                let rate = probability("rate", rate)?;
                let number = rank.get_ref().0;
                if number == 0 || (number > k && k > MAX_RANKED) {
                    let expected = format!("a rank counted from 1, and above k only for a k of at most {MAX_RANKED}");
                    return Err(self.text.fault(&rank.span(), "rank", format!("rank {number}"), expected).into());
                }
                NeighborSampling::new(k, rate, 1)
                    .and_then(|sampling| sampling.inclusion(number))
                    .map_err(|error| self.text.explain(&rank.span(), "rank", error))
            }
            _ => {
                let expected = "either `inclusion`, or `rank` and `rate`";
                let found = "another choice of these keys";
                Err(self.text.fault(&self.span, "model private-knn", found, expected).into())
            }
        }
    }

    fn voters(&self) -> Result<u64> {
        let k = self.need("k", |keys| &keys.k)?;
        match k.get_ref().0 {
            voters @ 1..=crate::counts::MAX_COUNT => Ok(voters),
            other => Err(self.text.fault(&k.span(), "k", format!("{other}"), "a whole number from 1 to 2^53").into()),
        }
    }

    /// The one distribution of all voters.
    fn one_distribution(&self) -> Result<&'a [f64]> {
        let p = self.need("p", |keys| &keys.p)?;
        match p.get_ref() {
            Distributions::One(distribution) => self.checked("p", &p.span(), distribution),
            Distributions::Rows(_) => {
                Err(self.text.fault(&p.span(), "p", "several rows", "one distribution for all voters").into())
            }
        }
    }

    fn distribution(
        &self,
        name: &str,
        key: impl Fn(&'a Keys) -> &'a Key<super::scenario_keys::Distribution>,
    ) -> Result<&'a [f64]> {
        let distribution = self.need(name, key)?;
        self.checked(name, &distribution.span(), &distribution.get_ref().0)
    }

    /// A distribution that a model of one voter takes.
    fn checked(&self, name: &str, span: &Range<usize>, distribution: &'a [f64]) -> Result<&'a [f64]> {
        PateModel::new(1, distribution, distribution)
            .map(|_| distribution)
            .map_err(|error| self.text.explain(span, name, error))
    }
}

/// Probabilities in the rows of all parties.
pub(super) fn entries_of(model: &VoteModel) -> u64 {
    match model {
        VoteModel::Capc(model) => (model.parties() * model.classes()) as u64,
        _ => 0,
    }
}
