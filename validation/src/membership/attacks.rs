//! Every attack that the library has, on one recording.

use super::shadow::Shadows;
use leakbound::Result;
use leakbound::membership::{
    AttackScores, LabelOnlyPlan, LiraMode, LiraPlan, LiraVariance, LiraVariant, LiraViews, MembershipScore,
    MemoryLogits, RmiaPlan, ScoredLogits, Victims, label_only, lira, risk_score, rmia, threshold_attack,
    trained_attacker,
};

/// Bins of the privacy-risk score, as Song and Mittal (2021) have them.
const BINS: usize = 15;

/// An attack with its guesses.
pub struct Attack {
    /// What the tables call it.
    pub name: &'static str,
    /// What it guesses.
    pub guesses: AttackScores,
}

/// All attacks on the image itself, which is one of the views; and on all views, where there are several.
///
/// # Errors
/// What an attack rejects.
pub fn all(shadows: &Shadows, view: usize) -> Result<Vec<Attack>> {
    let mut attacks = Vec::new();
    let mut add = |name: &'static str, guesses: AttackScores| attacks.push(Attack { name, guesses });
    let own = shadows.memory(&[view])?;
    of_answers(&own, &mut add)?;
    let bits = correct_views(&own)?;
    add("label-only, prior taken off", without_prior(&bits)?);
    add("label-only", bits);
    of_other_models(&own, shadows, &mut add)?;
    let views: Vec<usize> = (0..shadows.logits.dim().2).collect();
    if views.len() > 1 {
        let all = shadows.memory(&views)?;
        let likelihood = |variance, views| {
            let plan = LiraPlan { variance, views, ..LiraPlan::default() };
            likelihood_ratio(&all, &plan)
        };
        add("label-only, 18 views", correct_views(&all)?);
        add("lira, 18 views", likelihood(LiraVariance::PerSample, LiraViews::Independent)?);
        add("lira, pooled, 18 views", likelihood(LiraVariance::Pooled, LiraViews::Independent)?);
        add("lira, 18 views, multivariate", likelihood(LiraVariance::PerSample, LiraViews::Multivariate)?);
    }
    Ok(attacks)
}

/// Attacks with one rule for all samples.
fn of_answers(own: &MemoryLogits, add: &mut impl FnMut(&'static str, AttackScores)) -> Result<()> {
    for (name, score) in [
        ("threshold", MembershipScore::Logit),
        ("threshold, top confidence", MembershipScore::TopConfidence),
        ("threshold, entropy", MembershipScore::Entropy),
        ("threshold, modified entropy", MembershipScore::ModifiedEntropy),
    ] {
        add(name, threshold_attack(&ScoredLogits::new(own, score))?);
    }
    add("trained attacker", trained_attacker(own, 0)?);
    Ok(())
}

/// Attacks that hold an answer against those of other models.
fn of_other_models(
    own: &MemoryLogits,
    shadows: &Shadows,
    add: &mut impl FnMut(&'static str, AttackScores),
) -> Result<()> {
    let risk = ScoredLogits::new(own, MembershipScore::ModifiedEntropy);
    add("privacy-risk score", risk_score(&risk, Some(&shadows.classes()), BINS, &Victims::LeaveOneOut)?.scores);
    let confidence = ScoredLogits::new(own, MembershipScore::Confidence);
    add("rmia", rmia(&confidence, &RmiaPlan::default())?.scores);
    let offline = RmiaPlan { offline: true, ..RmiaPlan::default() };
    add("rmia, offline", rmia(&confidence, &offline)?.scores);
    for (name, variant, mode, variance) in [
        ("lira", LiraVariant::Leakbound, LiraMode::Online, LiraVariance::PerSample),
        ("lira, pooled variance", LiraVariant::Leakbound, LiraMode::Online, LiraVariance::Pooled),
        ("lira, offline", LiraVariant::Leakbound, LiraMode::Offline, LiraVariance::PerSample),
        ("lira, offline, pooled", LiraVariant::Leakbound, LiraMode::Offline, LiraVariance::Pooled),
        ("lira of carlini-2022", LiraVariant::Carlini2022, LiraMode::Online, LiraVariance::PerSample),
        ("lira of carlini-2022, pooled", LiraVariant::Carlini2022, LiraMode::Online, LiraVariance::Pooled),
        ("lira of carlini-2022, offline", LiraVariant::Carlini2022, LiraMode::Offline, LiraVariance::PerSample),
        ("lira of tf-amia", LiraVariant::TfAmia, LiraMode::Online, LiraVariance::PerSample),
        ("lira of tf-offset", LiraVariant::TfOffset, LiraMode::Online, LiraVariance::PerSample),
        ("lira of aerni-2024", LiraVariant::Aerni2024, LiraMode::Online, LiraVariance::PerSample),
        ("lira of leakpro, pooled", LiraVariant::LeakPro, LiraMode::Online, LiraVariance::Pooled),
    ] {
        add(name, likelihood_ratio(own, &LiraPlan { variant, mode, variance, ..LiraPlan::default() })?);
    }
    Ok(())
}

fn likelihood_ratio(logits: &MemoryLogits, plan: &LiraPlan) -> Result<AttackScores> {
    Ok(lira(&ScoredLogits::new(logits, MembershipScore::Logit), plan)?.scores)
}

fn correct_views(logits: &MemoryLogits) -> Result<AttackScores> {
    Ok(label_only(&ScoredLogits::new(logits, MembershipScore::Correct), &LabelOnlyPlan::default())?.scores)
}

/// Odds of the label-only attack over those of a shadow model being trained on the sample.
///
/// Leaving a victim out leaves its own side the smaller one. Where the answers say nothing the fitted probability is
/// the share of the shadow models that are inside, which is less for members: without this the area falls below one
/// half. Rounded to what the fit is good for: the last digits of a difference that should be 0 depend on the two
/// counts, and so on the truth (unrounded they gave an area of 0.93 on the recorded images with their own labels).
fn without_prior(guesses: &AttackScores) -> Result<AttackScores> {
    let (members, probabilities) = (guesses.members(), guesses.scores());
    let scores = probabilities.indexed_iter().map(|((victim, sample), p)| {
        let others = members.column(sample).iter().filter(|inside| **inside).count() as f64;
        let inside = others - f64::from(u8::from(members[[victim, sample]]));
        let outside = members.nrows() as f64 - 1.0 - inside;
        (1e9 * ((p / (1.0 - p)).ln() - (inside / outside).ln())).round() / 1e9
    });
    let scores = ndarray::Array::from_iter(scores).into_shape_with_order(members.raw_dim());
    AttackScores::new(scores.unwrap_or_default(), members.to_owned())
}
