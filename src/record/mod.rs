//! Recorded outputs in, results out: every file a user hands over is read here, and here only.
//!
//! A file is either taken whole or refused with one line that names the file, the place, what was found there and what
//! was expected. Reading is bounded in memory before anything is allocated, so that the wrong file, however large,
//! costs a message and not the machine.

mod archive;
mod array_file;
mod array_writer;
mod atomic_file;
mod budget;
mod capc_votes;
mod checkpoint;
mod counts_csv;
mod counts_file;
mod counts_json;
mod document_file;
mod fault;
mod file_lock;
mod images;
mod input_file;
mod json;
mod knn_votes;
mod known_batches;
mod label_file;
mod law;
mod lines;
mod memory;
mod npy_array;
mod npy_header;
mod number;
mod output_stream;
mod pate_votes;
mod place;
mod prompt_votes;
mod property_file;
mod rows;
mod scenario;
mod scenario_keys;
mod scenario_model;
mod score_file;
mod shadow_assembled;
mod shadow_csv;
mod shadow_file;
mod shadow_paths;
mod shadow_recording;
mod shadow_stack;
#[cfg(test)]
mod shadow_tests;
mod simulated;
mod simulated_file;
mod stream_state;
mod suite_file;
mod table;
mod text;
mod trace;
mod value_file;
mod values;
mod vote_arrays;
mod vote_file;
mod vote_histograms;

pub use array_file::{ArrayFile, Element};
pub use array_writer::{ArrayWriter, WrittenArray};
pub use atomic_file::{AtomicFile, remove_leftovers, write_atomically};
pub use budget::MemoryBudget;
#[cfg(feature = "torch")]
pub(crate) use budget::free_memory;
pub use capc_votes::{CapcQuery, CapcVotes};
pub use checkpoint::Checkpoint;
pub use counts_file::{CountsFile, RecordedCounts, counts_from_bytes, read_counts};
pub use document_file::{RecordedDocument, read_document};
pub use file_lock::FileLock;
pub use images::{ImagePart, ImageSet, read_images};
pub use input_file::{InputFile, InputReader, open};
pub use knn_votes::{KnnCandidates, KnnQuery, KnnTraining, KnnVotes};
pub use known_batches::{Batch, BatchReader, BatchStage};
pub use label_file::read_label_canaries;
pub use law::{LawFile, RecordedLaw, law_from_bytes, read_law};
pub use memory::{MemoryArray, MemoryFile, MemoryFiles, SharedBytes};
pub use output_stream::{OutcomeNames, read_outputs, read_real_outputs};
pub use pate_votes::{PateQuery, PateVotes};
pub use prompt_votes::{PromptPateQuery, PromptPateVotes};
pub use property_file::{PropertyAnswers, read_property_answers};
pub use scenario::{Scenario, ScenarioQuery, read_scenario, scenario_from_bytes};
pub use score_file::{read_score_arrays, read_scores};
pub use shadow_file::{read_shadow_arrays, read_shadow_models, shadow_models_from_bytes};
pub use shadow_recording::{ConfidenceFile, LogitFile, ScoreFile, ShadowArrays, ShadowRecording};
pub use simulated::{PartialSimulation, SimulatedQuery, SimulationPlan};
pub use simulated_file::{SIMULATE_SCHEMA, SimulatedFile, merge_simulated, read_simulated, simulated_from_bytes};
pub use stream_state::SavedStream;
pub use suite_file::{StudySuite, SuiteStudy, read_suite};
pub use value_file::{ValueFile, read_value_file, values_from_bytes};
pub use values::RecordedValues;
pub use vote_file::{VoteFile, votes_from_bytes};
pub use vote_histograms::{RecordedQuery, VoteHistograms};
