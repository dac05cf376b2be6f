//! A file of recorded votes.

use super::array_file::ArrayFile;
use super::budget::MemoryBudget;
use super::capc_votes::{self, CapcVotes};
use super::input_file::InputFile;
use super::knn_votes::{self, KnnTraining, KnnVotes};
use super::pate_votes::{self, PateVotes};
use super::prompt_votes::{self, PromptPateVotes};
use super::vote_histograms::{self, VoteHistograms};
use crate::error::Result;
use crate::model::Adversary;
use std::path::{Path, PathBuf};

/// A numpy archive (.npz) of recorded votes.
///
/// ```no_run
/// # use leakbound::model::Adversary;
/// # use leakbound::record::VoteFile;
/// let mut file = VoteFile::open("fashion_votes.npz")?;
/// let votes = file.pate(Adversary::NatAdvq)?;
/// println!("{} teachers, {} classes, {} queries", votes.teachers, votes.classes, votes.queries.len());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug)]
pub struct VoteFile {
    arrays: ArrayFile,
}

impl VoteFile {
    /// Opens a file and lists its arrays; none is read yet.
    ///
    /// # Errors
    /// As [`ArrayFile::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self { arrays: ArrayFile::open(path)? })
    }

    /// Limits the memory of all votes together; without this call to half of the free memory.
    #[must_use]
    pub fn within(self, memory: MemoryBudget) -> Self {
        Self { arrays: self.arrays.within(memory) }
    }

    /// The file.
    #[must_use]
    pub fn input(&self) -> &InputFile {
        self.arrays.input()
    }

    /// The arrays themselves, for votes of a form that has no reader here.
    pub fn arrays(&mut self) -> &mut ArrayFile {
        &mut self.arrays
    }

    /// Votes of PATE teachers in both worlds, for one adversary.
    ///
    /// Arrays, of any integer dtype: `pate_votes` of shape (instantiation, query, teacher); for the adversarial queries
    /// `adv_query` of shape (j) with the positions of the queries, and `pate_nat_advq` or `pate_pois_advq` of shape
    /// (j, teacher); for the natural queries `pate_pois_natq` of shape (query, teacher); optionally `query_label` of
    /// shape (query). The number of teachers may differ between the arrays of the two worlds. Classes are counted from
    /// 0 and their number is one more than the largest in any array that is read.
    ///
    /// # Errors
    /// As [`ArrayFile::array`]; also [`Error::Input`](crate::Error::Input) for arrays whose lengths disagree, a
    /// position that does not exist or occurs twice, and a class of 10,000 or above.
    pub fn pate(&mut self, adversary: Adversary) -> Result<PateVotes> {
        pate_votes::read(&mut self.arrays, adversary)
    }

    /// Votes of CaPC parties in both worlds, for one adversary.
    ///
    /// Arrays, of any integer dtype: `capc_votes` of shape (instantiation, query, party), where a party has the same
    /// data in every instantiation; for the adversarial queries `adv_query` of shape (j) with the positions of the
    /// queries, and `capc_nat_advq` or `capc_pois_advq` of shape (j, training); for the natural queries
    /// `capc_pois_natq` of shape (query, training): votes of the first party trained on its data and the added point.
    /// Optionally `query_label` of shape (query). Classes are counted from 0 and their number is one more than the
    /// largest in any array that is read.
    ///
    /// # Errors
    /// As [`VoteFile::pate`].
    pub fn capc(&mut self, adversary: Adversary) -> Result<CapcVotes> {
        capc_votes::read(&mut self.arrays, adversary)
    }

    /// Queries of a Private-kNN and the points that an adversary may add.
    ///
    /// Arrays: `neighbour_labels` of shape (query, rank) with the classes, counted from 0, of the training points
    /// nearest to the query, the nearest first; or `query_features` of shape (query, feature) and the training points
    /// of [`VoteFile::private_knn_training`]. Optionally `query_label` of shape (query), and for the candidates
    /// `candidate_rank` of shape (candidate, query) with ranks counted from 1, `candidate_label` (candidate) and
    /// `candidate_is_test` (candidate). Features are of a float dtype, `candidate_is_test` is boolean, the others are
    /// of any integer dtype.
    ///
    /// # Errors
    /// As [`ArrayFile::array`]; also [`Error::Input`](crate::Error::Input) when neither form is there, lengths
    /// disagree, a rank is 0, a feature is not finite, or a class is 10,000 or above.
    pub fn private_knn(&mut self) -> Result<KnnVotes> {
        knn_votes::read(&mut self.arrays)
    }

    /// Training points of a Private-kNN: `features` of shape (point, feature), of a float dtype, and `labels` of shape
    /// (point), of any integer dtype.
    ///
    /// # Errors
    /// As [`VoteFile::private_knn`].
    pub fn private_knn_training(&mut self) -> Result<KnnTraining> {
        knn_votes::read_training(&mut self.arrays)
    }

    /// The votes on every query as they were cast, of one world: for accountants, whose costs depend on the votes.
    ///
    /// Reads the first array present among `pate_votes` and `capc_votes` of shape (instantiation, query, teacher), from
    /// which one `instantiation`, counted from 0, is taken, `votes` of shape (query, teacher), all of these with
    /// classes counted from 0, and `histogram` of shape (query, class); optionally `query_label` of shape (query).
    ///
    /// # Errors
    /// As [`VoteFile::pate`]; also [`Error::Input`](crate::Error::Input) when none of them is there or the
    /// instantiation does not exist.
    pub fn histograms(&mut self, instantiation: usize) -> Result<VoteHistograms> {
        vote_histograms::read(&mut self.arrays, instantiation)
    }

    /// Votes of PromptPATE teachers in both worlds.
    ///
    /// Arrays, of any integer dtype: `votes` and `votes_prime` of shape (query, teacher) holding classes counted from
    /// 0, or `histogram` and `histogram_prime` of shape (query, class) holding votes; optionally `query_label` of shape
    /// (query), and `neighbor` of shape (query), the number of the neighboring dataset of each row of the second array,
    /// if an adversary has a different one for each query. Without it all rows are of one neighbor.
    ///
    /// # Errors
    /// As [`ArrayFile::array`]; also [`Error::Input`](crate::Error::Input) when both forms or neither are there,
    /// lengths disagree, or the worlds differ by more than one teacher.
    pub fn prompt_pate(&mut self) -> Result<PromptPateVotes> {
        prompt_votes::read(&mut self.arrays)
    }
}

/// Opens a vote file that is in memory; `name` is the file's name in messages.
///
/// # Errors
/// As [`VoteFile::open`].
pub fn votes_from_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<VoteFile> {
    Ok(VoteFile { arrays: ArrayFile::from_bytes(name, bytes)? })
}
