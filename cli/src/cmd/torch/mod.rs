//! `leakbound torch`: the device first, then a recipe.

use self::training_run::Recorded;
use crate::args::{Common, Format};
use crate::output::print;
use clap::{Args, Subcommand};
use leakbound::{Error, Result};
use leakbound_train::{DeviceChoice, TrainingDevice, cuda_library};
use serde::Serialize;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

mod contrastive;
mod defense;
mod defense_training;
mod dpsgd;
mod dpsgd_runs;
mod fixmatch;
mod kept_networks;
mod label_dp;
mod label_training;
mod meta_classifier;
mod network;
mod noise;
mod numbers;
mod pate_fm;
mod prompt_pate;
mod property;
mod recipe;
mod shadow;
mod shadow_figures;
mod student;
mod study_training;
mod teachers;
mod tokens;
mod training;
mod training_run;
pub mod weight_attacks;

pub use self::defense_training::complete_defenses;
pub use self::label_training::complete_labels;

/// Training of models whose outputs are audited.
#[derive(Debug, Subcommand)]
pub enum TorchCommand {
    /// Show which device would be used
    #[command(after_help = "Example:\n  leakbound torch device --device cuda")]
    Device(DeviceOptions),
    /// Train models on private labels (ALIBI, AGIBI, randomized response, LP-2ST), and record their answers on canaries
    /// with wrong labels
    #[command(
        name = "label-dp",
        after_help = "Each model by itself has the guarantee; the models together do not.\n\nExample:\n  leakbound torch \
                      label-dp --data fashion-mnist --recording canaries.npz --mechanism alibi --epsilon 2\n  leakbound \
                      label-dp memorization canaries.npz --claim-epsilon 2"
    )]
    LabelDp(label_dp::LabelDpOptions),
    /// Train models by DP-SGD, each on half of the canaries, and record their answers on all of them
    #[command(
        after_help = "Each model by itself is (epsilon, delta)-differentially private for one image more or less, a \
                      canary too; the models together are not.\n\nExample:\n  leakbound torch dpsgd --data fashion-mnist \
                      --recording private.npz --images 4000 --epsilon 8\n  leakbound membership lira private.npz\n\nOne model \
                      audited in one run, as its plan declares:\n  leakbound canaries plan --canaries 1000 --mechanism \
                      subsampled-gaussian:sigma=1,rate=0.01 --times 1000 --format json --output plan.json\n  leakbound \
                      torch dpsgd --data fashion-mnist --recording run.npz --canary-plan plan.json --images 25600 \
                      --batch 256 --epochs 10 --noise-multiplier 1\n  leakbound canaries audit plan.json run.npz"
    )]
    Dpsgd(dpsgd::DpsgdOptions),
    /// Train many models by DP-SGD with and without one canary, and record its score under the last iterate of each
    #[command(
        name = "dpsgd-runs",
        after_help = "All models begin with the same weights and differ in sampling and noise alone, so that their scores \
                      are independent draws. Weights that have learned similar images make the canary stand out: an \
                      adversary of differential privacy may choose them.\n\nExample:\n  leakbound torch dpsgd-runs --data \
                      fashion-mnist --recording runs.npz --runs 500 --epsilon 4\n  leakbound audit scores runs.npz \
                      --claim-epsilon 4 --orders 2"
    )]
    DpsgdRuns(dpsgd_runs::DpsgdRunsOptions),
    /// Train a PATE student by FixMatch on training images that teachers label (PATE-FM), and record its answers on
    /// canaries with wrong labels
    #[command(
        after_help = "Images are public here, and labels are private. Epsilon is claimed for --queries and --labels, \
                      declared beforehand, whatever the votes are.\n\nExample:\n  leakbound torch pate-fm --data \
                      fashion-mnist --recording canaries.npz --network cnn --filters 16 --flip --shift 2\n  leakbound \
                      label-dp memorization canaries.npz"
    )]
    PateFm(Box<pate_fm::PateFmOptions>),
    /// Train a transformer that learns in context, and record the votes of prompts with and without what an adversary adds
    #[command(
        name = "prompt-pate",
        after_help = "Each prompt is a teacher of PromptPATE with private examples. nat-advq and pois-advq choose the \
                      query too: each row of votes_prime is a case of its own, and --n-queries repeats the worst. The \
                      checkpoint keeps the transformer, and with --resume every adversary goes on from it.\n\nExample:\n  \
                      leakbound torch prompt-pate --data fashion-mnist --recording advq.npz --adversary pois-advq \
                      --checkpoint transformer.checkpoint\n  leakbound audit votes advq.npz --model prompt-pate \
                      --noise gaussian:20 --n-queries 200\n  leakbound torch prompt-pate --data fashion-mnist \
                      --recording same.npz --adversary all-same --checkpoint transformer.checkpoint --resume\n  leakbound \
                      audit votes same.npz --model prompt-pate --noise gaussian:20"
    )]
    PromptPate(Box<prompt_pate::PromptPateOptions>),
    /// Train networks on images with and without a property, and infer it from their weights by meta-classifiers
    #[command(after_help = "The networks that are attacked share no training image with the others. The published \
                      meta-classifier is deeper than the default: --flat-blocks 6 --flat-convolutions 3 --flat-dense 2 \
                      has as many layers, for networks of at least 4096 weights.\n\nExamples:\n  leakbound torch \
                      meta-classifier --data fashion-mnist --recording weights.npz --hidden 16 --networks 1000\n  \
                      leakbound property meta-classifier weights.npz --classifiers set")]
    MetaClassifier(Box<meta_classifier::MetaClassifierOptions>),
    /// Train a PATE student whose teachers' images have a property, and ensembles for each value of the property
    #[command(
        after_help = "Example:\n  leakbound torch property --data fashion-mnist --recording answers.npz --class 0 \
                      --percentages 100,25 --student-percentage 25\n  leakbound property distance answers.npz"
    )]
    Property(property::TorchPropertyOptions),
    /// Train PATE teachers and CaPC parties, with and without an added point, and record their votes
    #[command(after_help = "Example:\n  leakbound torch teachers --data fashion-mnist --recording votes.npz \
                            --instantiations 4\n  leakbound audit votes votes.npz --model pate --noise gaussian:40\n  leakbound \
                            torch teachers --data fashion-mnist --recording cnn.npz --network cnn --teachers 25 \
                            --images 240 --epochs 20 --checkpoint cnn.checkpoint")]
    Teachers(teachers::TeachersOptions),
    /// Train shadow models with and without audited samples, and record their answers
    #[command(
        after_help = "Examples:\n  leakbound torch shadow --data fashion-mnist --recording shadow.npz --models 16 \
                            --fixed 4000 --hidden 96\n  leakbound membership lira shadow.npz --report lira.html\n  \
                            leakbound torch shadow --data fashion-mnist --recording views.npz --flip --shift 2 --views \
                            18\n  leakbound torch shadow --data fashion-mnist --recording hamp.npz --defense hamp\n  \
                            leakbound torch shadow --data fashion-mnist --recording simclr.npz --canaries original \
                            --fixed 2000 --defense simclr --encoder-epochs 200 --encoder-batch 128"
    )]
    Shadow(Box<shadow::ShadowOptions>),
    /// Train PATE students on labels within privacy budgets, and record all answers
    #[command(after_help = "Examples:\n  leakbound torch student --data fashion-mnist --recording students.npz \
                            --budgets 1,2,3,5 --runs 3 --baselines 1\n  leakbound membership students \
                            students.npz\n  leakbound account students.npz --noise gaussian:40 --threshold 200 --threshold-noise \
                            gaussian:150\n\nThe training images are private. The test images are split: --public of \
                            each class may get labels, the others measure.")]
    Student(student::StudentOptions),
    /// Train language models over bytes on your own texts, an ensemble whose members have documents of their own, and
    /// record what comes next
    #[command(
        after_help = "Each document is private to one member, public, or held out. Without --mechanism positions are \
                      places in text held out, fixed beforehand: audit them by --contexts fixed, with any mechanism. \
                      With it the ensemble answers, token by token, and an audit by the same mechanism bounds from below \
                      what the run leaks. The checkpoint keeps the models, and with --resume other recordings go on from \
                      it.\n\nExample:\n  leakbound torch tokens --private /usr/share/doc --public \
                      /usr/share/common-licenses --recording ensemble.npz --planted 32 --texts texts.jsonl --checkpoint \
                      models.checkpoint\n  leakbound audit tokens ensemble.npz --contexts fixed --mechanism \
                      mixed-tokens:order=3,radius=0.05\n  leakbound membership text texts.jsonl\n  leakbound torch tokens \
                      --private /usr/share/doc --public /usr/share/common-licenses --recording answers.npz --planted 32 \
                      --mechanism clipped-logits:clip=2,batch=8 --checkpoint models.checkpoint --resume\n  leakbound \
                      audit tokens answers.npz --mechanism clipped-logits:clip=2,batch=8"
    )]
    Tokens(Box<tokens::TorchTokensOptions>),
}

impl TorchCommand {
    /// The device that the recipe requests.
    pub fn device(&self) -> DeviceChoice {
        match self {
            Self::Device(options) => options.device,
            Self::Dpsgd(options) => options.data.device.device,
            Self::DpsgdRuns(options) => options.data.device.device,
            Self::LabelDp(options) => options.data.device.device,
            Self::PateFm(options) => options.data.device.device,
            Self::PromptPate(options) => options.data.device.device,
            Self::MetaClassifier(options) => options.data.device.device,
            Self::Property(options) => options.data.device.device,
            Self::Teachers(options) => options.data.device.device,
            Self::Shadow(options) => options.data.device.device,
            Self::Student(options) => options.data.device.device,
            Self::Tokens(options) => options.device.device,
        }
    }
}

/// What a recipe reads and writes, and where it trains.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DataOptions {
    /// Images: a folder of idx files (MNIST, Fashion-MNIST, EMNIST), of CIFAR's binary files or of x_train.npy,
    /// y_train.npy, x_test.npy, y_test.npy, or an npz with these four arrays
    #[arg(long, value_name = "PATH")]
    pub data: PathBuf,
    /// Recording to write (.npz); replaced only once it is complete
    #[arg(long, value_name = "FILE.npz")]
    pub recording: PathBuf,
    #[command(flatten)]
    #[serde(flatten)]
    pub device: DeviceOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub checkpoint: CheckpointOptions,
}

/// Where networks are trained.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DeviceOptions {
    /// cpu, cuda, or auto: a GPU if there is one that can be used
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: DeviceChoice,
}

/// Where what is trained is kept until all is there.
#[derive(Debug, Clone, Args, Serialize)]
pub struct CheckpointOptions {
    /// Save finished networks in this file, so that an interrupted run can continue
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint; start anew if there is none
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

impl CheckpointOptions {
    /// The file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }
}

/// Set in the process that has loaded the CUDA library, so that it is started once and not for ever.
const LOADED: &str = "LEAKBOUND_CUDA_LOADED";

pub fn run(common: &Common, command: &TorchCommand) -> Result<bool> {
    let device = open(command.device())?;
    if let Some((output, document)) = record(common, command, device)? {
        output.write(&document)?;
    }
    Ok(false)
}

/// Trains what the command wants. Its document is left to be written but where it says more than what was trained.
pub fn record(common: &Common, command: &TorchCommand, device: TrainingDevice) -> Result<Option<Recorded>> {
    let recorded = match command {
        TorchCommand::Device(_) => {
            print(common, &[Format::Text], format!("{device}\n").as_bytes())?;
            return Ok(None);
        }
        TorchCommand::MetaClassifier(options) => {
            return meta_classifier::run(common, options, device).map(|()| None);
        }
        TorchCommand::Student(options) => return student::run(common, options, device).map(|()| None),
        TorchCommand::Dpsgd(options) => dpsgd::record(common, options, device)?,
        TorchCommand::DpsgdRuns(options) => dpsgd_runs::record(common, options, device)?,
        TorchCommand::LabelDp(options) => label_dp::record(common, options, device)?,
        TorchCommand::PateFm(options) => pate_fm::record(common, options, device)?,
        TorchCommand::PromptPate(options) => prompt_pate::record(common, options, device)?,
        TorchCommand::Property(options) => property::record(common, options, device)?,
        TorchCommand::Teachers(options) => teachers::record(common, options, device)?,
        TorchCommand::Shadow(options) => shadow::record(common, options, device)?,
        TorchCommand::Tokens(options) => tokens::record(common, options, device)?,
    };
    Ok(Some(recorded))
}

/// The device, with the library that it needs.
pub fn open(choice: DeviceChoice) -> Result<TrainingDevice> {
    load_cuda(choice)?;
    TrainingDevice::open(choice)
}

/// Starts this program again with the CUDA library where that is needed; comes back where it is not.
fn load_cuda(choice: DeviceChoice) -> Result<()> {
    if std::env::var_os(LOADED).is_some() {
        return Ok(());
    }
    let Some(library) = cuda_library(choice)? else { return Ok(()) };
    let failed = |source| Error::Io { path: library.clone(), action: "load", source };
    let program = std::env::current_exe().map_err(failed)?;
    let mut again = Command::new(program);
    again.args(std::env::args_os().skip(1)).env(LOADED, "1").env("LD_PRELOAD", before("LD_PRELOAD", &library));
    if let Some(folder) = library.parent() {
        // Both halves of libtorch must come from one folder.
        again.env("LD_LIBRARY_PATH", before("LD_LIBRARY_PATH", folder));
    }
    Err(failed(again.exec()))
}

/// A path in front of those that a variable lists.
fn before(variable: &str, path: &Path) -> OsString {
    let mut list = path.as_os_str().to_owned();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}
