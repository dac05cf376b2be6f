//! Prompts that a transformer learns from.

use super::plan::{InContextPlan, LessonShares};
use super::transformer::{Batch, Instruction, Labeled, Prompt};
use crate::seed::{Purpose, stream};
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

/// What a prompt teaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lesson {
    /// The labels of the data.
    Canonical,
    /// All labels permuted.
    Permuted,
    /// Two labels exchanged.
    Exchanged,
    /// One answer to everything.
    Instructed,
}

/// Images by their class.
pub(crate) struct Library {
    labels: Vec<u8>,
    by_class: Vec<Vec<u32>>,
}

impl Library {
    pub fn new(labels: &[u8], classes: usize) -> Self {
        let mut by_class = vec![Vec::new(); classes];
        for (image, &label) in labels.iter().enumerate() {
            by_class[usize::from(label)].push(image as u32);
        }
        Self { labels: labels.to_vec(), by_class }
    }

    /// C.
    pub fn classes(&self) -> usize {
        self.by_class.len()
    }

    /// The label of an image.
    pub fn label(&self, image: u32) -> u8 {
        self.labels[image as usize]
    }

    /// Any image.
    pub fn any(&self, stream: &mut ChaCha8Rng) -> u32 {
        stream.random_range(0..self.labels.len() as u32)
    }

    /// An image of a class, or any image if it has none.
    pub fn of_class(&self, class: u8, stream: &mut ChaCha8Rng) -> u32 {
        match self.by_class[usize::from(class)].choose(stream) {
            Some(&image) => image,
            None => self.any(stream),
        }
    }
}

/// The prompts of a step, and the answers to their queries.
pub(super) fn lessons(plan: &InContextPlan, library: &Library, step: u64) -> (Batch, Vec<i64>) {
    let mut stream = stream(plan.seed, Purpose::Prompts, 0, step);
    // Half of the steps are about one example, as prompts of PromptPATE are.
    let examples = if stream.random::<bool>() { 1 } else { stream.random_range(0..=plan.context) };
    let mut batch = Batch::new(examples, InContextPlan::QUERIES);
    let mut answers = Vec::new();
    for _ in 0..plan.batch {
        let lesson = drawn(plan.lessons, examples, &mut stream);
        let names = names(lesson, library.classes(), &mut stream);
        let label = |image: u32| names[usize::from(library.label(image))];
        let images: Vec<u32> = (0..examples).map(|_| library.any(&mut stream)).collect();
        let queries: Vec<u32> = (0..InContextPlan::QUERIES).map(|_| query(library, &images, &mut stream)).collect();
        let (instruction, always) = match lesson {
            Lesson::Instructed => {
                let class = stream.random_range(0..library.classes()) as u8;
                (Instruction::Always(class), Some(class))
            }
            _ => (Instruction::Classify, None),
        };
        answers.extend(queries.iter().map(|&query| i64::from(always.unwrap_or_else(|| label(query)))));
        let examples = images.iter().map(|&image| Labeled { image, label: label(image) }).collect();
        batch.push(&Prompt { instruction, examples }, &queries, library.classes());
    }
    (batch, answers)
}

/// A lesson by its share; without examples nothing could tell what a class is called.
fn drawn(shares: LessonShares, examples: usize, stream: &mut ChaCha8Rng) -> Lesson {
    let LessonShares { permuted, exchanged, instructed } = shares;
    let place: f64 = stream.random();
    match place {
        place if place < instructed => Lesson::Instructed,
        _ if examples == 0 => Lesson::Canonical,
        place if place < instructed + permuted => Lesson::Permuted,
        place if place < instructed + permuted + exchanged => Lesson::Exchanged,
        _ => Lesson::Canonical,
    }
}

/// What each class is called.
fn names(lesson: Lesson, classes: usize, stream: &mut ChaCha8Rng) -> Vec<u8> {
    let mut names: Vec<u8> = (0..classes).map(|class| class as u8).collect();
    match lesson {
        Lesson::Permuted => names.shuffle(stream),
        Lesson::Exchanged => {
            let [first, second] = [(), ()].map(|()| stream.random_range(0..classes));
            names.swap(first, second);
        }
        Lesson::Canonical | Lesson::Instructed => {}
    }
    names
}

/// An image of the class of an example, or any image, by a coin.
fn query(library: &Library, examples: &[u32], stream: &mut ChaCha8Rng) -> u32 {
    match examples.choose(stream) {
        Some(&example) if stream.random::<bool>() => library.of_class(library.label(example), stream),
        _ => library.any(stream),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use tch::{Device, Tensor};

    const CLASSES: usize = 5;

    fn numbers(tensor: &Tensor) -> Vec<i64> {
        tensor.try_into().unwrap()
    }

    /// Every label of a prompt is the name of one class, and every answer is that of the prompt's own names.
    #[test]
    fn answers_are_what_prompts_say() {
        let labels: Vec<u8> = (0..200).map(|image| (image * 7 % CLASSES) as u8).collect();
        let library = Library::new(&labels, CLASSES);
        let (mut prompts, mut instructed, mut renamed, mut shown) = (0, 0, 0, 0);
        let plan = InContextPlan::small();
        for step in 0..plan.steps {
            let (batch, answers) = lessons(&plan, &library, step);
            let [instructions, images, names, queries] = batch.rows(Device::Cpu).map(|rows| numbers(&rows));
            for (prompt, &instruction) in instructions.iter().enumerate() {
                prompts += 1;
                let examples = prompt * batch.examples..(prompt + 1) * batch.examples;
                let mut said: HashMap<u8, i64> = HashMap::new();
                for (&image, &name) in images[examples.clone()].iter().zip(&names[examples]) {
                    assert_eq!(*said.entry(labels[image as usize]).or_insert(name), name);
                }
                let asked = prompt * batch.queries..(prompt + 1) * batch.queries;
                if instruction < CLASSES as i64 {
                    instructed += 1;
                    assert!(answers[asked].iter().all(|&answer| answer == instruction));
                    continue;
                }
                renamed += usize::from(said.iter().any(|(&class, &name)| i64::from(class) != name));
                for (&query, &answer) in queries[asked.clone()].iter().zip(&answers[asked]) {
                    if let Some(&name) = said.get(&labels[query as usize]) {
                        assert_eq!(answer, name);
                        shown += 1;
                    }
                }
            }
            let again = lessons(&plan, &library, step);
            assert_eq!((batch, answers), again);
        }
        println!("{prompts} prompts, {instructed} instructed, {renamed} renamed, {shown} queries of a shown class");
        // 384 of 1920 with deviation 17.5: further away than 100 with probability 1e-8.
        assert!((284..=484).contains(&instructed));
        assert!(renamed > 200 && shown > 2000);
    }
}
