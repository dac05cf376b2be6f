//! Prompts: an instruction, labeled images, and images that are asked about.

use std::ops::Range;
use tch::{Device, Tensor};

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

/// What stands before the query.
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

/// A batch on a device.
pub(crate) struct BatchRows {
    pub instructions: Tensor,
    pub example_images: Tensor,
    pub example_labels: Tensor,
    pub query_images: Tensor,
}

impl Batch {
    /// No prompts yet, of `examples` examples and `queries` queries each.
    pub fn new(examples: usize, queries: usize) -> Self {
        let (instructions, example_images, example_labels, query_images) = Default::default();
        Self { prompts: 0, examples, queries, instructions, example_images, example_labels, query_images }
    }

    /// One more, with as many examples and queries as the others have.
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

    /// As tensors on a device.
    pub fn rows(&self, device: Device) -> BatchRows {
        let tensor = |rows: &[i64]| Tensor::from_slice(rows).to_device(device);
        BatchRows {
            instructions: tensor(&self.instructions),
            example_images: tensor(&self.example_images),
            example_labels: tensor(&self.example_labels),
            query_images: tensor(&self.query_images),
        }
    }
}
