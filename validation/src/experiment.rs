//! What an experiment is and what it hands back.

#[cfg(feature = "torch")]
use leakbound::record::{ImagePart, MemoryBudget, read_images};
#[cfg(feature = "torch")]
use leakbound_train::{DeviceChoice, TrainingContext, TrainingDevice};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fmt::{Display, Write as _};
#[cfg(feature = "torch")]
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder of recordings that are not kept here, as requested on the command line.
pub static DATA: OnceLock<PathBuf> = OnceLock::new();

/// The folder of recordings: `--data`, or `../shared/data` beside the repository. It need not exist.
#[must_use]
pub fn data_folder() -> PathBuf {
    DATA.get().cloned().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"))
}

/// The stream of this number of a seed.
pub(crate) fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream(number);
    stream
}

/// What an experiment found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Everything claimed held.
    Pass,
    /// Something claimed did not hold; the lines say what.
    Fail,
    /// Nothing was claimed: figures only.
    Figures,
    /// Nothing was done: what it needs is not here.
    SetAside,
}

/// Comparisons of one bound with what is at most as large.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub checked: u64,
    /// The largest ratio of the smaller to the larger side.
    pub tightest: f64,
    /// What is above its bound.
    pub broken: Vec<String>,
}

/// The lines of an experiment with its verdict.
#[must_use]
#[derive(Debug, Clone)]
pub struct Report {
    /// One sentence: what was done, with sizes and seeds.
    pub setting: String,
    /// Figures, in fixed width.
    pub lines: Vec<String>,
    /// Whether the claims held.
    pub verdict: Verdict,
    /// Figures as SVG, by name.
    pub figures: Vec<(String, String)>,
}

impl Report {
    /// A report that passes while nothing fails.
    pub fn new(setting: impl Into<String>) -> Self {
        let setting = setting.into();
        println!("{setting}");
        Self { setting, lines: Vec::new(), verdict: Verdict::Pass, figures: Vec::new() }
    }

    /// A report of what may end in an error, which is a claim that fails.
    pub fn filled<E: Display>(setting: impl Into<String>, fill: impl FnOnce(&mut Self) -> Result<(), E>) -> Self {
        let mut report = Self::new(setting);
        if let Err(error) = fill(&mut report) {
            report.claim(false, error.to_string());
        }
        report
    }

    /// What was found, if there is no error, which is a claim that fails.
    pub fn found<T, E: Display>(&mut self, what: impl Display, found: Result<T, E>) -> Option<T> {
        found.map_err(|error| self.claim(false, format!("{what}: {error}"))).ok()
    }

    /// Adds a line of figures without a claim.
    ///
    /// It is printed at once: an experiment may take hours.
    pub fn line(&mut self, line: impl Into<String>) {
        let line = line.into();
        println!("{line}");
        self.lines.push(line);
    }

    /// Adds a line with the verdict of its claim in front.
    pub fn claim(&mut self, holds: bool, line: impl AsRef<str>) {
        self.line(format!("{}  {}", if holds { "PASS" } else { "FAIL" }, line.as_ref()));
        if !holds {
            self.verdict = Verdict::Fail;
        }
    }

    /// Adds a line with the verdict of its claim, or as a figure where nothing is claimed.
    pub fn judged(&mut self, holds: Option<bool>, line: String) {
        match holds {
            Some(holds) => self.claim(holds, line),
            None => self.line(format!("      {line}")),
        }
    }

    /// Says why nothing was done.
    pub fn set_aside(&mut self, reason: impl AsRef<str>) {
        self.line(format!("set aside: {}", reason.as_ref()));
        self.verdict = Verdict::SetAside;
    }

    /// Adds a figure, an SVG document, which is written beside the result file.
    pub fn figure(&mut self, name: String, svg: String) {
        self.figures.push((name, svg));
    }

    /// The text of a result file.
    #[must_use]
    pub fn markdown(&self, name: &str, date: &str) -> String {
        let mut text = format!("# {name}, {date}\n\n{}\n\n```text\n", self.setting);
        for line in &self.lines {
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text, "```\n\nVerdict: {:?}", self.verdict);
        for (figure, _) in &self.figures {
            let _ = writeln!(text, "\n![{figure}]({date}-{figure}.svg)");
        }
        text
    }
}

#[cfg(feature = "torch")]
impl Report {
    /// Trains networks on Fashion-MNIST, where the folder of recordings has it; an error is a claim that fails.
    pub fn trained(&mut self, train: impl FnOnce(&mut Self, &TrainingContext<'_>) -> leakbound::Result<()>) {
        let folder = data_folder();
        let read = |part| read_images(&folder, part, MemoryBudget::of_machine());
        let (Ok((images, _)), Ok((test, _))) = (read(ImagePart::Train), read(ImagePart::Test)) else {
            return self.set_aside(format!(
                "{} does not hold Fashion-MNIST; --data FOLDER says where it is, `cargo xtask data fashion-mnist` puts \
                 it there",
                folder.display()
            ));
        };
        let trained = TrainingDevice::open(DeviceChoice::Cpu).and_then(|device| {
            let progress = &|_| ControlFlow::Continue(());
            train(self, &TrainingContext { train: &images, test: &test, device, progress, checkpoint: None })
        });
        if let Err(error) = trained {
            self.claim(false, error.to_string());
        }
    }
}

/// An experiment under its name on the command line.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// The name.
    pub name: &'static str,
    /// Runs it.
    pub run: fn() -> Report,
}

/// All experiments, quick ones first.
pub const ALL: &[Experiment] = &[
    Experiment { name: "tables", run: crate::tables::report },
    Experiment { name: "rounding", run: crate::rounding::report },
    Experiment { name: "ladder", run: crate::ladder::report },
    Experiment { name: "tightness", run: crate::tightness::report },
    Experiment { name: "labeling-budget", run: crate::labeling_budget::report },
    Experiment { name: "audit-figures", run: crate::audit_figures::report },
    Experiment { name: "audit-properties", run: crate::audit_properties::report },
    Experiment { name: "audit-mechanism", run: crate::audit_mechanism::report },
    Experiment { name: "audit-race", run: crate::audit_race::report },
    Experiment { name: "inequalities", run: crate::inequalities::report },
    Experiment { name: "worst-case", run: crate::worst_case::report },
    Experiment { name: "capc", run: crate::capc::report },
    Experiment { name: "registry", run: crate::registry::report },
    Experiment { name: "coverage", run: crate::coverage::report },
    Experiment { name: "coverage-e-process", run: crate::coverage::report_of_e_process },
    Experiment { name: "false-claims", run: crate::false_claims::report },
    Experiment { name: "distributions-by-simulation", run: crate::distributions_by_simulation::report },
    Experiment { name: "samplers", run: crate::samplers::report },
    Experiment { name: "votes", run: crate::votes::report },
    Experiment { name: "enclosures", run: crate::enclosures::report },
    Experiment { name: "kill-resume", run: crate::kill_resume::report },
    Experiment { name: "private-prediction", run: crate::private_prediction::report },
    Experiment { name: "verify", run: crate::verify::report },
    Experiment { name: "verify-others", run: crate::verify::report_of_others },
    #[cfg(feature = "torch")]
    Experiment { name: "prompt-pate", run: crate::prompt_pate::report },
    #[cfg(feature = "torch")]
    Experiment { name: "ihr-row", run: crate::ihr_row::report },
    #[cfg(feature = "torch")]
    Experiment { name: "meta-classifier", run: crate::meta_classifier::report },
    Experiment { name: "libraries", run: crate::libraries::report },
    Experiment { name: "membership", run: crate::membership::report },
    Experiment { name: "timing", run: crate::timing::report },
];
