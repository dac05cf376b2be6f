//! Parametric models of private prediction, as data: the distribution of the votes on one query under a dataset and
//! under its neighbor. No random numbers are drawn here.

mod adversary;
mod capc;
mod composition;
mod embedding;
mod neighbor_sampling;
mod pate;
mod poison_search;
mod private_knn;
mod prompt_pate;
mod vote_model;

pub use adversary::Adversary;
pub use capc::CapcModel;
pub use composition::Composition;
pub use embedding::{Embedding, NeighborIndex};
pub use neighbor_sampling::{NeighborDistributions, NeighborSampling};
pub use pate::PateModel;
pub use poison_search::{BestCandidate, PoisonSearch, best_candidate, wrong_label};
pub use private_knn::PrivateKnnModel;
pub use prompt_pate::PromptPateModel;
pub use vote_model::VoteModel;
