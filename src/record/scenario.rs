//! Scenarios: what to simulate, as a file.

use super::fault::{fault, hinted, quoted};
use super::input_file::{InputFile, hexadecimal, read_up_to};
use super::scenario_keys::{Key, Keys, Whole, parse};
use super::scenario_model::{MAX_ENTRIES, QueryKeys, entries_of};
use super::table::{MAX_PAIRS, NAME, is_name};
use super::toml_text::TomlText;
use crate::counts::MAX_COUNT;
use crate::distribution::Noise;
use crate::error::Result;
use crate::model::{Composition, VoteModel};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;
use toml::Spanned;

/// The largest scenario file: in memory its numbers take up to 50 times its size while they are read.
const MAX_BYTES: u64 = 4 << 20;

/// One query of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioQuery {
    /// Its name; `None` for the only query of a scenario without `[[query]]`.
    pub query: Option<String>,
    /// Noise on every count.
    pub noise: Noise,
    /// How the votes are distributed in both worlds.
    #[serde(flatten)]
    pub model: VoteModel,
}

/// What to simulate: the queries in the order of the file; the i-th (from 0) has the random streams of query i.
///
/// A scenario is a TOML file with these keys at its top:
///
/// | key | value |
/// |---|---|
/// | `samples` | outputs per query and world, 1 to 2^53, such as `1e8`; the command line may override it |
/// | `seed` | a whole number; the command line may override it |
/// | `composition` | `independent` (for queries to the same two datasets), `shared-teachers` or `per-query`, see [`Composition`] |
/// | `[[query]]` | a table for each query, with `name` (its position if not given) and the keys below |
///
/// These keys describe a query. They are in its table, or at the top, where all queries share them; a file without
/// `[[query]]` describes its single query there:
///
/// | key | value |
/// |---|---|
/// | `noise` | `"gaussian:sigma=S"` or `"laplace:scale=B"`, in votes |
/// | `model` | `"pate"`, `"capc"`, `"prompt-pate"` or `"private-knn"`, with the keys of that model |
/// | pate: `k`, `p`, `p_marked`, `changed` | number of teachers; P and P', one probability per class; how many teachers are changed (1) |
/// | capc: `p` or `parties`, `p_marked` | one row of probabilities per party, or groups `{ count = 125, p = [..] }`; the distribution of the first party once its data are changed |
/// | prompt-pate: `histogram`, `histogram_neighbor` | votes per class in both worlds |
/// | private-knn: `k`, `p`, `p_last`, `label`, `points` | number of neighbors; P and P^k; class and number (1) of the added points |
/// | private-knn: `inclusion`, or `rank` and `rate` | ν itself, or ν = γ P(Bin(r-1, γ) ≤ k-1) of the rank r and the rate γ |
///
/// Distributions must sum to 1 within 1e-9. A file has at most 4 MiB and 2^20 outcomes in all queries together.
///
/// # Example
/// ```
/// # use leakbound::record::scenario_from_bytes;
/// let text = b"model = 'pate'\nnoise = 'gaussian:40'\nk = 250\np = [0.6, 0.4]\np_marked = [0.1, 0.9]\n";
/// let scenario = scenario_from_bytes("a.toml", text)?;
/// assert_eq!(scenario.queries[0].model.classes(), 2);
/// let typo = scenario_from_bytes("a.toml", b"model = 'pate'\nnoisy = 'gaussian:40'\n").unwrap_err().to_string();
/// assert!(typo.starts_with("a.toml: line 2: found the key `noisy`") && typo.ends_with("did you mean `noise`?"));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The file.
    pub input: InputFile,
    /// Outputs per query and world.
    pub samples: Option<u64>,
    /// The seed.
    pub seed: Option<u64>,
    /// How the queries compose.
    pub composition: Option<Composition>,
    /// At least one query.
    pub queries: Vec<ScenarioQuery>,
}

impl Scenario {
    /// How the queries compose: as the file states, or else as its models do by default if all agree
    /// ([`VoteModel::default_composition`]); `per-query` otherwise, and if they cannot be about the same two datasets.
    #[must_use]
    pub fn composition_or_default(&self) -> Composition {
        let mut modes = self.queries.iter().map(|query| query.model.default_composition());
        let common = modes.next().filter(|first| modes.all(|mode| mode == *first));
        let together = self.queries.iter().all(|query| query.model.may_share_datasets(&self.queries[0].model));
        let usual = common.filter(|mode| together || !mode.divergences_add()).unwrap_or(Composition::PerQuery);
        self.composition.unwrap_or(usual)
    }

    /// The identity of the scenario: SHA-256 of its queries with their names, models and noise, 64 hexadecimal digits.
    ///
    /// Comments, layout, spelling of numbers, samples and seed are not part of it.
    #[must_use]
    pub fn sha256(&self) -> String {
        struct Hasher(Sha256);
        impl Write for Hasher {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.update(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut hasher = Hasher(Sha256::new());
        // Numbers, texts and lists can always be written as JSON, and a hasher takes every byte.
        let _ = serde_json::to_writer(&mut hasher, &self.queries);
        hexadecimal(&hasher.0.finalize())
    }
}

/// Reads a scenario from a file.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read; otherwise [`Error::Input`](crate::Error::Input), one
/// line that names file, line and key, what was found and what was expected.
pub fn read_scenario(path: impl AsRef<Path>) -> Result<Scenario> {
    let path = path.as_ref();
    scenario_from_bytes(path, &read_up_to(path, MAX_BYTES)?)
}

/// Reads what [`read_scenario`] reads from bytes in memory; `name` is the file's name in messages.
///
/// # Errors
/// As [`read_scenario`].
pub fn scenario_from_bytes(name: impl AsRef<Path>, bytes: &[u8]) -> Result<Scenario> {
    let file = name.as_ref();
    if bytes.len() as u64 > MAX_BYTES {
        let expected = format!("a scenario of at most {} MiB", MAX_BYTES >> 20);
        return Err(fault(file, "whole file", format!("more than {} MiB", MAX_BYTES >> 20), expected).into());
    }
    let text = &TomlText::of_bytes(file, bytes, "a scenario in TOML")?;
    let keys = parse(text)?;
    let queries = match &keys.query {
        None => {
            let (noise, model) = QueryKeys { text, own: &keys, shared: None, span: 0..0 }.read()?;
            if let Some(name) = &keys.name {
                let error =
                    text.fault(&name.span(), "name", "a name without a query", "names inside of [[query]] only");
                return Err(error.into());
            }
            vec![ScenarioQuery { query: None, noise, model }]
        }
        Some(tables) => several(text, &keys, tables)?,
    };
    let outcomes: usize = queries.iter().map(|query| query.model.classes()).sum();
    if outcomes > MAX_PAIRS {
        let found = format!("{outcomes} outcomes in all queries together");
        return Err(fault(file, "whole file", found, format!("at most {MAX_PAIRS}")).into());
    }
    let composition = match &keys.composition {
        None => None,
        Some(name) => {
            let rejected = |error| text.explain(&name.span(), "composition", error);
            let mode: Composition = name.get_ref().parse().map_err(rejected)?;
            let apart = queries.iter().position(|query| !query.model.may_share_datasets(&queries[0].model));
            if let (true, Some(apart)) = (mode.divergences_add(), apart) {
                let [first, other] = [0, apart].map(|position| queries[position].query.as_deref().unwrap_or_default());
                let found = format!("`{mode}` for {} and {}, which add other points", quoted(first), quoted(other));
                let error = text.fault(&name.span(), "composition", found, "the same added points in all queries");
                let hint = "leakage under different neighboring datasets does not add up: write \"per-query\"";
                return Err(hinted(error, hint).into());
            }
            Some(mode)
        }
    };
    let samples = number(text, "samples", &keys.samples, 1..=MAX_COUNT, "a whole number from 1 to 2^53")?;
    let seed = number(text, "seed", &keys.seed, 0..=u64::MAX, "a whole number from 0 to 2^64 - 1")?;
    Ok(Scenario { input: InputFile::of_bytes(file, bytes), samples, seed, composition, queries })
}

fn several(text: &TomlText<'_>, shared: &Keys, tables: &[Spanned<Keys>]) -> Result<Vec<ScenarioQuery>> {
    if tables.is_empty() {
        return Err(fault(text.file, "key query", "no query", "at least 1 query").into());
    }
    if let Some(name) = &shared.name {
        return Err(text.fault(&name.span(), "name", "a name for all queries", "one inside of each [[query]]").into());
    }
    let (mut names, mut entries) = (HashSet::new(), 0);
    let mut queries = Vec::with_capacity(tables.len());
    for (position, table) in tables.iter().enumerate() {
        let (own, span) = (table.get_ref(), table.span());
        let above = [
            ("samples", own.samples.as_ref().map(Spanned::span)),
            ("seed", own.seed.as_ref().map(Spanned::span)),
            ("composition", own.composition.as_ref().map(Spanned::span)),
            ("query", own.query.as_ref().map(|_| span.clone())),
        ];
        if let Some((key, span)) = above.into_iter().find_map(|(key, span)| Some((key, span?))) {
            let error = text.fault(&span, key, format!("`{key}` in a query"), "it at the top of the file only");
            return Err(hinted(error, "keys of the whole file stand before the first [[query]]").into());
        }
        let name = own.name.as_ref().map_or_else(|| position.to_string(), |name| name.get_ref().clone());
        if !is_name(&name) {
            return Err(text.fault(&span, "name", quoted(&name), NAME).into());
        }
        if !names.insert(name.clone()) {
            let found = format!("the query {} a second time", quoted(&name));
            return Err(text.fault(&span, "query", found, "each name once").into());
        }
        let (noise, model) = QueryKeys { text, own, shared: Some(shared), span: span.clone() }.read()?;
        entries += entries_of(&model);
        if entries > MAX_ENTRIES {
            let found = format!("{entries} probabilities of parties in the queries so far");
            return Err(text.fault(&span, "query", found, format!("at most {MAX_ENTRIES} in all")).into());
        }
        queries.push(ScenarioQuery { query: Some(name), noise, model });
    }
    Ok(queries)
}

fn number(
    text: &TomlText<'_>,
    name: &str,
    key: &Key<Whole>,
    range: std::ops::RangeInclusive<u64>,
    expected: &str,
) -> Result<Option<u64>> {
    match key {
        None => Ok(None),
        Some(value) if range.contains(&value.get_ref().0) => Ok(Some(value.get_ref().0)),
        Some(value) => Err(text.fault(&value.span(), name, format!("{}", value.get_ref().0), expected).into()),
    }
}
