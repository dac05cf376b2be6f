//! `leakbound membership`: attacks on recorded answers of shadow models, and what they show.

use super::conclude::{Asked, publish, watched};
use super::shadow_answers;
use crate::args::{
    AnswerOptions, AnswersName, Common, CompareOptions, ComparedName, LevelName, LiraOptions, MeasureOptions,
    MembershipCommand, ModeName, PairsName, StudyOptions, VarianceName, ViewsName,
};
use crate::output::Output;
use clap::ValueEnum;
use leakbound::Result;
use leakbound::membership::{
    LabelOnlyPlan, LiraMode, LiraPlan, LiraVariance, LiraViews, MembershipPlan, MembershipScore, RmiaPlan, Victims,
    ViewPairs,
};
use leakbound::record::ShadowRecording;
use leakbound::study::{
    Attack, ComparisonStudy, Levels, Measures, MembershipAnswer, MembershipStudy, RecordedAnswers, Verdict,
};
use serde::Serialize;
use std::path::Path;

pub fn run(common: &Common, command: &MembershipCommand) -> Result<Verdict> {
    match command {
        MembershipCommand::Lira(options) => attack(common, options, (&options.study, &options.answers), lira(options)),
        MembershipCommand::LabelOnly(options) => {
            let (strength, balanced) = (options.strength, options.balanced);
            let plan = LabelOnlyPlan { strength, balanced, victims: options.victims.victims.0.clone() };
            attack(common, options, (&options.study, &options.answers), Attack::LabelOnly(plan))
        }
        MembershipCommand::Threshold(options) => attack(
            common,
            options,
            (&options.study, &options.answers),
            Attack::Threshold { score: options.score.map(|score| score.0) },
        ),
        MembershipCommand::Rmia(options) => {
            let (mode, victims) = (mode(options.mode), options.victims.victims.0.clone());
            let plan = RmiaPlan { mode, gamma: options.gamma, slope: options.slope, victims };
            attack(common, options, (&options.study, &options.answers), Attack::Rmia(plan))
        }
        MembershipCommand::Risk(options) => {
            let (score, victims) = (options.score.map(|score| score.0), options.victims.victims.0.clone());
            attack(
                common,
                options,
                (&options.study, &options.answers),
                Attack::Risk { score, bins: options.bins, victims },
            )
        }
        MembershipCommand::Attacker(options) => {
            attack(common, options, (&options.study, &options.answers), Attack::Trained { seed: common.seed })
        }
        MembershipCommand::Compare(options) => compare(common, options),
        MembershipCommand::Students(options) => super::student_membership::run(common, options),
        MembershipCommand::Text(options) => super::text_membership::run(common, options),
        MembershipCommand::Defenses(options) => super::defenses::run(common, options),
    }
}

fn attack(
    common: &Common,
    options: &impl Serialize,
    (study, answers): (&StudyOptions, &AnswerOptions),
    attack: Attack,
) -> Result<Verdict> {
    let measures = measures(&study.measure, common.seed);
    on_recording(common, options, study, |recording| {
        let attack = looking_at(answers, recording, attack);
        // Only in a recording of confidences a score outside of [0, 1] is a fault of the file.
        let confidences = match (recording, &attack) {
            (ShadowRecording::Scores(scores), Attack::Rmia(_)) => Some(scores.confidences()),
            _ => None,
        };
        let answers = match &confidences {
            Some(scores) => RecordedAnswers::scores(scores, recording.labels()),
            None => recording.into(),
        };
        watched(common, &MembershipStudy { answers, attack, measures })
    })
}

/// The attack on what the options name, or on what there is.
fn looking_at(options: &AnswerOptions, recording: &ShadowRecording, attack: Attack) -> Attack {
    let pairs = match options.pairs {
        PairsName::All => ViewPairs::All,
        PairsName::Disjoint => ViewPairs::Disjoint,
    };
    let usual = match recording {
        ShadowRecording::Embeddings(_) => AnswersName::Encoder,
        ShadowRecording::Logits(_) | ShadowRecording::Scores(_) => AnswersName::Sample,
    };
    match options.answers.unwrap_or(usual) {
        AnswersName::Sample => attack,
        AnswersName::Neighbor => Attack::Neighbor(Box::new(attack)),
        AnswersName::Encoder => Attack::Encoder { pairs, attack: Box::new(attack) },
    }
}

fn compare(common: &Common, options: &CompareOptions) -> Result<Verdict> {
    let victims = &options.victims.victims.0;
    on_recording(common, options, &options.study, |recording| {
        let answers = RecordedAnswers::from(recording);
        let attacks = wanted(&options.attacks).into_iter().map(|name| (word(name), named(name, victims, common.seed)));
        // It depends on which arrays there are and on no number in them, so that it costs no failure probability.
        let possible = attacks.filter(|(_, attack)| !options.attacks.is_empty() || answers.has(attack.looks_at()));
        let study = ComparisonStudy {
            answers,
            attacks: possible.collect(),
            victims: victims.clone(),
            failure_per: options.failure_per,
            measures: measures(&options.study.measure, common.seed),
        };
        watched(common, &study)
    })
}

/// Reads the recording, has it studied and writes the document.
fn on_recording(
    common: &Common,
    options: &impl Serialize,
    study: &StudyOptions,
    run: impl FnOnce(&ShadowRecording) -> Result<MembershipAnswer>,
) -> Result<Verdict> {
    let recording = shadow_answers::read(&study.recording, common.memory())?;
    let files: Vec<&Path> = recording.files().iter().map(AsRef::as_ref).collect();
    let output = Output::open(common, &files)?;
    let answer = run(&recording)?;
    // What the files are is known once they were read.
    let inputs = recording.inputs()?;
    drop(recording);
    publish(common, output, answer, Asked { options, inputs, title: String::new(), warnings: Vec::new() })
}

fn measures(options: &MeasureOptions, seed: u64) -> Measures {
    let usual = MembershipPlan::default();
    let plan = MembershipPlan {
        fprs: options.fpr.clone(),
        ranked_by: options.fpr.iter().copied().find(|fpr| fpr.get() > 0.0).unwrap_or(usual.ranked_by),
        top: options.top.clone(),
        failure: options.failure_probability,
        resamples: Some(options.resamples).filter(|&resamples| resamples > 0),
        seed,
        ..usual
    };
    let levels = match options.level {
        LevelName::Population => Levels::Population,
        LevelName::Sample => Levels::Sample,
        LevelName::Both => Levels::Both,
    };
    Measures { plan, levels, per_class: options.per_class }
}

fn lira(options: &LiraOptions) -> Attack {
    let plan = LiraPlan {
        variant: options.variant.0,
        mode: mode(options.mode),
        variance: match options.variance {
            VarianceName::PerSample => LiraVariance::PerSample,
            VarianceName::Pooled => LiraVariance::Pooled,
        },
        views: match options.views {
            ViewsName::Independent => LiraViews::Independent,
            ViewsName::Multivariate => LiraViews::Multivariate,
        },
        victims: options.victims.victims.0.clone(),
    };
    Attack::Lira { plan, score: options.score.map(|score| score.0) }
}

fn mode(name: ModeName) -> LiraMode {
    match name {
        ModeName::Online => LiraMode::Online,
        ModeName::Offline => LiraMode::Offline,
        ModeName::InOnly => LiraMode::InOnly,
    }
}

/// One of several attacks, as its own command runs it by default.
fn named(name: ComparedName, victims: &Victims, seed: u64) -> Attack {
    let victims = victims.clone();
    let lira = |mode, variance, victims| {
        let plan = LiraPlan { mode, variance, victims, ..LiraPlan::default() };
        Attack::Lira { plan, score: None }
    };
    let rmia = |mode, victims| Attack::Rmia(RmiaPlan { mode, victims, ..RmiaPlan::default() });
    let label_only = |victims| Attack::LabelOnly(LabelOnlyPlan { victims, ..LabelOnlyPlan::default() });
    let neighbor = |attack| Attack::Neighbor(Box::new(attack));
    let encoder = |attack| Attack::Encoder { pairs: ViewPairs::All, attack: Box::new(attack) };
    match name {
        ComparedName::Lira => lira(LiraMode::Online, LiraVariance::PerSample, victims),
        ComparedName::LiraPooled => lira(LiraMode::Online, LiraVariance::Pooled, victims),
        ComparedName::LiraOffline => lira(LiraMode::Offline, LiraVariance::PerSample, victims),
        ComparedName::Rmia => rmia(LiraMode::Online, victims),
        ComparedName::RmiaOffline => rmia(LiraMode::Offline, victims),
        ComparedName::Risk => Attack::Risk { score: None, bins: 15, victims },
        ComparedName::LabelOnly => label_only(victims),
        ComparedName::Threshold => Attack::Threshold { score: None },
        ComparedName::TopConfidence => Attack::Threshold { score: Some(MembershipScore::TopConfidence) },
        ComparedName::Entropy => Attack::Threshold { score: Some(MembershipScore::Entropy) },
        ComparedName::Attacker => Attack::Trained { seed },
        ComparedName::NeighborLira => neighbor(lira(LiraMode::Online, LiraVariance::PerSample, victims)),
        ComparedName::NeighborLiraPooled => neighbor(lira(LiraMode::Online, LiraVariance::Pooled, victims)),
        ComparedName::NeighborLabelOnly => neighbor(label_only(victims)),
        ComparedName::EncoderLira => encoder(lira(LiraMode::Online, LiraVariance::PerSample, victims)),
        ComparedName::EncoderLiraPooled => encoder(lira(LiraMode::Online, LiraVariance::Pooled, victims)),
        ComparedName::EncoderThreshold => encoder(Attack::Threshold { score: None }),
    }
}

/// Each once, in the order of the user; all of them where none is named.
fn wanted(named: &[ComparedName]) -> Vec<ComparedName> {
    let mut wanted: Vec<ComparedName> = Vec::new();
    for &name in if named.is_empty() { ComparedName::value_variants() } else { named } {
        if !wanted.contains(&name) {
            wanted.push(name);
        }
    }
    wanted
}

/// The name on the command line and in the rows.
fn word(name: ComparedName) -> String {
    name.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
