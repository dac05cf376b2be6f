//! Canaries: scores of an attack on samples that were or were not trained on, and the bounds they prove.

mod error_rates;
mod exposure;
mod one_run;
mod one_run_forecast;
mod one_run_gdp;
mod one_run_guesses;
mod one_run_nested;
mod one_run_plan;
mod one_run_ranks;
mod score_model;
mod scores;
mod selection;
mod uniform;

pub use error_rates::{epsilon_of_error_rates, membership_advantage};
pub use exposure::exposure;
pub use one_run::{one_run_epsilon, one_run_p_value};
pub use one_run_forecast::{
    ClaimedBounds, ForecastBound, MostShown, OneRunForecast, best_declared_guesses, best_guessed_sides,
    forecast_one_run, most_shown,
};
pub use one_run_gdp::one_run_mu;
pub use one_run_guesses::{GuessSelection, audit_one_run, one_run_guesses};
pub use one_run_nested::NestedTests;
pub use one_run_plan::{MembersScore, OneRunPlan};
pub use one_run_ranks::{GuessedSides, OneRunAudit, OneRunGuesses};
pub use score_model::CanaryScoreModel;
pub use scores::CanaryScores;
pub use selection::{FalseClaims, ScoreEvidence, ThresholdSelection, audit_scores, best_threshold_false_claims};
