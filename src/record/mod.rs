//! Recorded outputs in, results out: every file that a user provides is read here, and only here.
//!
//! A file is either taken whole or rejected with one line that names the file, the place, what was found there and what
//! was expected. Memory is bounded before anything is allocated, so a wrong file, however large, only costs a message.

mod archive;
mod array_directory;
mod array_file;
mod array_writer;
mod atomic_file;
mod audit_journal;
mod budget;
mod canary_plan;
mod capc_votes;
mod checkpoint;
mod composition;
mod composition_file;
mod counterexample_file;
mod counts_csv;
mod counts_file;
mod counts_json;
mod dataset_file;
mod defense_file;
mod distribution;
mod document_file;
mod event_file;
mod fault;
mod file_lock;
mod images;
mod input_file;
mod json;
mod json_table;
mod knn_votes;
mod known_batches;
mod label_file;
mod label_recording;
mod label_study_file;
mod lines;
mod memory;
mod npy_array;
mod npy_header;
mod number;
mod output_stream;
mod parquet;
mod pate_votes;
mod place;
mod prompt_votes;
mod property_file;
mod rows;
mod safetensors;
mod scalar;
mod scenario;
mod scenario_keys;
mod scenario_model;
mod score_file;
mod shadow_assembled;
mod shadow_csv;
mod shadow_extras;
mod shadow_file;
mod shadow_paths;
mod shadow_recording;
mod shadow_stack;
#[cfg(test)]
mod shadow_tests;
mod simulated;
mod simulated_file;
mod stream_state;
mod student_file;
mod study_options;
mod suite_file;
mod table;
#[cfg(test)]
mod test_arrays;
mod text;
mod text_arrays;
mod text_line;
mod text_lines;
mod text_parquet;
mod text_recording;
mod token_file;
mod token_parquet;
mod token_recording;
mod toml_keys;
mod toml_text;
mod trace;
mod value_file;
mod values;
mod vote_arrays;
mod vote_file;
mod vote_histograms;
mod weight_file;
mod zlib_size;

pub use array_file::ArrayFile;
pub use budget::MemoryBudget;
pub use canary_plan::{CanaryPlan, TrainingClaim, read_canary_plan};
pub use composition::{ComposedReleases, Release, ReleaseBundle, ReleaseList, ReleasePart};
pub use composition_file::{read_releases, releases_from_bytes};
pub use counterexample_file::KeptCounterexample;
pub use counts_file::{CountsFile, RecordedCounts, counts_from_bytes, read_counts};
pub use dataset_file::{read_dataset, read_pairs};
pub use distribution::{DistributionFile, RecordedDistribution, distribution_from_bytes, read_distribution};
pub use event_file::{events_from_bytes, read_events};
pub use input_file::InputFile;
pub use label_file::read_label_canaries;
pub use label_recording::{LabelRecording, read_label_recording};
pub use memory::{MemoryArray, MemoryFile, MemoryFiles};
pub use output_stream::{OutcomeNames, read_outputs, read_real_outputs};
pub use property_file::{PropertyAnswers, read_property_answers};
pub use scenario::{Scenario, ScenarioQuery, read_scenario, scenario_from_bytes};
pub use score_file::{read_score_arrays, read_scores};
pub use shadow_file::{read_shadow_models, shadow_models_from_bytes};
pub use shadow_recording::ShadowRecording;
pub use simulated::{PartialSimulation, SimulatedQuery, SimulationPlan};
pub use simulated_file::{SimulatedFile, merge_simulated, read_simulated, simulated_from_bytes};
pub use student_file::{RecordedStudents, read_students};
pub use text_recording::{TextRecording, read_text_sequences};
pub use token_file::read_tokens;
pub use token_recording::{RecordedPosition, TokenRecording};
pub use value_file::{ValueFile, read_value_file, values_from_bytes};
pub use values::RecordedValues;
pub use vote_file::{VoteFile, votes_from_bytes};
pub use vote_histograms::RecordedQuery;

#[doc(hidden)]
pub use self::{
    array_file::Element,
    array_writer::{ArrayWriter, WrittenArray},
    atomic_file::{AtomicFile, remove_leftovers, write_atomically},
    audit_journal::AuditJournal,
    budget::free_memory,
    canary_plan::{RecordedCanaryPlan, RecordedGuesses, RecordedTrainingClaim, canary_plan_from_text},
    capc_votes::{CapcQuery, CapcVotes},
    checkpoint::Checkpoint,
    composition_file::has_releases,
    defense_file::{DefenseEntry, DefenseFile, DefenseSource, Tuning, read_defense_study},
    document_file::{RecordedDocument, read_document},
    fault::checkpoint_exists,
    file_lock::FileLock,
    images::{ImagePart, ImageSet, read_images},
    input_file::{InputReader, open},
    knn_votes::{KnnCandidates, KnnQuery, KnnTraining, KnnVotes},
    known_batches::{Batch, BatchReader, BatchStage},
    label_study_file::{LabelEntry, LabelSource, LabelStudyFile, read_label_study},
    memory::SharedBytes,
    parquet::is_panic_expected,
    pate_votes::{PateQuery, PateVotes},
    prompt_votes::{PromptPateQuery, PromptPateVotes},
    score_file::read_planned_scores,
    shadow_extras::{ShadowExtras, read_shadow_extras},
    shadow_file::read_shadow_arrays,
    shadow_recording::{ConfidenceFile, EmbeddingFile, LogitFile, ScoreFile, ShadowArrays},
    simulated_file::SIMULATE_SCHEMA,
    stream_state::SavedStream,
    study_options::StudyOption,
    suite_file::{StudySuite, SuiteStudy, read_suite},
    token_recording::{TokenUse, TokenValues},
    vote_histograms::VoteHistograms,
    weight_file::{RecordedNetworks, read_networks},
};
