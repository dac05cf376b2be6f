//! Events of Google's dp_accounting as JSON files.

use super::composition::{ComposedReleases, Release, ReleaseBundle, ReleaseList, ReleasePart, countable};
use super::composition_file::{MAX_BYTES, read};
use super::fault::{fault, listed, quoted, utf8};
use super::input_file::InputFile;
use super::json;
use crate::accountant::Runs;
use crate::counts::MAX_COUNT;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::mechanism::{
    DISCRETE_LAPLACE, GAUSSIAN, LAPLACE, MechanismKind, Parameters, RANDOMIZED_RESPONSE, SUBSAMPLED_GAUSSIAN,
};
use serde_json::Value;
use std::path::Path;

/// The events that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    NoOp,
    Gaussian,
    Laplace,
    DiscreteLaplace,
    RandomizedResponse,
    SelfComposed,
    Composed,
    PoissonSampled,
    RepeatAndSelect,
}

/// Each event with the name of its class and its fields in their order.
const EVENTS: [(Event, &str, &[&str]); 9] = [
    (Event::NoOp, "NoOpDpEvent", &[]),
    (Event::Gaussian, "GaussianDpEvent", &["noise_multiplier"]),
    (Event::Laplace, "LaplaceDpEvent", &["noise_multiplier"]),
    (Event::DiscreteLaplace, "DiscreteLaplaceDpEvent", &["noise_parameter", "sensitivity"]),
    (Event::RandomizedResponse, "RandomizedResponseDpEvent", &["noise_parameter", "num_buckets"]),
    (Event::SelfComposed, "SelfComposedDpEvent", &["event", "count"]),
    (Event::Composed, "ComposedDpEvent", &["events"]),
    (Event::PoissonSampled, "PoissonSampledDpEvent", &["sampling_probability", "event"]),
    (Event::RepeatAndSelect, "RepeatAndSelectDpEvent", &["event", "mean", "shape"]),
];

/// Buckets of randomized response.
const MOST_BUCKETS: u64 = 1 << 20;

/// Reads an event of dp_accounting, a tree of mechanisms and compositions, from JSON. `event.to_named_tuple()` of the
/// library becomes JSON by `json.dumps`: a list of the module, the class and the fields of each event.
///
/// ```text
/// ["dp_accounting.dp_event", "SelfComposedDpEvent",
///  ["dp_accounting.dp_event", "PoissonSampledDpEvent", 0.01, ["dp_accounting.dp_event", "GaussianDpEvent", 0.8]], 10000]
/// ```
///
/// A form with the names of the fields is also accepted: `{"class_name": "GaussianDpEvent", "noise_multiplier": 0.8}`,
/// with or without `module_name`.
///
/// | event | release |
/// |---|---|
/// | `GaussianDpEvent` | `gaussian` |
/// | `LaplaceDpEvent` | `laplace` |
/// | `DiscreteLaplaceDpEvent` | `discrete-laplace`, of a count that one record moves by the sensitivity |
/// | `RandomizedResponseDpEvent` | `randomized-response`, of one voter |
/// | `PoissonSampledDpEvent` of `GaussianDpEvent`, or of a composition of them | `subsampled-gaussian` |
/// | `SelfComposedDpEvent`, `ComposedDpEvent` | several releases as one |
/// | `RepeatAndSelectDpEvent` | the best of a random number of runs |
/// | `NoOpDpEvent` | none |
///
/// *Several Gaussian events on one Poisson sample* are one with the squares of their 1/σ added up, even if each is
/// chosen after the outputs before it: given the sample they are a function, with fresh randomness, of one Gaussian
/// output with that noise (Dong, Roth and Su 2022, composition of Gaussian differential privacy, with Blackwell's
/// theorem), and the same function applies to the mixture over the samples.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read; otherwise [`Error::Input`], one line that names the place in the tree.
pub fn read_events(path: impl AsRef<Path>) -> Result<ReleaseList> {
    let file = path.as_ref();
    events_from_bytes(file, &read(file)?)
}

/// Reads what [`read_events`] reads from bytes in memory; `name` is the file's name in messages.
///
/// ```
/// # use leakbound::record::events_from_bytes;
/// let gaussian = r#"["dp_accounting.dp_event", "GaussianDpEvent", 0.8]"#;
/// let text = format!(r#"["dp_accounting.dp_event", "SelfComposedDpEvent", {gaussian}, 10]"#);
/// assert_eq!(events_from_bytes("e.json", text.as_bytes())?.releases.count(), 10);
/// let error = events_from_bytes("e.json", br#"{"class_name": "ZCDpEvent", "rho": 1, "xi": 0}"#).unwrap_err().to_string();
/// assert!(error.starts_with("e.json: event: found ZCDpEvent, expected one of"), "{error}");
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// As [`read_events`].
pub fn events_from_bytes(name: impl AsRef<Path>, bytes: &[u8]) -> Result<ReleaseList> {
    let file = name.as_ref();
    if bytes.len() as u64 > MAX_BYTES {
        let expected = format!("an event in at most {} MiB of JSON", MAX_BYTES >> 20);
        return Err(fault(file, "whole file", format!("more than {} MiB", MAX_BYTES >> 20), expected).into());
    }
    let text = utf8(file, bytes, "an event in JSON")?;
    let value: Value = json::parse(file, &with_infinities(text))?;
    let part = Node { file, place: "event", value: &value }.part()?;
    let part = part.ok_or_else(|| fault(file, "event", "nothing that is released", "at least one mechanism"))?;
    let parts = vec![part];
    countable(file, &parts, 1)?;
    Ok(ReleaseList { input: InputFile::of_bytes(file, bytes), releases: ComposedReleases { parts, group: 1 } })
}

/// Python writes an infinite float as a word that is not JSON; it is replaced by a string of the same length.
fn with_infinities(text: &str) -> String {
    const WORD: &str = "Infinity";
    let (mut rest, mut result, mut inside) = (text, String::with_capacity(text.len()), false);
    while let Some(next) = rest.chars().next() {
        if !inside && let Some(after) = rest.strip_prefix(WORD) {
            result.push_str("\"inf\"   ");
            rest = after;
            continue;
        }
        let mut length = next.len_utf8();
        match next {
            '"' => inside = !inside,
            // What is escaped ends no string.
            '\\' if inside => length += rest[length..].chars().next().map_or(0, char::len_utf8),
            _ => {}
        }
        result.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    result
}

/// A value of the tree and where it is.
#[derive(Clone, Copy)]
struct Node<'a> {
    file: &'a Path,
    place: &'a str,
    value: &'a Value,
}

/// An event with its fields.
struct Fields<'a> {
    node: Node<'a>,
    names: &'static [&'static str],
    values: Vec<&'a Value>,
}

impl<'a> Node<'a> {
    fn fault(self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        fault(self.file, self.place, found, expected).into()
    }

    /// The event and its fields.
    fn event(self) -> Result<(Event, Fields<'a>)> {
        let class = match self.value {
            Value::Array(items) => items.get(1).and_then(Value::as_str),
            Value::Object(fields) => fields.get("class_name").and_then(Value::as_str),
            _ => None,
        };
        let Some(class) = class else {
            let expected = "an event: a list of module, class and fields, or an object with `class_name`";
            return Err(self.fault(kind_of(self.value), expected));
        };
        let Some(&(event, _, names)) = EVENTS.iter().find(|(_, name, _)| *name == class) else {
            let known = EVENTS.map(|(_, name, _)| name);
            // Class names are shown as they are.
            let found = if class.chars().all(|c| c.is_ascii_alphanumeric()) {
                crate::error::echo(class)
            } else {
                quoted(class)
            };
            return Err(self.fault(found, format!("one of {}", known.join(", "))));
        };
        Ok((event, self.fields(names)?))
    }

    fn fields(self, names: &'static [&'static str]) -> Result<Fields<'a>> {
        let values: Vec<&Value> = match self.value {
            Value::Array(items) => {
                let found = items.len().saturating_sub(2);
                if found != names.len() {
                    let expected = format!("{} after module and class: {}", names.len(), listed(names));
                    return Err(self.fault(format!("{found} fields"), expected));
                }
                items[2..].iter().collect()
            }
            Value::Object(fields) => {
                let own = |name: &str| names.contains(&name) || matches!(name, "class_name" | "module_name");
                if let Some(other) = fields.keys().find(|name| !own(name)) {
                    return Err(
                        self.fault(format!("the field {}", quoted(other)), format!("the fields {}", listed(names)))
                    );
                }
                let value = |name: &&str| {
                    fields.get(*name).ok_or_else(|| self.fault(format!("no field `{name}`"), "a value of it"))
                };
                names.iter().map(value).collect::<Result<_>>()?
            }
            _ => Vec::new(),
        };
        Ok(Fields { node: self, names, values })
    }

    /// What is released; None if nothing is.
    fn part(self) -> Result<Option<ReleasePart>> {
        let (event, fields) = self.event()?;
        match event {
            Event::NoOp => Ok(None),
            Event::Gaussian => self.release(GAUSSIAN, Parameters::default().with("sigma", fields.number(0)?), 1),
            Event::Laplace => self.release(LAPLACE, Parameters::default().with("sigma", fields.number(0)?), 1),
            Event::DiscreteLaplace => {
                let sigma = inverse_down(fields.positive(0)?);
                match fields.whole(1)? {
                    0 => Ok(None),
                    distance => self.release(DISCRETE_LAPLACE, Parameters::default().with("sigma", sigma), distance),
                }
            }
            Event::RandomizedResponse => self.randomized_response(&fields),
            Event::SelfComposed => {
                let (part, count) = (fields.part(0)?, fields.whole(1)?);
                Ok(part.filter(|_| count > 0).map(|part| part.repeated(count)))
            }
            Event::Composed => {
                let mut parts = Vec::new();
                for (index, value) in fields.list(0)?.iter().enumerate() {
                    let place = format!("{}.events[{index}]", self.place);
                    parts.extend(Node { file: self.file, place: &place, value }.part()?);
                }
                Ok(self.bundle(parts, None))
            }
            Event::PoissonSampled => self.poisson_sampled(&fields),
            Event::RepeatAndSelect => {
                let (part, mean, shape) = (fields.part(0)?, fields.number(1)?, fields.number(2)?);
                let runs =
                    if shape == f64::INFINITY { Runs::poisson(mean) } else { Runs::negative_binomial(shape, mean) };
                let runs =
                    runs.map_err(|error| self.fault(error.reason(), "a number of runs with this distribution"))?;
                Ok(self.bundle(part.into_iter().collect(), Some(runs)))
            }
        }
    }

    fn bundle(self, parts: Vec<ReleasePart>, select: Option<Runs>) -> Option<ReleasePart> {
        let bundle = ReleaseBundle { parts, times: 1, select, place: self.place.into() };
        (!bundle.parts.is_empty()).then_some(ReleasePart::Bundle(bundle))
    }

    fn release(self, kind: &MechanismKind, parameters: Parameters, distance: u64) -> Result<Option<ReleasePart>> {
        self.release_of(kind, parameters, distance, VoteHistogram::new(vec![0])?)
    }

    fn release_of(
        self,
        kind: &MechanismKind,
        parameters: Parameters,
        distance: u64,
        data: VoteHistogram,
    ) -> Result<Option<ReleasePart>> {
        let mechanism =
            (kind.read)(&parameters).map_err(|error| self.fault(error.reason(), format!("parameters of {kind}")))?;
        Ok(Some(ReleasePart::Release(Release { mechanism, data, times: 1, distance, place: self.place.into() })))
    }

    /// With probability 1 - p the bucket, else one of the k at random: e^ε = k/p - k + 1.
    fn randomized_response(self, fields: &Fields<'_>) -> Result<Option<ReleasePart>> {
        let (p, buckets) = (fields.probability(0)?, fields.whole(1)?);
        if !(1..=MOST_BUCKETS).contains(&buckets) {
            return Err(self.fault(format!("num_buckets = {buckets}"), "from 1 to 2^20 buckets"));
        }
        if buckets == 1 || p == 1.0 {
            return Ok(None);
        }
        if p == 0.0 {
            return Err(self.fault("noise_parameter = 0, which publishes the bucket", "a probability above 0"));
        }
        let epsilon = libm::log1p(buckets as f64 * (1.0 - p) / p) * (1.0 + 8.0 * f64::EPSILON);
        let mut votes = vec![0; buckets as usize];
        votes[0] = 1;
        let parameters = Parameters::default().with("sigma", inverse_down(epsilon));
        self.release_of(RANDOMIZED_RESPONSE, parameters, 1, VoteHistogram::new(votes)?)
    }

    fn poisson_sampled(self, fields: &Fields<'_>) -> Result<Option<ReleasePart>> {
        let rate = fields.probability(0)?;
        if rate == 1.0 {
            return fields.part(1);
        }
        let place = fields.place(1);
        let sampled = Node { file: self.file, place: &place, value: fields.values[1] };
        let Gaussians { precision, one } = sampled.gaussians()?;
        if rate == 0.0 || precision == 0.0 {
            return Ok(None);
        }
        // Rounded down, by the roundings of a sum of many squares.
        let sigma = one.unwrap_or_else(|| precision.sqrt().recip() * (1.0 - 1e-12));
        self.release(SUBSAMPLED_GAUSSIAN, Parameters::default().with("sigma", sigma).with("rate", rate), 1)
    }

    /// Gaussian events alone, and their compositions.
    fn gaussians(self) -> Result<Gaussians> {
        let (event, fields) = self.event()?;
        match event {
            Event::Gaussian => {
                let sigma = fields.positive(0)?;
                Ok(Gaussians { precision: sigma.powi(-2), one: Some(sigma) })
            }
            Event::NoOp => Ok(Gaussians { precision: 0.0, one: None }),
            Event::SelfComposed => {
                let place = fields.place(0);
                let Gaussians { precision, one } =
                    Node { place: &place, value: fields.values[0], ..self }.gaussians()?;
                let count = fields.whole(1)?;
                Ok(Gaussians { precision: precision * count as f64, one: one.filter(|_| count == 1) })
            }
            Event::Composed => {
                let mut all = Gaussians { precision: 0.0, one: None };
                for (index, value) in fields.list(0)?.iter().enumerate() {
                    let place = format!("{}.events[{index}]", self.place);
                    let next = Node { place: &place, value, ..self }.gaussians()?;
                    let one = if all.precision == 0.0 { next.one } else { all.one.filter(|_| next.precision == 0.0) };
                    all = Gaussians { precision: all.precision + next.precision, one };
                }
                Ok(all)
            }
            _ => Err(self
                .fault(format!("{} on a Poisson sample", name_of(event)), "GaussianDpEvent, or a composition of them")),
        }
    }
}

/// Gaussian events on the same data: Σ 1/σ², and σ if there is one event.
struct Gaussians {
    precision: f64,
    one: Option<f64>,
}

fn name_of(event: Event) -> &'static str {
    EVENTS.iter().find(|known| known.0 == event).map_or("an event", |known| known.1)
}

impl<'a> Fields<'a> {
    fn place(&self, index: usize) -> String {
        format!("{}.{}", self.node.place, self.names[index])
    }

    fn fault(&self, index: usize, expected: &str) -> Error {
        let found = match self.values[index] {
            Value::Number(number) => crate::error::echo(&number.to_string()),
            Value::String(text) => quoted(text),
            other => kind_of(other).to_owned(),
        };
        fault(self.node.file, self.place(index), found, expected).into()
    }

    fn part(&self, index: usize) -> Result<Option<ReleasePart>> {
        Node { file: self.node.file, place: &self.place(index), value: self.values[index] }.part()
    }

    fn list(&self, index: usize) -> Result<&'a Vec<Value>> {
        self.values[index].as_array().ok_or_else(|| self.fault(index, "a list of events"))
    }

    fn number(&self, index: usize) -> Result<f64> {
        let number = match self.values[index] {
            Value::String(text) if text == "inf" => Some(f64::INFINITY),
            value => value.as_f64(),
        };
        number.ok_or_else(|| self.fault(index, "a number"))
    }

    fn positive(&self, index: usize) -> Result<f64> {
        let number = self.number(index)?;
        if !(number > 0.0 && number < f64::INFINITY) {
            return Err(self.fault(index, "a number in (0, inf)"));
        }
        Ok(number)
    }

    fn probability(&self, index: usize) -> Result<f64> {
        let number = self.number(index)?;
        if !(0.0..=1.0).contains(&number) {
            return Err(self.fault(index, "a probability in [0, 1]"));
        }
        Ok(number)
    }

    fn whole(&self, index: usize) -> Result<u64> {
        let number = self.values[index].as_u64().filter(|number| *number <= MAX_COUNT);
        number.ok_or_else(|| self.fault(index, "a whole number from 0 to 2^53"))
    }
}

/// A number whose inverse is at least x.
fn inverse_down(x: f64) -> f64 {
    let inverse = x.recip();
    if inverse.recip() < x { inverse.next_down() } else { inverse }
}

const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple(class: &str, fields: &str) -> String {
        let comma = if fields.is_empty() { "" } else { ", " };
        format!("[\"dp_accounting.dp_event\", \"{class}\"{comma}{fields}]")
    }

    /// All releases in their order, with how often each is made and how far apart neighbors are.
    fn releases(text: &str) -> Vec<(String, u64, u64, String)> {
        fn walk(parts: &[ReleasePart], times: u64, found: &mut Vec<(String, u64, u64, String)>) {
            for part in parts {
                match part {
                    ReleasePart::Release(one) => {
                        found.push((one.mechanism.to_string(), times * one.times, one.distance, one.place.clone()));
                    }
                    ReleasePart::Bundle(bundle) => walk(&bundle.parts, times * bundle.times, found),
                }
            }
        }
        let mut found = Vec::new();
        walk(&events_from_bytes("e.json", text.as_bytes()).unwrap().releases.parts, 1, &mut found);
        found
    }

    fn rejected(text: &str) -> String {
        events_from_bytes("e.json", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn events_are_releases() {
        let gaussian = tuple("GaussianDpEvent", "0.8");
        let sampled = tuple("PoissonSampledDpEvent", &format!("0.01, {gaussian}"));
        let steps = tuple("SelfComposedDpEvent", &format!("{sampled}, 10000"));
        let laplace = "{\"class_name\": \"LaplaceDpEvent\", \"noise_multiplier\": 2, \"module_name\": \"m\"}";
        let discrete = tuple("DiscreteLaplaceDpEvent", "0.25, 3");
        let nothing = tuple("NoOpDpEvent", "");
        let text = tuple("ComposedDpEvent", &format!("[{steps}, {nothing}, {laplace}, {discrete}]"));
        let place = |rest: &str| format!("event.events[{rest}");
        assert_eq!(
            releases(&text),
            [
                ("subsampled-gaussian:sigma=0.8,rate=0.01".into(), 10_000, 1, place("0].event")),
                ("laplace:sigma=2".into(), 1, 1, place("2]")),
                ("discrete-laplace:sigma=4".into(), 1, 3, place("3]")),
            ]
        );
    }

    /// Gaussian events on one sample are one; sampling all records is not sampling, and sampling none releases nothing.
    #[test]
    fn samples_are_of_gaussian_events() {
        let gaussian = tuple("GaussianDpEvent", "2.0");
        let four = tuple("SelfComposedDpEvent", &format!("{gaussian}, 4"));
        let sampled = |event: &str, rate: &str| tuple("PoissonSampledDpEvent", &format!("{rate}, {event}"));
        let found = releases(&sampled(&four, "0.5"));
        let sigma: f64 =
            found[0].0.trim_start_matches("subsampled-gaussian:sigma=").split(',').next().unwrap().parse().unwrap();
        assert!(sigma <= 1.0 && sigma > 1.0 - 1e-11, "{found:?}");
        let alone = tuple("ComposedDpEvent", &format!("[{}, {gaussian}]", tuple("NoOpDpEvent", "")));
        assert_eq!(releases(&sampled(&alone, "0.5"))[0].0, "subsampled-gaussian:sigma=2,rate=0.5");
        assert_eq!(releases(&sampled(&gaussian, "1.0"))[0].0, "gaussian:sigma=2");
        assert!(rejected(&sampled(&gaussian, "0")).contains("nothing that is released"));
        let laplace = tuple("LaplaceDpEvent", "2.0");
        assert_eq!(
            rejected(&sampled(&laplace, "0.5")),
            "e.json: event.event: found LaplaceDpEvent on a Poisson sample, expected GaussianDpEvent, or a composition of them"
        );
    }

    #[test]
    fn answers_at_random_have_their_epsilon() {
        let found = releases(&tuple("RandomizedResponseDpEvent", "0.5, 4"));
        // e^ε = 4/0.5 - 3.
        let sigma: f64 = found[0].0.trim_start_matches("randomized-response:sigma=").parse().unwrap();
        assert!((sigma * 5f64.ln() - 1.0).abs() < 1e-14 && sigma.recip() >= 5f64.ln(), "{sigma}");
        for nothing in ["1.0, 4", "0.3, 1"] {
            assert!(rejected(&tuple("RandomizedResponseDpEvent", nothing)).contains("nothing that is released"));
        }
        assert!(rejected(&tuple("RandomizedResponseDpEvent", "0, 4")).contains("publishes the bucket"));
    }

    #[test]
    fn selections_have_their_runs() {
        let text =
            |shape: &str| tuple("RepeatAndSelectDpEvent", &format!("{}, 10, {shape}", tuple("GaussianDpEvent", "2.0")));
        for (shape, runs) in
            [("Infinity", Runs::poisson(10.0).unwrap()), ("1", Runs::negative_binomial(1.0, 10.0).unwrap())]
        {
            let list = events_from_bytes("e.json", text(shape).as_bytes()).unwrap();
            let [ReleasePart::Bundle(bundle)] = &list.releases.parts[..] else { panic!("no bundle") };
            assert_eq!(bundle.select, Some(runs));
        }
        assert!(
            rejected(&text("-1")).contains("shape of the number of runs = -1 is not in"),
            "{}",
            rejected(&text("-1"))
        );
        // A word inside a string is left unchanged.
        assert_eq!(with_infinities(r#"["Infinity\"", Infinity]"#), r#"["Infinity\"", "inf"   ]"#);
    }

    #[test]
    fn what_is_no_event_is_rejected_in_one_line() {
        for (text, words) in [
            ("", "e.json: line 1"),
            ("3", "e.json: event: found a number, expected an event"),
            ("[]", "e.json: event: found a list, expected an event"),
            ("{\"class_name\": \"GaussianDpEvent\"}", "found no field `noise_multiplier`"),
            ("{\"class_name\": \"NoOpDpEvent\", \"x\": 1}", "found the field `x`"),
            ("[\"m\", \"GaussianDpEvent\"]", "found 0 fields, expected 1 after module and class: `noise_multiplier`"),
            (
                "[\"m\", \"GaussianDpEvent\", 0]",
                "event: found sigma: noise scale = 0 is not in (0, inf), expected parameters",
            ),
            ("[\"m\", \"GaussianDpEvent\", \"a\"]", "event.noise_multiplier: found `a`, expected a number"),
            ("[\"m\", \"NonPrivateDpEvent\"]", "event: found NonPrivateDpEvent, expected one of NoOpDpEvent"),
            ("[\"m\", \"ComposedDpEvent\", [[\"m\", \"ZCDpEvent\", 1, 0]]]", "event.events[0]: found ZCDpEvent"),
            ("[\"m\", \"ComposedDpEvent\", 4]", "event.events: found 4, expected a list of events"),
            ("[\"m\", \"SelfComposedDpEvent\", [\"m\", \"GaussianDpEvent\", 1], -1]", "event.count: found -1"),
            ("[\"m\", \"PoissonSampledDpEvent\", 1.5, [\"m\", \"GaussianDpEvent\", 1]]", "a probability in [0, 1]"),
            (
                "[\"m\", \"SelfComposedDpEvent\", [\"m\", \"SelfComposedDpEvent\", [\"m\", \"GaussianDpEvent\", 1], 9007199254740992], 2]",
                "found more than 2^53 releases",
            ),
        ] {
            let error = rejected(text);
            assert!(error.contains(words) && !error.contains('\n'), "{text}: {error}");
        }
        assert!(events_from_bytes("e.json", b"\xff").is_err());
        let deep = format!("{}3{}", "[\"m\",\"SelfComposedDpEvent\",".repeat(500), ",1]".repeat(500));
        assert!(!rejected(&deep).contains('\n'));
    }
}
