//! Attack by level by kind of canary on recorded shadow models: what Aerni, Zhang and Tramèr (2024) find, with bands.

mod attacks;
mod claims;
mod figures;
mod shadow;
mod tables;

use crate::experiment::{Report, data_folder};
use leakbound::Result;
use leakbound::membership::{AttackScores, MembershipMetrics, MembershipPlan, membership_metrics};
use shadow::{Shadows, plain_lira, threshold};
use std::path::{Path, PathBuf};

/// Kinds of canary: name, file, and the view that is the image itself.
const KINDS: [(&str, &str, usize); 2] =
    [("mislabeled", "fashion_lira_mislabelled.npz", 4), ("original", "fashion_lira_original.npz", 0)];

/// One attack on one kind of canary.
struct Found {
    kind: &'static str,
    attack: &'static str,
    metrics: MembershipMetrics,
}

/// Prints the tables and draws the figures.
pub fn report() -> Report {
    let plan = MembershipPlan::default();
    let setting = format!(
        "64 networks on Fashion-MNIST, each trained on 4,000 fixed images and a random half of 500 audit images, either \
         with their own labels or mislabeled at random; every model the victim of the 63 others. Attacks see one view, \
         the image itself, unless they say 18. In brackets limits at failure probability {}; those of victims are \
         percentiles over {} resampled victims, seed {} (heuristic). The top 10 and the most vulnerable sample are \
         selected by the guesses that are shown for them and have no limits; those of the samples exposed beyond doubt \
         hold for all 500 at once",
        plan.failure,
        plan.resamples.unwrap_or(0),
        plan.seed
    );
    Report::filled(setting, |report| tables(report, &plan))
}

/// The file here or in the folder of recordings.
fn place(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    if here.exists() { here } else { data_folder().join(name) }
}

fn tables(report: &mut Report, plan: &MembershipPlan) -> Result<()> {
    let mut found: Vec<Found> = Vec::new();
    for (kind, file, view) in KINDS {
        let path = place(file);
        if !path.is_file() {
            report.line(format!("{kind}: {file} is not here; --data FOLDER says where it is"));
            continue;
        }
        let shadows = Shadows::read(&path)?;
        let correct = shadows.correct(view);
        for attack in attacks::all(&shadows, view)? {
            let (scores, keep) = (shadows.logit_scores(), &shadows.keep);
            match attack.name {
                "threshold" => agrees(report, kind, "the score", &attack.guesses, &threshold(&scores, keep, view)?),
                "lira" => agrees(report, kind, "LiRA", &attack.guesses, &plain_lira(&scores, keep, &[view])?),
                _ => {}
            }
            let labels = Some(&shadows.labels.to_vec()[..]);
            let metrics = membership_metrics(&attack.guesses, labels, Some(correct.view()), plan)?;
            found.push(Found { kind, attack: attack.name, metrics });
        }
    }
    for (kind, _, _) in KINDS {
        let of_kind = || found.iter().filter(move |found| found.kind == kind);
        tables::levels(report, kind, of_kind());
        tables::classes(report, kind, of_kind());
    }
    claims::claims(report, &found);
    found.iter().for_each(|found| tables::details(report, found));
    figures::figures(report, &found);
    Ok(())
}

/// The library's attack is the formula written out.
fn agrees(report: &mut Report, kind: &str, what: &str, guesses: &AttackScores, plain: &AttackScores) {
    let pairs = || guesses.scores().into_iter().zip(plain.scores()).map(|(a, b)| (*a, *b)).collect::<Vec<_>>();
    let worst = pairs().into_iter().map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max);
    report.claim(worst < 1e-9, format!("{kind}: {what} as its formula reads, relative difference {worst:.1e}"));
}

fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}
