//! Streams of random numbers of the networks.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// What a stream is for: two purposes never share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Initial weights and biases.
    Weights = 1,
    /// The order in which a network meets its images.
    Order = 2,
    /// Which images belong to which network.
    Split = 3,
    /// Shifts and flips of training images.
    Augmentation = 4,
    /// Canaries: which images, and which wrong labels or random pixels.
    Canaries = 5,
    /// Noise of labels and of votes.
    Labels = 6,
    /// Which images a step of DP-SGD takes.
    Sample = 7,
    /// Noise of gradients.
    GradientNoise = 8,
    /// Random images whose answers HAMP gives.
    RandomQueries = 9,
    /// Which models of SELENA leave out which image.
    LeaveOut = 10,
    /// Noise that a generator makes images of, and its first layer when that is drawn again.
    Synthesis = 11,
    /// The start of encoders of contrastive defenses besides their networks.
    Projection = 12,
    /// Random views of images, which contrastive defenses learn from and are attacked with.
    RandomViews = 13,
    /// The order in which linear classifiers of contrastive defenses meet their images.
    ClassifierOrder = 14,
    /// The order in which a network of FixMatch meets the images without labels.
    UnlabeledOrder = 20,
    /// Weak augmentation of images without labels.
    WeakViews = 21,
    /// Strong augmentation of images without labels.
    StrongViews = 22,
    /// The order in which teachers of PATE-FM are asked about images.
    Queries = 23,
    /// Prompts that a transformer learns in context from.
    Prompts = 30,
    /// Which images are private examples of prompts, and which are queries.
    PromptSplit = 31,
    /// Prompts by which learning in context is measured.
    MeasuredPrompts = 32,
    /// Which images a network is trained on whose weights a meta-classifier learns from or infers a property of.
    TargetImages = 35,
    /// Initial weights of meta-classifiers.
    MetaWeights = 36,
    /// The order in which a meta-classifier meets its networks.
    MetaOrder = 37,
    /// Units that a meta-classifier drops while it learns.
    Dropout = 38,
    /// What recorded networks are for: training, validation or test.
    NetworkSplit = 39,
    /// Which canaries that are gradients a step of DP-SGD takes.
    CanarySample = 40,
    /// Which documents are held out, and which member of an ensemble has which of the others.
    DocumentSplit = 41,
    /// Windows of text that a step of a language model learns from.
    TextWindows = 42,
    /// Places in held-out documents where next tokens are recorded.
    TokenPositions = 43,
    /// Planted sequences, and the members that get them.
    PlantedSequences = 44,
    /// Places in the documents of a member where planted sequences are put.
    PlantedPlaces = 45,
    /// Tokens that an ensemble of language models answers with.
    AnsweredTokens = 46,
    /// Places in documents of the sequences that membership is inferred from.
    TextSequences = 47,
}

/// The stream of one network for one purpose: the key of ChaCha8 is seed, purpose, instantiation and network as
/// little-endian words of 64 bits.
pub(super) fn stream(seed: u64, purpose: Purpose, instantiation: u64, network: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (bytes, word) in key.chunks_exact_mut(8).zip([seed, purpose as u64, instantiation, network]) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// The streams of some networks for one purpose.
pub(super) fn streams(seed: u64, purpose: Purpose, instantiation: u64, networks: Range<usize>) -> Vec<ChaCha8Rng> {
    networks.map(|network| stream(seed, purpose, instantiation, network as u64)).collect()
}

/// 0..n in random order.
pub(super) fn shuffled(n: usize, mut stream: ChaCha8Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.shuffle(&mut stream);
    order
}

/// This many of 0..n at random, in random order.
pub(super) fn sampled(n: usize, count: usize, stream: &mut ChaCha8Rng) -> Vec<u32> {
    rand::seq::index::sample(stream, n, count).into_iter().map(|place| place as u32).collect()
}

/// This many of 0..n at random, rising.
pub(super) fn some_of(n: usize, count: usize, stream: ChaCha8Rng) -> Vec<u32> {
    let mut some = shuffled(n, stream);
    some.truncate(count);
    some.sort_unstable();
    some
}
