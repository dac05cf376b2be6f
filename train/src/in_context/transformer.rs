//! Prompts, and a transformer over them.
//!
//! A prompt is an instruction, labeled images, and images that are asked about. Tokens: the instruction, each example
//! as the sum of an embedding of its image and one of its label, and each query as the sum of an embedding of its image
//! and one that marks its label as asked for. The class of a query is read at its token.

use super::plan::InContextPlan;
use crate::block::{Stack, leaf, prompt_mask};
use crate::layers::dense;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;
use tch::{Device, Tensor};

/// Units in which an image is embedded, for each number of a token.
const IMAGE_EXPANSION: usize = 2;

/// A transformer whose parameters begin with those of the embeddings of images (W₁, b₁, W₂, b₂), labels, instructions
/// and positions.
pub(crate) struct Transformer {
    pub stack: Stack,
    /// C.
    pub classes: usize,
}

impl Transformer {
    /// For images of this many pixels.
    pub fn new(plan: &InContextPlan, pixels: usize, classes: usize, stream: ChaCha8Rng, device: Device) -> Self {
        let width = plan.width;
        let stack = Stack::new((width, plan.depth, plan.heads), classes, (stream, device), |initial| {
            initial.dense(pixels, IMAGE_EXPANSION * width);
            initial.dense(IMAGE_EXPANSION * width, width);
            for rows in [classes + 1, classes + 1, plan.context + 2] {
                initial.embeddings(rows, width);
            }
        });
        Self { stack, classes }
    }

    /// The same values as separate parameters with gradients.
    pub fn leaves(&self) -> Self {
        Self { stack: self.stack.mapped(leaf), ..*self }
    }

    /// Gradients of `loss`, a function of the logits, with respect to the [`leaves`](Self::leaves) that these are.
    pub fn gradients(&self, images: &Tensor, batch: &Batch, loss: &dyn Fn(&Tensor) -> Tensor) -> Vec<Tensor> {
        self.stack.gradients(&loss(&self.logits(images, batch)))
    }

    /// Logits [B · m, C] of the queries of a batch, whose images are rows of `images` [N, F].
    pub fn logits(&self, images: &Tensor, batch: &Batch) -> Tensor {
        let context = batch.examples + 1;
        let mask = prompt_mask(context, batch.queries, images.device());
        let tokens = self.stack.through(self.tokens(images, batch), &mask);
        let queries = tokens.narrow(1, context as i64, batch.queries as i64);
        self.stack.logits(&queries).reshape([-1, self.classes as i64])
    }

    /// Tokens [B, 1 + n + m, W].
    fn tokens(&self, images: &Tensor, batch: &Batch) -> Tensor {
        let [w1, b1, w2, b2, labels, instructions, positions] = self.stack.layers(0);
        let [instructed, example_images, names, query_images] = batch.rows(images.device());
        let (prompts, examples, queries) = (batch.prompts as i64, batch.examples as i64, batch.queries as i64);
        let row = |table: &Tensor, rows: &Tensor| table.select(0, 0).index_select(0, rows);
        let asked = images.index_select(0, &Tensor::cat(&[example_images, query_images], 0));
        let embedded = dense(&dense(&asked.unsqueeze(0), w1, b1).gelu("none"), w2, b2).select(0, 0);
        let of_examples = embedded.narrow(0, 0, prompts * examples) + row(labels, &names);
        let of_queries = embedded.narrow(0, prompts * examples, prompts * queries)
            + labels.select(0, 0).narrow(0, self.classes as i64, 1);
        let first = row(instructions, &instructed);
        // Every query is the last token, whose place is behind those of all examples that there could be.
        let places = positions.select(0, 0);
        let (most, width) = (places.size()[0], places.size()[1]);
        let last = places.narrow(0, most - 1, 1).expand([queries, width], false);
        let parts = [(first, 1), (of_examples, examples), (of_queries, queries)]
            .map(|(part, tokens)| part.reshape([prompts, tokens, width]));
        Tensor::cat(&parts, 1) + Tensor::cat(&[places.narrow(0, 0, 1 + examples), last], 0)
    }
}

/// The first token of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// Classify as the examples do.
    Classify,
    /// Always answer this class.
    Always(u8),
}

/// An image with the label that a prompt gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Labeled {
    /// Its row among the images.
    pub image: u32,
    /// The label.
    pub label: u8,
}

/// The tokens before the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub instruction: Instruction,
    pub examples: Vec<Labeled>,
}

/// Prompts of equally many examples, and equally many queries on each; as rows of tensors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Number of prompts B.
    pub prompts: usize,
    /// Examples of each, n.
    pub examples: usize,
    /// Queries on each, m.
    pub queries: usize,
    /// B instructions: a class, or C for none.
    instructions: Vec<i64>,
    /// Images of examples, B · n.
    example_images: Vec<i64>,
    /// Their labels, B · n.
    example_labels: Vec<i64>,
    /// Images asked about, B · m.
    query_images: Vec<i64>,
}

impl Batch {
    /// No prompts yet, of `examples` examples and `queries` queries each.
    pub fn new(examples: usize, queries: usize) -> Self {
        let (instructions, example_images, example_labels, query_images) = Default::default();
        Self { prompts: 0, examples, queries, instructions, example_images, example_labels, query_images }
    }

    /// One more, with the same numbers of examples and queries as the others.
    pub fn push(&mut self, prompt: &Prompt, queries: &[u32], classes: usize) {
        self.prompts += 1;
        self.instructions.push(match prompt.instruction {
            Instruction::Classify => classes as i64,
            Instruction::Always(class) => class.into(),
        });
        self.example_images.extend(prompt.examples.iter().map(|example| i64::from(example.image)));
        self.example_labels.extend(prompt.examples.iter().map(|example| i64::from(example.label)));
        self.query_images.extend(queries.iter().map(|&query| i64::from(query)));
    }

    /// Some of the prompts.
    pub fn part(&self, prompts: Range<usize>) -> Self {
        let of = |rows: &[i64], each: usize| rows[prompts.start * each..prompts.end * each].to_vec();
        Self {
            prompts: prompts.len(),
            instructions: of(&self.instructions, 1),
            example_images: of(&self.example_images, self.examples),
            example_labels: of(&self.example_labels, self.examples),
            query_images: of(&self.query_images, self.queries),
            ..*self
        }
    }

    /// Instructions, images and labels of examples, and images asked about, as tensors on a device.
    pub fn rows(&self, device: Device) -> [Tensor; 4] {
        [&self.instructions, &self.example_images, &self.example_labels, &self.query_images]
            .map(|rows| Tensor::from_slice(rows).to_device(device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::block;
    use crate::seed::{Purpose, stream};
    use tch::Kind;

    fn small() -> Transformer {
        let plan = InContextPlan { depth: 2, heads: 2, context: 3, ..InContextPlan::small() };
        Transformer::new(&plan, 6, 4, stream(1, Purpose::Weights, 0, 0), Device::Cpu)
    }

    fn wave(shape: &[i64], phase: f64) -> Tensor {
        let count = shape.iter().product::<i64>();
        (Tensor::linspace(0.0, 1.3 * count as f64, count, (Kind::Double, Device::Cpu)) + phase).sin().view(shape)
    }

    /// Central differences in double precision, along a direction of all parameters of a block.
    #[test]
    fn the_gradient_of_a_block_is_its_slope() {
        let transformer = small();
        let parameters = transformer.stack.block(0).map(|parameter| parameter.to_kind(Kind::Double));
        let parameters = parameters.map(|parameter| &parameter + wave(&parameter.size(), 0.3) * 0.2);
        let (tokens, mask) = (wave(&[2, 5, 8], 0.0), prompt_mask(3, 2, Device::Cpu).to_kind(Kind::Double));
        let weights = wave(&[2, 5, 8], 1.9);
        let loss = |parameters: &[Tensor]| {
            (block(&tokens, std::array::from_fn(|index| &parameters[index]), 2, &mask) * &weights).sum(Kind::Double)
        };
        let leaves: Vec<Tensor> = parameters.iter().map(leaf).collect();
        let gradients = Tensor::run_backward(&[&loss(&leaves)], &leaves.iter().collect::<Vec<_>>(), false, false);
        for (index, gradient) in gradients.iter().enumerate() {
            let direction = wave(&gradient.size(), 0.8);
            let at = |step: f64| {
                let mut moved: Vec<Tensor> = parameters.iter().map(Tensor::shallow_clone).collect();
                moved[index] = &parameters[index] + &direction * step;
                loss(&moved).double_value(&[])
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            let found = (gradient * &direction).sum(Kind::Double).double_value(&[]);
            assert!((found - slope).abs() < 1e-7 * (1.0 + slope.abs()), "parameter {index}: {found} {slope}");
        }
    }

    #[test]
    fn a_query_is_answered_whatever_is_asked_beside_it() {
        let (transformer, images) = (small(), wave(&[9, 6], 0.0).to_kind(Kind::Float));
        let prompt = |first: u32, instruction| Prompt {
            instruction,
            examples: (0..2).map(|place| Labeled { image: first + place, label: place as u8 }).collect(),
        };
        let prompts = [prompt(0, Instruction::Classify), prompt(3, Instruction::Always(2))];
        let logits = |prompts: &[Prompt], queries: &[u32]| {
            let mut batch = Batch::new(2, queries.len());
            prompts.iter().for_each(|prompt| batch.push(prompt, queries, 4));
            transformer.logits(&images, &batch).view([prompts.len() as i64, queries.len() as i64, 4])
        };
        let together = logits(&prompts, &[6, 7, 8]);
        for (row, prompt) in prompts.iter().enumerate() {
            for (column, query) in [6, 7, 8].into_iter().enumerate() {
                let alone = logits(std::slice::from_ref(prompt), &[query]).view([4]);
                let apart = (together.select(0, row as i64).select(0, column as i64) - alone).abs().max();
                assert!(apart.double_value(&[]) < 1e-5, "{row} {column}: {apart:?}");
            }
        }
        // The instruction and the examples matter.
        let apart = (together.select(0, 0) - together.select(0, 1)).abs().max().double_value(&[]);
        assert!(apart > 1e-3, "{apart}");
    }
}
