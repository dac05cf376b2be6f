//! The attacks that `leakbound membership compare` runs, each with the defaults of its own command.

use crate::args::values::{Choice, Names};
use leakbound::membership::{
    LabelOnlyPlan, LiraMode, LiraPlan, LiraVariance, MembershipScore, RmiaPlan, Victims, ViewPairs,
};
use leakbound::study::Attack;

/// An attack of several on these victims, with this seed, as its own command runs it by default.
pub type Compared = fn(&Victims, u64) -> Attack;

pub const COMPARED: Names<Compared> = &[
    ("lira", "LiRA with a variance per sample", |victims, _| {
        usual_lira(LiraMode::Online, LiraVariance::PerSample, victims)
    }),
    ("lira-pooled", "LiRA with one variance for all samples", |victims, _| {
        usual_lira(LiraMode::Online, LiraVariance::Pooled, victims)
    }),
    ("lira-offline", "LiRA without models trained on the sample", |victims, _| {
        usual_lira(LiraMode::Offline, LiraVariance::PerSample, victims)
    }),
    ("rmia", "RMIA", |victims, _| usual_rmia(LiraMode::Online, victims)),
    ("rmia-offline", "RMIA without models trained on the sample", |victims, _| usual_rmia(LiraMode::Offline, victims)),
    ("risk", "The privacy-risk score", |victims, _| Attack::Risk { score: None, bins: 15, victims: victims.clone() }),
    ("label-only", "Logistic regression on which views are answered correctly", |victims, _| usual_label_only(victims)),
    ("threshold", "One threshold for the loss of all samples", |_, _| Attack::Threshold { score: None }),
    ("top-confidence", "One threshold for the largest confidence of all samples", |_, _| Attack::Threshold {
        score: Some(MembershipScore::TopConfidence),
    }),
    ("entropy", "One threshold for the entropy of all samples", |_, _| Attack::Threshold {
        score: Some(MembershipScore::Entropy),
    }),
    ("attacker", "A small network trained on sorted confidences", |_, seed| Attack::Trained { seed }),
    ("neighbor-lira", "LiRA on the answers at the nearest neighbor of each sample", |victims, _| {
        neighbor(usual_lira(LiraMode::Online, LiraVariance::PerSample, victims))
    }),
    ("neighbor-lira-pooled", "The same with one variance for all samples", |victims, _| {
        neighbor(usual_lira(LiraMode::Online, LiraVariance::Pooled, victims))
    }),
    (
        "neighbor-label-only",
        "Logistic regression on which views of the nearest neighbor get the label of the sample",
        |victims, _| neighbor(usual_label_only(victims)),
    ),
    ("encoder-lira", "LiRA on how alike an encoder's embeddings of views are", |victims, _| {
        encoder(usual_lira(LiraMode::Online, LiraVariance::PerSample, victims))
    }),
    ("encoder-lira-pooled", "The same with one variance for all samples", |victims, _| {
        encoder(usual_lira(LiraMode::Online, LiraVariance::Pooled, victims))
    }),
    ("encoder-threshold", "One threshold for how alike the embeddings of views of all samples are", |_, _| {
        encoder(Attack::Threshold { score: None })
    }),
];

fn usual_lira(mode: LiraMode, variance: LiraVariance, victims: &Victims) -> Attack {
    Attack::Lira { plan: LiraPlan { mode, variance, victims: victims.clone(), ..LiraPlan::default() }, score: None }
}

fn usual_rmia(mode: LiraMode, victims: &Victims) -> Attack {
    Attack::Rmia(RmiaPlan { mode, victims: victims.clone(), ..RmiaPlan::default() })
}

fn usual_label_only(victims: &Victims) -> Attack {
    Attack::LabelOnly(LabelOnlyPlan { victims: victims.clone(), ..LabelOnlyPlan::default() })
}

fn neighbor(attack: Attack) -> Attack {
    Attack::Neighbor(Box::new(attack))
}

fn encoder(attack: Attack) -> Attack {
    Attack::Encoder { pairs: ViewPairs::All, attack: Box::new(attack) }
}

/// Each once, in the order of the user; all of them where none is named.
pub fn wanted(asked: &[Choice<Compared>]) -> Vec<(&'static str, Compared)> {
    if asked.is_empty() {
        return COMPARED.iter().map(|&(name, _, build)| (name, build)).collect();
    }
    let mut wanted: Vec<(&'static str, Compared)> = Vec::new();
    for attack in asked {
        if wanted.iter().all(|(name, _)| *name != attack.name) {
            wanted.push((attack.name, attack.value));
        }
    }
    wanted
}
